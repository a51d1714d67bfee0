"""What training curves of hidden-progress share: how a panel is trained, where its plateau ends, how it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

import paritylab as pl

from ....figures import INKS, Axes
from ....networks.base import Recipe
from ....sweep import Results
from ...base import Claim, Measured, Null, Region
from ...measures import fraction
from .measures import median_within

PLATEAU, DROPPED = 0.4, 0.1
"""Until its error is below the first, a network is held to be on the plateau; below the second, past the drop."""
NEVER = Null("a run that never learns", 0.0)
STRAIGHT = Null("an error that falls in a straight line", (0.5 - PLATEAU) / (0.5 - DROPPED))
STEP = Null("an error that is flat until it drops at once", 1.0)
TIME_ON_PLATEAU = f"the time until the error is below {PLATEAU}, as a fraction of the time until it is below {DROPPED}"


@dataclass(frozen=True)
class Panel:
    """A panel of training curves: the paper's number of the setting, and how it is trained."""

    name: str
    number: str
    title: str
    network: Recipe
    batch: int
    rate: float
    n: int = 50
    k: int = 3
    optimizer: str = "sgd"
    lanes: int | None = None

    @property
    def words(self) -> str:
        return f"({self.number}) {self.title.replace('$', '')}, batch {self.batch}, rate {self.rate}"

    def plan(self, *, seeds: int, steps: int, record_every: int) -> pl.Plan:
        """Online training with hinge loss on the parity of the first k bits; the error on fresh points is recorded."""
        return pl.plan(
            pl.Uniform(pl.Parity(self.n, support=range(self.k))),
            self.network,
            batch=self.batch,
            rate=self.rate,
            seeds=seeds,
            steps=steps,
            optimizer=self.optimizer,
            lanes=self.lanes,
            records=pl.training.Recording((pl.FreshError(),), record_every),
            labels={"panel": self.name},
        )


def plateau_fractions(curves: pd.DataFrame, error: str = "fresh_error") -> pd.DataFrame:
    """For each run that learned or whose error dropped: how much of the time until then it was on the plateau."""
    first = lambda level: curves[curves[error] < level].groupby("run").step.min()
    runs = curves.groupby("run").agg(panel=("panel", "first"), end=("converged_at", "first"))
    # What learns between two records ends its drop when it has learned.
    left, past = (first(level).reindex(runs.index).fillna(runs.end) for level in (PLATEAU, DROPPED))
    return runs.assign(fraction=left / past, dropped_at=past).dropna(subset="fraction")


class TrainingCurves(NamedTuple):
    """The runs of some panels: a row for each of them, for each record, and for each that left the plateau."""

    table: pd.DataFrame
    records: pd.DataFrame
    plateaus: pd.DataFrame

    def of(self, panel: str) -> pd.DataFrame:
        """The records of a panel."""
        return self.records[self.records.panel == panel]

    def times(self, panel: str) -> np.ndarray:
        """The time of each seed of a panel; infinite if it did not learn."""
        return self.table[self.table.panel == panel].converged_at.to_numpy(float, na_value=np.inf)


def read(settings: Any, results: Results) -> TrainingCurves:
    records = results.curves()
    return TrainingCurves(results.table(), records, plateau_fractions(records))


def learned(panel: str) -> Callable[[TrainingCurves], Measured]:
    """Measures the fraction of the seeds of a panel that learn."""
    return lambda curves: fraction(np.isfinite(curves.times(panel)))


def plateau(panel: str) -> Callable[[TrainingCurves], Measured]:
    """Measures the median over seeds of `TIME_ON_PLATEAU`."""
    return lambda curves: median_within(curves.plateaus[curves.plateaus.panel == panel].fraction, 1.0)


def of_learning(panel: str, words: str, text: str = "learns; the fraction of seeds", least: float = 0.5) -> Claim:
    return Claim(f"{panel}/learns", f"{words}: {text}", None, Region(low=least), learned(panel), null=NEVER)


SHORT = "Unexplained: so many seeds do not tell whether the plateau takes more than half of the time, or it does not."


def of_plateau(panel: str, words: str, flat: bool = True) -> Claim:
    """The plateau of a panel is longer than its drop, or there is none."""
    text = f"{'the plateau is longer than the drop' if flat else 'there is no plateau'}; the median over seeds of"
    region, null = (Region(low=0.5), STRAIGHT) if flat else (Region(high=0.5), STEP)
    statement, measure = f"{words}: {text} {TIME_ON_PLATEAU}", plateau(panel)
    return Claim(f"{panel}/plateau", statement, None, region, measure, explanation=SHORT, null=null)


def draw_curves(axis: Axes, curves: pd.DataFrame, error: str = "fresh_error") -> None:
    """The curves of one panel, the first seed in bold; slow ones and those that never learn do not stretch the axis."""
    for seed, curve in curves.groupby("seed"):
        color, width, order = (INKS[0], 1.6, 3) if seed == 0 else ("0.65", 0.6, 2)
        diverged = curve.outcome.iloc[0] == "diverged"
        curve = curve[:-1] if diverged else curve  # the last record is of weights that are not finite
        axis.plot(curve.step, curve[error], color=color, linewidth=width, zorder=order)
        if diverged and len(curve):
            axis.plot(curve.step.iloc[-1], curve[error].iloc[-1], "x", color=color, markersize=4, zorder=order)
    ends = curves[curves.outcome == "learned"].groupby("seed").step.max()
    reach = max(float(np.quantile(ends, 0.75)), float(ends.get(0, 0))) if len(ends) else None
    axis.set(ylim=(-0.02, 0.6), xlim=(0, 1.05 * reach if reach else None))
    axis.xaxis.set_major_locator(MaxNLocator(4))


def name_lines(figure: Figure) -> None:
    """Says below the panels what the lines of `draw_curves` are."""
    seed, others = (
        Line2D([], [], color=INKS[0], linewidth=1.6, label="seed 0"),
        Line2D([], [], color="0.65", linewidth=0.6, label="further seeds"),
    )
    figure.legend(handles=[seed, others], loc="outside lower center", ncol=2)


def draw_nothing(axis: Axes) -> None:
    """In place of a panel that this scale does not have."""
    axis.set_xticks([])
    axis.set_yticks([])
    axis.text(0.5, 0.5, "at paper scale", ha="center", color="0.5", transform=axis.transAxes)
