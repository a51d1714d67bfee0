"""Figure 2 of symmetry: training both layers and training only the second go the same way, as theory says.

A random symmetric function, a sample of n points, n = 30 and 60, h = n^-6, batch one, a fresh order each epoch, 4n + 3
units. Training and true error over epochs for both layers and for the second layer alone (a perceptron on n + 1
points). The paper shows single runs; here medians over seeds, a band from the 10th to the 90th percentile, and single
runs. It remarks that SGD runs on after the training error is 0, because beta > 0.

The experiments have beta = n^3 h, the proof beta = R^2 h with R the length of the longest embedded point, which it
bounds by n^(3/2): R^2 is 0.38 n^3 at n = 30. Both are trained. The larger beta asks for a larger margin, and takes
longer: with it most seeds are not done at the end of the figure's axis.
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
from ..base import Claim, Measured, Null, Region
from ..measures import fraction
from .shared.runs import (
    BOTH_WAYS,
    Curves,
    SymmetricTask,
    Trained,
    draw_difference,
    draw_errors,
    finish,
    read as read,
    sgd,
    squared_radius,
    unlike,
    without_error,
)

ALIKE = 0.5
"""Two ways of training are alike when their errors differ by half of what two seeds differ by, or less."""

LONG = (
    "The paper shows a single run of each kind. How long one takes differs more than tenfold from sample to sample, "
    "and with beta: with the proof's own beta = R^2 h, which is 0.38 n^3 h at n = 30, most seeds are done."
)
WAYS: dict[Trained, str] = {"both": "both layers", "output": "the second layer alone"}


@dataclass(frozen=True)
class Settings:
    epochs: Mapping[int, int]
    """How long each n is trained: the axes of the paper's panels."""
    records: int
    seeds: Mapping[int, int]
    """Of both layers, for each n."""
    second: int
    """Seeds of the second layer alone, which is quicker."""
    points: int = 10_000


SETTINGS = {
    "quick": Settings(epochs={12: 20_000}, records=100, seeds={12: 20}, second=20, points=2000),
    "paper": Settings(epochs={30: 60_000, 60: 250_000}, records=200, seeds={30: 100, 60: 100}, second=100),
}


def confidences(n: int) -> dict[str, int]:
    """beta in units of h: as the experiments have it, and as the proof has it."""
    return {"cube": n**3, "radius": squared_radius(n)}


def plan(settings: Settings) -> Iterator[Plan]:
    """Both ways of training from the same seeds: the same functions, samples and orders."""
    common: dict[str, Any] = {"points": settings.points, "records": (UnseenMass(),)}
    for n, epochs in settings.epochs.items():
        common["every"] = epochs // settings.records
        for confidence in confidences(n).values():
            for trained in BOTH_WAYS:
                seeds = settings.seeds[n] if trained == "both" else settings.second
                task = SymmetricTask(n)
                yield sgd(task, trained, epochs=epochs, seeds=seeds, confidence=confidence, **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.1."""
    for n in settings.epochs:
        for reading, confidence in confidences(n).items():
            yield from (becomes_zero(n, trained, reading, confidence) for trained in WAYS)
            yield similar(n, reading, confidence)
        yield continues(n)


def becomes_zero(n: int, trained: Trained, reading: str, confidence: int) -> Claim:
    cube = reading == "cube"
    statement = (
        f"n = m = {n}, {WAYS[trained]}, beta = {'n^3' if cube else 'R^2'} h: the training error becomes 0 in the "
    )
    measure = lambda data: without_error(data.of(n=n, trained=trained, confidence=confidence))
    why: dict[str, Any] = {"explanation": LONG, "tested_by": (f"n{n}/radius/{trained}/zero",)} if cube else {}
    words, null = f"{statement}epochs of the figure; fraction of seeds", Null("a constant answer", 0.0)
    return Claim(f"n{n}/{reading}/{trained}/zero", words, 1.0, Region(low=0.5), measure, null=null, **why)


def similar(n: int, reading: str, confidence: int) -> Claim:
    statement = (
        f"n = m = {n}, beta = {'n^3' if reading == 'cube' else 'R^2'} h: the performance of both ways is similar; "
        "median difference of their true errors at the end, over that of two seeds"
    )
    error = lambda data, trained: data.of(n=n, trained=trained, confidence=confidence).true_error
    measure = lambda data: unlike(error(data, "output"), error(data, "both"))
    null = Null("two seeds", 1.0)
    return Claim(f"n{n}/{reading}/similar", statement, "similar", Region(high=ALIKE), measure, null=null)


def continues(n: int) -> Claim:
    def measure(data: Curves) -> Measured:
        done = data.of(n=n, trained="output", confidence=n**3).loc[lambda rows: rows.zero_epoch < math.inf]
        return fraction(done.updates > done.updates_at_zero)

    statement = (
        f"n = m = {n}, second layer alone: SGD runs on after the training error is 0, because beta > 0; among the "
        "seeds that get there, the fraction with further updates"
    )
    null = Null("beta = 0: no update is left", 0.0)
    return Claim(f"n{n}/continues", statement, None, Region(low=0.5), measure, null=null)


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """One column per n: both ways of training lie on each other, so that their difference is below."""
    figure, axes = panels(2, len(settings.epochs), width=4.4, height=2.4)
    for column, n in enumerate(settings.epochs):
        here = data.all[(data.all.n == n) & (data.all.confidence == n**3)]
        draw_errors(axes[0, column], here, single=True)
        draw_difference(axes[1, column], here)
        axes[0, column].set_title(f"n = m = {n}, h = n$^{{-6}}$, β = n³h")
    axes[1, 0].set_ylabel("true error, both layers\nless second layer only")
    return {"figure2": finish(figure, axes, "Training both layers or the second alone: the same errors")}
