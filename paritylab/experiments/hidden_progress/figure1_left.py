"""Figure 1, left, of hidden-progress: training curves on the (50, 3)-parity problem.

Seven ways to train (the paper's eighth is a Transformer): different architectures, batch sizes and
rates, each with its error flat at one half for a long time and then falling to zero.
The paper shows one run each; here seed 0 is drawn bold and further seeds thin.

Setting (x): the paper says that its sinusoid is scaled by 2 here, for more robust convergence. With
sin(pi z + shift) only 12 of 40 seeds learn within 20,000 steps at the printed rate of 0.05; with
sin(pi z / 2 + shift) it is 39 of 40, in 330 steps (median). The unscaled one is drawn.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import paritylab as pl

from ...figures import INKS, panels
from ...networks.base import Recipe
from ...statistics import median_interval, quantile, wilson_interval
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, Scale, Verdict

N, K = 50, 3
PLATEAU, DROPPED = 0.4, 0.1
"""Until its error is below the first, a network is held to be on the plateau; below the second, past the drop."""

UNDECIDED: Mapping[Scale, Verdict] = {"quick": "inconclusive", "paper": "holds"}
RECORDED = {"relu-100/B1/learns": UNDECIDED, "relu-10/B1024/plateau": UNDECIDED}
"""Where the few seeds and steps of the quick scale cannot tell."""


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int = 30_000
    record_every: int = 20


SETTINGS = {"quick": Settings(seeds=12), "paper": Settings(seeds=100, steps=100_000)}


@dataclass(frozen=True)
class Panel:
    """The paper's number of the setting, and how it is trained (Appendix D.1.5)."""

    name: str
    number: str
    title: str
    network: Recipe
    batch: int
    rate: float

    @property
    def words(self) -> str:
        return f"({self.number}) {self.title.replace('$', '')}, batch {self.batch}, rate {self.rate}"


PANELS = (
    Panel("relu-10/B32", "i", "ReLU, width 10", pl.MLP(10), 32, 0.5),
    Panel("relu-10/B1024", "i", "ReLU, width 10", pl.MLP(10), 1024, 0.05),
    Panel("relu-100/B1", "ii", "ReLU, width 100", pl.MLP(100), 1, 0.05),
    Panel("cubic-10/B32", "iv", "$z^3$, width 10", pl.MLP(10, pl.Power(K)), 32, 0.05),
    Panel("zigzag-1/B32", "vii", "3-zigzag, width 1", pl.MLP(1, pl.Zigzag(K)), 32, 0.2),
    Panel("sinusoid-1/B32", "x", "sinusoid, width 1", pl.MLP(1, pl.Sinusoid(K)), 32, 0.05),
    Panel("polynet/B32", "xv", "PolyNet, degree 3", pl.PolyNet(K), 32, 0.07),
)


def plan(settings: Settings) -> Iterator[Plan]:
    """Online SGD with hinge loss; the error on fresh points is recorded."""
    task = pl.Uniform(pl.Parity(N, support=range(K)))
    for panel in PANELS:
        yield pl.plan(
            task,
            panel.network,
            batch=panel.batch,
            rate=panel.rate,
            seeds=settings.seeds,
            steps=settings.steps,
            records=(pl.FreshError(),),
            record_every=settings.record_every,
            labels={"panel": panel.name},
        )


def claims(settings: Settings) -> list[Claim]:
    """The figure shows that each way of training learns, and that its curve is flat for a long time, then falls."""
    learns = [
        Claim(
            f"{panel.name}/learns",
            f"{panel.words}: learns the parity of 3 out of 50 bits; the fraction of seeds that do",
            None,
            Region(low=0.5),
            recorded(f"{panel.name}/learns"),
        )
        for panel in PANELS
    ]
    waits = [
        Claim(
            f"{panel.name}/plateau",
            f"{panel.words}: the plateau is longer than the drop; the median over seeds of the time until the error is "
            f"below {PLATEAU}, as a fraction of the time until it is below {DROPPED}",
            None,
            Region(low=0.5),
            recorded(f"{panel.name}/plateau"),
        )
        for panel in PANELS
    ]
    return [*learns, *waits]


def recorded(name: str) -> Mapping[Scale, Verdict] | Verdict:
    return RECORDED.get(name, "holds")


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Wilson's interval of each fraction; order statistics for each median."""
    table, plateaus = results.table(), plateau_fractions(results)
    measured = {}
    for panel in PANELS:
        learned = int((table[table.panel == panel.name].outcome == "learned").sum())
        interval = wilson_interval(learned, settings.seeds)
        measured[f"{panel.name}/learns"] = Measured(learned / settings.seeds, interval)
    for panel in PANELS:
        fractions = plateaus[plateaus.panel == panel.name].fraction.to_numpy()
        low, high = median_interval(fractions)
        measured[f"{panel.name}/plateau"] = Measured(quantile(fractions, 0.5), (low, min(high, 1.0)))
    return measured


def plateau_fractions(results: Results) -> pd.DataFrame:
    """For each run that learned: how much of the way to the end of its drop it was on the plateau."""
    curves = results.curves()
    curves = curves[curves.outcome == "learned"]
    first = lambda error: curves[curves.fresh_error < error].groupby("run").step.min()
    runs = curves.groupby("run").agg(panel=("panel", "first"), end=("converged_at", "first"))
    left, past = (first(error).reindex(runs.index).fillna(runs.end) for error in (PLATEAU, DROPPED))
    return runs.assign(fraction=left / past)


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One panel per setting, in the paper's order."""
    figure, axes = panels(2, 4)
    curves = results.curves()
    for axis, panel in zip(axes.flat, PANELS, strict=False):
        draw(axis, panel, curves[curves.panel == panel.name])
    for axis in axes[:, 0]:
        axis.set_ylabel("error on fresh points")
    for axis in (*axes[-1], axes[0, -1]):
        axis.set_xlabel("step")
    _legend(axes[-1, -1])
    figure.suptitle(f"Learning the parity of {K} out of {N} bits: a long plateau, then a sudden drop", fontsize=11)
    return {"figure1-left": figure}


def draw(axis: Axes, panel: Panel, curves: pd.DataFrame) -> None:
    """The curves of one panel, the first seed in bold; a seed that has not learned does not stretch the axis."""
    for seed, curve in curves.groupby("seed"):
        color, width, order = (INKS[0], 1.6, 3) if seed == 0 else ("0.65", 0.6, 2)
        axis.plot(curve.step, curve.fresh_error, color=color, linewidth=width, zorder=order)
    ends = curves[curves.outcome == "learned"].groupby("run").step.max()
    axis.set_title(f"({panel.number}) {panel.title}\nbatch {panel.batch}, rate {panel.rate}")
    axis.set_ylim(-0.02, 0.6)
    axis.set_xlim(0, 1.05 * np.quantile(ends, 0.95) if len(ends) else None)
    axis.xaxis.set_major_locator(MaxNLocator(4))


def _legend(axis: Axes) -> None:
    """The last place of the grid says what the lines are."""
    axis.axis("off")
    axis.plot([], [], color=INKS[0], linewidth=1.6, label="seed 0")
    axis.plot([], [], color="0.65", linewidth=0.6, label="further seeds")
    axis.legend(loc="center")
