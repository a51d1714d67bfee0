"""Figure 4, left, of hidden-progress: success times against the width of the network, on the (40, 3)-parity problem.

ReLU networks of width r, from 1 to 3 million, trained by SGD (batches of 128, rate 0.1). If SGD were random search, r
neurons would be r tries at once and the time would fall like C(n, k)/r, the green line. It does not: it levels off.
Networks of width 1 and 2 cannot hold a parity of three bits and are counted at an accuracy of 55% (`width_times` says
how). The paper's figure is one of the three panels of figure 14, whose runs it shares.
"""

from collections.abc import Iterator

from matplotlib.figure import Figure

from ...figures import panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Verdict
from . import width_times
from .width_times import Settings

QUICK_SEEDS = ((1, 40), (3, 40), (10, 40), (30, 40), (100, 40), (300, 16))
PAPER_SEEDS = (
    *((width, 1000) for width in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 30, 100, 300, 1000)),
    *((3000, 300), (10_000, 100), (30_000, 50), (100_000, 25), (300_000, 10), (1_000_000, 5), (3_000_000, 3)),
)
"""The paper has 1,000 runs at every width; here the widest, which cost most and scatter least, have fewer."""

SETTINGS = {
    "quick": Settings(sizes=(40,), seeds=QUICK_SEEDS, steps=8_000, weak_steps=8_000),
    "paper": Settings(sizes=(40,), seeds=PAPER_SEEDS, steps=100_000, weak_steps=20_000),
}

CLAIMED = ("no-speed-up", "plateau", "random-search", "tail", "weak/r1")
KNOWN: dict[str, Verdict] = {f"n40/{name}": "holds" for name in CLAIMED}
"""Verdicts at quick scale."""


def plan(settings: Settings) -> Iterator[Plan]:
    return width_times.plan(settings)


def claims(settings: Settings) -> list[Claim]:
    return width_times.claims_of(settings, KNOWN)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    return width_times.measure_all(settings, results)


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """Boxes against the width, on logarithmic axes."""
    figure, axes = panels(1, 1, width=6.0, height=3.4)
    (n,) = settings.sizes
    width_times.draw_boxes(axes[0, 0], width_times.success_times(results), n)
    width_times.draw_legend(axes[0, 0])
    axes[0, 0].set_ylabel("steps to success")
    figure.suptitle("A wider network is no faster search: the time levels off", fontsize=11)
    return {"figure4-left": figure}
