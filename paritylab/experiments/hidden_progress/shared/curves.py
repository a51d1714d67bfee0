"""What training curves of hidden-progress share: how a panel is trained, where its plateau ends, how it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

import paritylab as pl

from ....figures import INKS, Axes
from ....networks.base import Recipe
from ....sweep import Results
from ...base import Claim, Measured, Region
from ...measures import fraction
from .measures import median_within

PLATEAU, DROPPED = 0.4, 0.1
"""Until its error is below the first, a network is held to be on the plateau; below the second, past the drop."""
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
    return Claim(f"{panel}/learns", f"{words}: {text}", None, Region(low=least), learned(panel))


def of_plateau(panel: str, words: str, flat: bool = True) -> Claim:
    """The plateau of a panel is longer than its drop, or there is none."""
    text = f"{'the plateau is longer than the drop' if flat else 'there is no plateau'}; the median over seeds of"
    region = Region(low=0.5) if flat else Region(high=0.5)
    return Claim(f"{panel}/plateau", f"{words}: {text} {TIME_ON_PLATEAU}", None, region, plateau(panel))


def draw_curves(axis: Axes, curves: pd.DataFrame, error: str = "fresh_error") -> None:
    """The curves of one panel, the first seed in bold; a seed that has not learned does not stretch the axis."""
    for seed, curve in curves.groupby("seed"):
        color, width, order = (INKS[0], 1.6, 3) if seed == 0 else ("0.65", 0.6, 2)
        axis.plot(curve.step, curve[error], color=color, linewidth=width, zorder=order)
    ends = curves[curves.outcome == "learned"].groupby("run").step.max()
    axis.set(ylim=(-0.02, 0.6), xlim=(0, 1.05 * np.quantile(ends, 0.95) if len(ends) else None))
    axis.xaxis.set_major_locator(MaxNLocator(4))


def name_lines(axis: Axes) -> None:
    """An empty place of the grid says what the lines of `draw_curves` are."""
    axis.axis("off")
    axis.plot([], [], color=INKS[0], linewidth=1.6, label="seed 0")
    axis.plot([], [], color="0.65", linewidth=0.6, label="further seeds")
    axis.legend(loc="center")
