"""Theorem 1 of symmetry: error against the number of examples, with the bound.

m >= c (n + log(1/delta)) / eps examples suffice for an error of at most eps but with probability delta, for every
symmetric function and every distribution. The proof: after training, points of one weight have one label, so that
the error is at most the mass of the weights that the sample does not contain. The union over all sets of weights
gives c = 1 (see `bounds.symmetric_initialization`): eps = ((n + 1) log 2 + log(1/delta)) / m, at delta = 0.05 here.

As the theorem has it, both layers are trained with beta = R^2 h, h = n^-6, until no update is left, on three
distributions of points: uniform; ones in a quarter of the places; and every number of ones equally likely, where no
weight is rare. Random functions; the error is on fresh points of the same distribution. The bound, made for any
distribution, is far from tight.

The proof's last sentence has the same for sigmoids, with better convergence. Their staircase rises by a step of height
1 at each |x|, so that R^2 is at most n + 4 in place of about n^3 / 3.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...figures import INKS, ink, panels
from ...training.plans import Plan
from ...training.rules.weight_records import SeenError
from ..base import Claim, Null, Region
from ..drawing import dress
from ..measures import fraction, largest, median
from .shared.runs import Curves, Inputs, SymmetricTask, read as read, sgd, squared_radius

DELTA = 0.05
LEAST = 1e-4
"""Errors of 0 are drawn here."""
INPUTS: dict[Inputs, str] = {
    "uniform": "uniform points",
    "sparse": "points with a quarter of ones",
    "weights": "all weights equally likely",
}
UNITS = {"relu": pl.relu, "sigmoid": pl.networks.sigmoid}


@dataclass(frozen=True)
class Settings:
    n: int
    samples: tuple[int, ...]
    seeds: int
    epochs: int
    """Until no update is left, or so many."""
    points: int


SETTINGS = {
    "quick": Settings(n=8, samples=(40, 80), seeds=80, epochs=6000, points=2000),
    "paper": Settings(n=12, samples=(40, 80, 160, 320), seeds=200, epochs=40_000, points=10_000),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """ReLU units on every size of the sample, sigmoids on the largest."""
    n, common = settings.n, {"seeds": settings.seeds, "points": settings.points}
    common |= {"records": (SeenError(settings.points),), "every": 50, "epochs": settings.epochs}  # type: ignore[dict-item]
    for inputs in INPUTS:
        task = SymmetricTask(n, inputs=inputs)
        for units, activation in UNITS.items():
            confidence = squared_radius(n) if units == "relu" else n + 4
            for m in settings.samples if units == "relu" else settings.samples[-1:]:
                labels = {"inputs": inputs, "units": units}
                how: dict[str, Any] = {
                    "sample": m,
                    "confidence": confidence,
                    "labels": labels,
                    "activation": activation,
                }
                yield sgd(task, "both", **how, **common)  # type: ignore[arg-type]


def promised(n: int, sample: int | float) -> float:
    """The error that Theorem 1 with c = 1 promises for this many examples.

    >>> round(promised(20, 160), 3)
    0.11
    """
    return min(1.0, ((n + 1) * math.log(2) + math.log(1 / DELTA)) / sample)


def claims(settings: Settings) -> Iterator[Claim]:
    """The theorem, the step of its proof that makes it, and the same for sigmoids."""
    for inputs in INPUTS:
        yield from (bound(settings, inputs, "relu", m) for m in settings.samples)
        yield bound(settings, inputs, "sigmoid", settings.samples[-1])
        yield from of_rest(settings, inputs)
    last = settings.samples[-1]
    statement = (
        f"n = {settings.n}, m = {last}, sigmoids: better convergence; median over seeds and distributions of their "
    )
    updates = lambda data, units: pd.concat([data.of(inputs=each, units=units, sample=last).updates for each in INPUTS])
    measure = lambda data: median(updates(data, "sigmoid").to_numpy(float) / updates(data, "relu").to_numpy(float))
    words, null = f"{statement}updates over those of ReLU units", Null("units that are alike", 1.0)
    yield Claim("sigmoid/faster", words, "better", Region(high=0.5), measure, null=null)


def bound(settings: Settings, inputs: Inputs, units: str, m: int) -> Claim:
    eps = promised(settings.n, m)
    kind = "both layers" if units == "relu" else "both layers, sigmoids"
    words = f"n = {settings.n}, m = {m}, {INPUTS[inputs]}, {kind}, beta = R^2 h: the error exceeds {eps:.3f} with "
    words += f"probability at most {DELTA}; fraction of seeds"
    measure = lambda data: fraction(data.of(inputs=inputs, units=units, sample=m).true_error > eps)
    name = f"{inputs}/m{m}/bound" if units == "relu" else f"{inputs}/sigmoid/bound"
    null = Null("a network at chance", float(eps < 0.5))
    return Claim(name, words, DELTA, Region(high=DELTA), measure, null=null)


def of_rest(settings: Settings, inputs: Inputs) -> Iterator[Claim]:
    """Both statements that the proof makes of the end of training."""
    where = (
        f"n = {settings.n}, m = {', '.join(map(str, settings.samples))}, {INPUTS[inputs]}, both layers, beta = R^2 h"
    )
    runs = lambda data: data.of(inputs=inputs, units="relu")
    statement = f"{where}: training ends, with no error on the sample; fraction of seeds"
    rested = lambda data: fraction((runs(data).outcome == "settled") & (runs(data).sample_error == 0))
    null = Null("labels that no function of |x| has: no end", 0.0)
    yield Claim(f"{inputs}/rest", statement, 1.0, Region(low=0.95), rested, null=null)
    statement = (
        f"{where}, runs that came to rest: no error on fresh points of a weight that the sample contains; the largest"
    )
    worst = lambda data: largest(runs(data)[runs(data).outcome == "settled"].seen_error)
    yield Claim(f"{inputs}/seen", statement, 0.0, Region(0, 0), worst, null=Null("chance", 0.5))


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """Every run and the bound, for each distribution of points."""
    figure, axes = panels(1, len(INPUTS), width=3.2, height=2.9)
    sizes = np.geomspace(min(settings.samples) / 1.1, max(settings.samples) * 1.1, 50)
    rng = np.random.default_rng(0)
    for axis, (inputs, words) in zip(axes.flat, INPUTS.items(), strict=True):
        for i, (units, name) in enumerate((("relu", "ReLU units"), ("sigmoid", "sigmoids"))):
            ends = data.ends[(data.ends.inputs == inputs) & (data.ends.units == units)]
            places = ends["sample"] * rng.uniform(0.95, 1.05, len(ends)) * (1.15 if i else 1.0)
            errors = ends.true_error.clip(lower=LEAST)
            axis.plot(places, errors, ".x"[i], color=INKS[i], alpha=0.4, markersize=4, label=f"true error, {name}")
        axis.plot(sizes, [promised(settings.n, m) for m in sizes], label="Theorem 1, δ = 0.05", **ink(5))
        dress(axis, xscale="log", yscale="log", xlabel="examples m", title=words, ticks=settings.samples)
        axis.set_ylim(LEAST / 1.5, 1)
    axes[0, 0].set_ylabel("true error (0 at the bottom)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"Random symmetric functions of {settings.n} bits: error against sample size", fontsize=11)
    return {"theorem1": figure}
