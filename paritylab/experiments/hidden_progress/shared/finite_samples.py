"""Training on a finite sample, many times over: what figures 4 (right) and 15 of hidden-progress share.

A ReLU network of width 100 is trained by SGD (hinge loss, batches of 32, rate 0.1) on m examples of the parity of 3 out
of n bits, in a fresh order each epoch, with weight decay. The errors on the sample (train) and on fresh points (test)
are recorded. Grokking is a long time between the first step with no error on the sample and the first step with none on
8,192 validation points, where a run ends.

The paper prints neither the sample sizes nor the decays, and two conventions of decay are possible: its equation (3)
multiplies weights by 1 - lambda at each step, PyTorch's SGD by 1 - rate * lambda. We take the latter.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

import paritylab as pl

from ....figures import INKS, Axes
from ....statistics import quantile
from ....sweep import Results
from ...base import Measured, Null
from ...measures import fraction
from .measures import median_within

K, WIDTH, BATCH, RATE = 3, 100, 32, 0.1
TRAIN, TEST = INKS[1], INKS[0]
MEMORIZED = Null("a network that only memorizes its sample", math.inf)
TOGETHER = Null("both errors fall together", 1)
ENOUGH = Null("a sample that is large enough", 1)


STRONG = (
    "At this decay the last mistakes on the sample go when those on fresh points do, so that memory does not last. How "
    "long it does is the decay's: on 1,500 examples a tenth of it makes the quotient 31 (figure 15)."
)


@dataclass(frozen=True)
class Settings:
    n: int
    samples: tuple[int, ...]
    """m, from large to small."""
    decays: tuple[float, ...]
    seeds: int
    steps: int
    record_every: int
    lanes: int | None = None
    """Runs side by side. On a GPU it is given, because the whole sample of each is validated at once."""


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for sample in settings.samples:
        yield pl.plan(
            pl.Uniform(pl.Parity(settings.n, support=range(K))),
            pl.MLP(WIDTH),
            batch=BATCH,
            rate=RATE,
            decay=pl.training.Decay(settings.decays, convention="rate"),
            seeds=settings.seeds,
            steps=settings.steps,
            sample=sample,
            records=pl.training.Recording((pl.training.SampleError(), pl.FreshError()), settings.record_every),
            lanes=settings.lanes,
            labels={"m": sample},
        )


def fits(results: Results) -> pd.DataFrame:
    """One row per run: m, decay, seed, and the steps at which train and test errors were first zero (or infinite)."""
    table = results.table()
    curves = results.curves()
    fitted = curves[curves.sample_error == 0].groupby(["m", "decay", "seed"]).step.min().rename("train_time")
    table = table.join(fitted, on=["m", "decay", "seed"])
    table["train_time"] = table.train_time.astype(float).fillna(np.inf)
    table["test_time"] = table.converged_at.astype(float).fillna(np.inf)
    # No mistake on 8,192 points is asked more often than the train error is recorded.
    table["train_time"] = np.minimum(table.train_time, table.test_time)
    return table[["m", "decay", "seed", "train_time", "test_time"]]


class Samples(NamedTuple):
    """The runs on samples of some sizes: a row for each of them (`fits`), and for each record."""

    runs: pd.DataFrame
    curves: pd.DataFrame


def read(settings: Settings, results: Results) -> Samples:
    return Samples(fits(results), results.curves())


def learned_of(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that came to no test error."""
    return runs[np.isfinite(runs.test_time)]


def learned(runs: pd.DataFrame) -> Measured:
    return fraction(np.isfinite(runs.test_time))


def fitted(runs: pd.DataFrame) -> Measured:
    return fraction(np.isfinite(runs.train_time))


def quotient(runs: pd.DataFrame) -> Measured:
    """The median time to zero test error as a multiple of that to zero train error."""
    return median_within(runs.test_time / runs.train_time)


def draw(axis: Axes, curves: pd.DataFrame, runs: pd.DataFrame) -> None:
    """Train and test error of all seeds, the first in bold; the median times of zero error as marks below."""
    for seed, curve in curves.groupby("seed"):
        curve = curve[curve.step > 0].sort_values("step")
        width, alpha = (1.6, 1.0) if seed == 0 else (0.5, 0.35)
        axis.plot(curve.step, curve.sample_error, color=TRAIN, linestyle="--", linewidth=width, alpha=alpha)
        axis.plot(curve.step, curve.fresh_error, color=TEST, linewidth=width, alpha=alpha)
    for times, color, marker in ((runs.train_time, TRAIN, "v"), (runs.test_time, TEST, "^")):
        middle = quantile(times.to_numpy(), 0.5)
        if np.isfinite(middle):
            axis.plot([middle], [-0.035], marker, color=color, markersize=5, clip_on=False)
    axis.set(xscale="log", ylim=(-0.06, 0.6))


def draw_legend(axis: Axes) -> None:
    axis.plot([], [], color=TRAIN, linestyle="--", label="train error")
    axis.plot([], [], color=TEST, label="test error")
    axis.plot([], [], "v", color=TRAIN, label="zero train error\n(median step)")
    axis.plot([], [], "^", color=TEST, label="zero test error\n(median step)")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
