"""Theorem 1 of symmetry: error against the number of examples, with the bound.

m >= c (n + log(1/delta)) / eps examples suffice for an error of at most eps but with probability delta, for every
symmetric function and every distribution. The proof: after training, points of one weight have one label, so that
the error is at most the mass of the weights that the sample does not contain. The union over all sets of weights
gives c = 1 (see `bounds.symmetric_initialization`): eps = ((n + 1) log 2 + log(1/delta)) / m, at delta = 0.05 here.

Random functions on uniform points, n = 20, second layer alone with beta = 0 until no update is left; its error is
exact, a sum over weights. On uniform points the middle weights have almost all of the mass: the bound, made for any
distribution, is far from tight.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...figures import INKS, ink, one_panel
from ...training.plans import Plan
from ...training.rules.weight_records import UnseenMass
from ..base import Claim, Region
from ..drawing import dress, shown
from ..measures import fraction, largest
from .shared.runs import Curves, SymmetricTask, read as read, sgd

N, DELTA = 20, 0.05
LEAST = 1e-6
"""Errors of 0 are drawn here."""


@dataclass(frozen=True)
class Settings:
    samples: tuple[int, ...]
    seeds: int


SETTINGS = {
    "quick": Settings(samples=(40, 160), seeds=60),
    "paper": Settings(samples=(20, 40, 80, 160, 320, 640, 1280), seeds=200),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """One size of the sample after the other."""
    common: dict[str, Any] = {"power": 0, "every": 20, "seeds": settings.seeds, "confidence": 0}
    for m in settings.samples:
        epochs = 20 * (400_000 // m**2 + 10)
        yield sgd(SymmetricTask(N), "output", sample=m, epochs=epochs, records=(UnseenMass(),), **common)


def promised(sample: int | float) -> float:
    """The error that Theorem 1 with c = 1 promises for this many examples.

    >>> round(promised(160), 3)
    0.11
    """
    return min(1.0, ((N + 1) * math.log(2) + math.log(1 / DELTA)) / sample)


def claims(settings: Settings) -> Iterator[Claim]:
    """The theorem, and the step of its proof that makes it."""
    yield from map(bound, settings.samples)
    rested = lambda data: data.of(outcome="settled")
    statement = (
        f"n = {N}, m = {', '.join(map(str, settings.samples))}, runs that came to rest: the error is at most the "
        "mass of the weights that the sample does not contain; the largest excess"
    )
    measure = lambda data: largest(rested(data).true_error - rested(data).unseen_mass)
    yield Claim("unseen", statement, None, Region(high=1e-6), measure, theory=0.0)


def bound(m: int) -> Claim:
    words = f"n = {N}, m = {m}: the error exceeds {promised(m):.3f} with probability at most {DELTA}; fraction of seeds"
    measure = lambda data: fraction(data.of(sample=m).true_error > promised(m))
    return Claim(f"m{m}/bound", words, None, Region(high=0.1), measure)


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """Every run, the median mass of unseen weights, and the bound."""
    last = data.ends
    figure, axis = one_panel(width=5, height=3.2)
    spread = np.random.default_rng(0).uniform(0.93, 1.07, len(last))
    places, words = last["sample"] * spread, "true error of a run (0 at the bottom)"
    axis.plot(places, last.true_error.clip(lower=LEAST), ".", color=INKS[0], alpha=0.4, label=words)
    mass = last.groupby("sample").unseen_mass.median()
    axis.plot(mass.index, mass, "_", color=INKS[5], markersize=18, label="mass of unseen weights, median")
    sizes = np.geomspace(min(settings.samples), max(settings.samples), 50)
    axis.plot(sizes, [promised(m) for m in sizes], label="Theorem 1, δ = 0.05", **ink(1))
    dress(axis, xscale="log", yscale="log", xlabel="examples m", ylabel="true error", ticks=settings.samples)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return shown("theorem1", figure, f"Random symmetric functions of {N} bits: error against sample size")
