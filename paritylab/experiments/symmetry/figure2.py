"""Figure 2 of symmetry: training both layers and training only the second go the same way, as theory says.

A random symmetric function, a sample of n points, n = 30 and 60, h = n^-6, beta = n^3 h, batch one, a fresh order
each epoch, 4n + 3 units. Training and true error over epochs for both layers and for the second layer alone (a
perceptron on n + 1 points). The paper shows single runs; here medians over seeds and a band from the 10th to the
90th percentile. It remarks that SGD runs on after the training error is 0, because beta > 0.

How long it takes depends on the sample: at n = 20 some seeds need 800 epochs and others more than 20,000, so that
at the end of the axis (60,000 epochs at n = 30) not every seed need be done.
The true error of the second layer alone is exact (a sum over |x|), else it is on 10,000 fresh points.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from ...figures import panels
from ...training.plans import Plan
from ...training.rules.weight_records import UnseenMass
from ..base import Claim, Measured, Region
from ..measures import fraction, median
from .shared.runs import BOTH_WAYS, Curves, SymmetricTask, Trained, draw_errors, finish, read as read, sgd

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


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.1."""
    for n in settings.epochs:
        yield becomes_zero(n, "both", "both layers")
        yield becomes_zero(n, "output", "the second layer alone")
        yield similar(n)
        yield continues(n)


def becomes_zero(n: int, trained: Trained, words: str) -> Claim:
    return Claim(
        f"n{n}/{trained}/zero",
        f"n = m = {n}, {words}: the training error becomes 0 in the epochs of the figure; fraction of seeds",
        1.0,
        Region(low=0.5),
        lambda data: fraction(by_seed(data, n, trained).zero_epoch < math.inf),
        explanation=LONG,
    )


def similar(n: int) -> Claim:
    difference = lambda both, output: (both.true_error - output.true_error).abs()
    return Claim(
        f"n{n}/similar",
        f"n = m = {n}: the performance of both ways is similar; median over seeds of the difference of their "
        "true errors at the end",
        "similar",
        Region(high=SIMILAR),
        lambda data: median(difference(*(by_seed(data, n, trained) for trained in BOTH_WAYS))),
    )


def continues(n: int) -> Claim:
    def measure(data: Curves) -> Measured:
        done = by_seed(data, n, "both").loc[lambda rows: rows.zero_epoch < math.inf]
        return fraction(done.updates > done.updates_at_zero)

    return Claim(
        f"n{n}/continues",
        f"n = m = {n}: SGD runs on after the training error is 0, because beta > 0; among the seeds that get "
        "there, the fraction with further updates",
        None,
        Region(low=0.5),
        measure,
        explanation="" if n < 60 else "Two of twenty seeds get there, which decides nothing.",
    )


def by_seed(data: Curves, n: int, trained: Trained) -> pd.DataFrame:
    """The ends of some runs."""
    return data.ends[(data.ends.n == n) & (data.ends.trained == trained)].set_index("seed")


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """One panel per n, four curves each."""
    figure, axes = panels(1, len(settings.epochs), width=4.4, height=3.0)
    for axis, n in zip(axes.flat, settings.epochs, strict=True):
        draw_errors(axis, data.all[data.all.n == n])
        axis.set_title(f"n = m = {n}, h = n$^{{-6}}$, β = n³h")
    return {"figure2": finish(figure, axes, "Training both layers or the second alone: the same errors")}
