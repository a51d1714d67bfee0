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
from typing import Any

from matplotlib.figure import Figure

from ...figures import panels
from ...training.plans import Plan
from ...training.rules.weight_records import UnseenMass
from ..base import Claim, Measured, Region
from ..measures import fraction, median
from .shared.runs import BOTH_WAYS, Curves, SymmetricTask, draw_errors, finish, read as read, sgd, without_error

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
    records: int
    seeds: int
    points: int = 10_000


SETTINGS = {
    "quick": Settings(epochs={12: 20_000}, records=100, seeds=20, points=2000),
    "paper": Settings(epochs={30: 60_000, 60: 250_000}, records=200, seeds=20),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """Both ways of training from the same seeds: the same functions, samples and orders."""
    common: dict[str, Any] = {"seeds": settings.seeds, "points": settings.points, "records": (UnseenMass(),)}
    for n, epochs in settings.epochs.items():
        for trained in BOTH_WAYS:
            yield sgd(SymmetricTask(n), trained, epochs=epochs, every=epochs // settings.records, **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.1."""
    for n in settings.epochs:
        yield becomes_zero(n, "both", "both layers")
        yield becomes_zero(n, "output", "the second layer alone")
        yield similar(n)
        yield continues(n)


def becomes_zero(n: int, trained: str, words: str) -> Claim:
    statement = f"n = m = {n}, {words}: the training error becomes 0 in the epochs of the figure; fraction of seeds"
    measure = lambda data: without_error(data.of(n=n, trained=trained))
    return Claim(f"n{n}/{trained}/zero", statement, 1.0, Region(low=0.5), measure, explanation=LONG)


def similar(n: int) -> Claim:
    statement = (
        f"n = m = {n}: the performance of both ways is similar; median over seeds of the difference of their "
        "true errors at the end"
    )
    error = lambda data, trained: data.of(n=n, trained=trained).true_error
    measure = lambda data: median((error(data, "both") - error(data, "output")).abs())
    return Claim(f"n{n}/similar", statement, "similar", Region(high=SIMILAR), measure)


def continues(n: int) -> Claim:
    def measure(data: Curves) -> Measured:
        done = data.of(n=n, trained="both").loc[lambda rows: rows.zero_epoch < math.inf]
        return fraction(done.updates > done.updates_at_zero)

    statement = (
        f"n = m = {n}: SGD runs on after the training error is 0, because beta > 0; among the seeds that get "
        "there, the fraction with further updates"
    )
    few = "" if n < 60 else "Two of twenty seeds get there, which decides nothing."
    return Claim(f"n{n}/continues", statement, None, Region(low=0.5), measure, explanation=few)


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """One panel per n, four curves each."""
    figure, axes = panels(1, len(settings.epochs), width=4.4, height=3.0)
    for axis, n in zip(axes.flat, settings.epochs, strict=True):
        draw_errors(axis, data.all[data.all.n == n])
        axis.set_title(f"n = m = {n}, h = n$^{{-6}}$, β = n³h")
    return {"figure2": finish(figure, axes, "Training both layers or the second alone: the same errors")}
