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

import numpy as np
from matplotlib.figure import Figure

from ...figures import INKS, ink, panels
from ...training.plans import Plan
from ...training.rules.weight_records import UnseenMass
from ..base import Claim, Region
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
    for sample in settings.samples:
        yield sgd(
            SymmetricTask(N),
            "output",
            sample=sample,
            power=0,
            epochs=20 * (400_000 // sample**2 + 10),
            look=20,
            seeds=settings.seeds,
            confidence=0,
            records=(UnseenMass(),),
        )


def promised(sample: int | float) -> float:
    """The error that Theorem 1 with c = 1 promises for this many examples.

    >>> round(promised(160), 3)
    0.11
    """
    return min(1.0, ((N + 1) * math.log(2) + math.log(1 / DELTA)) / sample)


def claims(settings: Settings) -> Iterator[Claim]:
    """The theorem, and the step of its proof that makes it."""

    def bound(sample: int) -> Claim:
        return Claim(
            f"m{sample}/bound",
            f"n = {N}, m = {sample}: the error exceeds {promised(sample):.3f} with probability at most {DELTA}; "
            "fraction of seeds",
            None,
            Region(high=0.1),
            lambda data: fraction(data.ends[data.ends["sample"] == sample].true_error > promised(sample)),
        )

    yield from map(bound, settings.samples)
    rested = lambda data: data.ends[data.ends.outcome == "settled"]
    yield Claim(
        "unseen",
        f"n = {N}, m = {', '.join(map(str, settings.samples))}, runs that came to rest: the error is at most the "
        "mass of the weights that the sample does not contain; the largest excess",
        None,
        Region(high=1e-6),
        lambda data: largest(rested(data).true_error - rested(data).unseen_mass),
        theory=0.0,
    )


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """Every run, the median mass of unseen weights, and the bound."""
    last = data.ends
    figure, axes = panels(1, 1, width=5, height=3.2)
    axis = axes[0, 0]
    spread = np.random.default_rng(0).uniform(0.93, 1.07, len(last))
    places, words = last["sample"] * spread, "true error of a run (0 at the bottom)"
    axis.plot(places, last.true_error.clip(lower=LEAST), ".", color=INKS[0], alpha=0.4, label=words)
    mass = last.groupby("sample").unseen_mass.median()
    axis.plot(mass.index, mass, "_", color=INKS[5], markersize=18, label="mass of unseen weights, median")
    sizes = np.geomspace(min(settings.samples), max(settings.samples), 50)
    axis.plot(sizes, [promised(m) for m in sizes], label="Theorem 1, δ = 0.05", **ink(1))
    axis.set(xscale="log", yscale="log", xlabel="examples m", ylabel="true error")
    axis.set_xticks(settings.samples, [str(m) for m in settings.samples])
    axis.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    figure.suptitle(f"Random symmetric functions of {N} bits: error against sample size", fontsize=11)
    return {"theorem1": figure}
