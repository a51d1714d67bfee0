"""Figure 14 of hidden-progress: success times against width for n = 30, 40 and 50, as boxes over many runs.

Boxes are the quartiles of the time, whiskers 1.5 times their distance, crosses the least and the most; the green line
is random search with r copies. Appendix C.4 concludes that there is no r-fold speed-up, and that a benefit of width is
variance reduction: the upper tail of long times is mitigated. Settings and the 55% criterion for r < k are those of
figure 4, left (`width_times`). The paper has 1,000 runs of every width up to 3 million.
"""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from ...figures import panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Verdict
from . import figure4_left, width_times
from .width_times import Settings

QUICK = figure4_left.SETTINGS["quick"]
SETTINGS = {
    "quick": Settings((30, 40), QUICK.seeds[:-1], QUICK.steps, QUICK.weak_steps),
    "paper": Settings((30, 40, 50), figure4_left.PAPER_SEEDS, steps=100_000, weak_steps=20_000),
}

KNOWN: dict[str, Verdict] = {f"n{n}/{name}": "holds" for n in (30, 40) for name in figure4_left.CLAIMED}
"""Verdicts at quick scale."""


def plan(settings: Settings) -> Iterator[Plan]:
    return width_times.plan(settings)


def claims(settings: Settings) -> list[Claim]:
    return width_times.claims_of(settings, KNOWN)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    return width_times.measure_all(settings, results)


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One panel for each n."""
    figure, axes = panels(1, len(settings.sizes), width=3.6, height=3.0)
    times = width_times.success_times(results)
    for axis, n in zip(axes[0], settings.sizes, strict=True):
        width_times.draw_boxes(axis, times[times["size"] == n], n)
    ends = np.array([axis.get_ylim() for axis in axes[0]])
    for axis in axes[0]:
        axis.set_ylim(ends[:, 0].min(), ends[:, 1].max())
    width_times.draw_legend(axes[0, -1])
    axes[0, 0].set_ylabel("steps to success")
    figure.suptitle("Time against width: no parallel speed-up, but fewer long runs", fontsize=11)
    return {"figure14": figure}
