"""Figure 2 of symmetry: training both layers and training only the second go the same way, as theory says.

A random symmetric function, a sample of n points, n = 30 and 60, h = n^-6, beta = n^3 h, batch one, a fresh order
each epoch, 4n + 3 units. Training and true error over epochs for both layers and for the second layer alone (a
perceptron on n + 1 points). The paper shows single runs; here medians over seeds and a band from the 10th to the
90th percentile. It remarks that SGD runs on after the training error is 0, because beta > 0.

How long it takes depends on the sample: at n = 20 some seeds need 800 epochs and others more than 20,000, so that
at the end of the axis (60,000 epochs at n = 30) not every seed need be done.
The true error of the second layer alone is exact (a sum over |x|), else it is on 10,000 fresh points.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from ...figures import panels
from ...sweep import Results
from ...training.plans import Plan
from ...training.weight_records import UnseenMass
from ..base import Claim, Measured, Region
from .runs import (
    BOTH_WAYS,
    SymmetricTask,
    curves,
    draw_errors,
    ends,
    finish,
    fraction_of,
    median_of,
    sgd,
)

SIMILAR = 0.05
"""Two errors are similar when they differ by less than this, a tenth of chance."""

LONG = (
    "The paper shows a single run of each kind. How long one takes differs more than tenfold from sample to sample: at "
    "the end of the figure's axis 5 of 20 seeds have no error on their sample at n = 30, and 2 of 20 at n = 60; the "
    "median seed errs on one point of 30 and on five of 60. Both ways of training have the same counts."
)


@dataclass(frozen=True)
class Settings:
    epochs: Mapping[int, int]
    """How long each n is trained: the axes of the paper's panels."""
    looks: int
    seeds: int
    points: int = 10_000


SETTINGS = {
    "quick": Settings(epochs={12: 20_000}, looks=100, seeds=20, points=2000),
    "paper": Settings(epochs={30: 60_000, 60: 250_000}, looks=200, seeds=20),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """Both ways of training from the same seeds: the same functions, samples and orders."""
    for n, epochs in settings.epochs.items():
        for trained in BOTH_WAYS:
            yield sgd(
                SymmetricTask(n),
                trained,
                sample=n,
                power=6,
                epochs=epochs,
                look=epochs // settings.looks,
                seeds=settings.seeds,
                points=settings.points,
                records=(UnseenMass(),),
            )


def claims(settings: Settings) -> list[Claim]:
    """Section 5.1."""
    made = []
    for n in settings.epochs:
        for way, words in (("both", "both layers"), ("output", "the second layer alone")):
            made.append(
                Claim(
                    f"n{n}/{way}/zero",
                    f"n = m = {n}, {words}: the training error becomes 0 in the epochs of the figure; fraction of "
                    "seeds",
                    1.0,
                    Region(low=0.5),
                    {"quick": "holds", "paper": "fails"},
                    LONG,
                )
            )
        made += [
            Claim(
                f"n{n}/similar",
                f"n = m = {n}: the performance of both ways is similar; median over seeds of the difference of their "
                "true errors at the end",
                "similar",
                Region(high=SIMILAR),
            ),
            Claim(
                f"n{n}/continues",
                f"n = m = {n}: SGD runs on after the training error is 0, because beta > 0; among the seeds that get "
                "there, the fraction with further updates",
                None,
                Region(low=0.5),
                {"quick": "holds", "paper": "holds" if n < 60 else "inconclusive"},
                "" if n < 60 else "Two of twenty seeds get there, which decides nothing.",
            ),
        ]
    return made


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Wilson's interval for fractions, order statistics for medians."""
    last = ends(curves(results))
    measured = {}
    for n in settings.epochs:
        here = last[last.n == n]
        ways = {way: here[here.trained == way].set_index("seed") for way in ("both", "output")}
        for way, rows in ways.items():
            measured[f"n{n}/{way}/zero"] = fraction_of(rows.zero_epoch < float("inf"))
        measured[f"n{n}/similar"] = median_of((ways["both"].true_error - ways["output"].true_error).abs())
        measured[f"n{n}/continues"] = fraction_of(continued(ways["both"]))
    return measured


def continued(rows: pd.DataFrame) -> "pd.Series[bool]":
    done = rows[rows.zero_epoch < float("inf")]
    return done.updates > done.updates_at_zero


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One panel per n, four curves each."""
    curve = curves(results)
    figure, axes = panels(1, len(settings.epochs), width=4.4, height=3.0)
    for axis, n in zip(axes.flat, settings.epochs, strict=True):
        draw_errors(axis, curve[curve.n == n])
        axis.set_title(f"n = m = {n}, h = n$^{{-6}}$, β = n³h")
    return {"figure2": finish(figure, axes, "Training both layers or the second alone: the same errors")}
