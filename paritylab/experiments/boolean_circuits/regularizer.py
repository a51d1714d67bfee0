"""The regularizer of boolean-circuits: as printed it fails where labels are mostly positive, with the other sign not.

Section 3 prints R(y') = lambda |1 - y'| and lambda = E[y] + Delta / 4, with E[y] >= 0. Its slope is -lambda, so a gate
is drawn to E[(y + lambda) 1{p}], while the proof of Lemma 15 uses E[(y - lambda) 1{p}]: the slope of
lambda |1 + y'|. The two agree where E[y] = 0 or lambda is small. On y = (x1 AND x2) OR (x3 AND x4) with
independent bits, P[x_i = 1] = p, local correlation holds for p = 0.632 (E[y] = 0.279, Delta = 0.148), and the
printed regularizer turns every gate into the constant +1: the error is P[y = -1] = (1 - p^2)^2.

Algorithm 1 in its exact population form, and from a sample; errors are exact in both (those of the learned
circuit under the distribution itself).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

import paritylab as pl

from ...circuits.gate_training import Towards
from ...distributions.points import growing_sample
from ...figures import INKS, one_panel
from ...sweep import Call
from ..base import Claim, Measured, Null, Region
from ..drawing import dress
from ..measures import largest, least
from .shared.problems import problem

FORMULA = "OR(AND(x0,x1),AND(x2,x3))"
P = 0.632
WIDTH = 32
SIGNS: dict[str, Towards] = {"printed": 1, "corrected": -1}


@dataclass(frozen=True)
class Settings:
    seeds: int
    probabilities: tuple[float, ...]
    """Of a bit, for the curve; E[y] >= 0 from 0.5412 on."""
    samples: int = 40_000


SETTINGS = {
    "quick": Settings(seeds=10, probabilities=(0.55, 0.57, 0.59, 0.61, P, 0.65)),
    "paper": Settings(seeds=100, probabilities=(*tuple(np.round(np.arange(0.545, 0.66, 0.005), 3).tolist()), P)),
}


def errors(p: float, seeds: int, samples: int) -> list[dict[str, object]]:
    """The exact error of what Algorithm 1 learns, with both signs of the regularizer, exactly and from samples."""
    circuit = pl.targets.circuit_from_formula(FORMULA)
    known = problem(circuit, pl.Product(circuit, 2 * p - 1))
    strength = known.regularizer
    sample = lambda seed: growing_sample(known.distribution, samples, key=pl.root_key(seed))
    drawn = [pl.circuits.SamplePatterns(*sample(seed)) for seed in range(seeds)]
    rows: list[dict[str, object]] = []
    for form, patterns in (("population", [known.patterns] * seeds), ("sample", drawn)):
        for name, towards in SIGNS.items():
            learned = pl.circuits.learn_circuits(patterns, width=WIDTH, regularizer=strength, towards=towards)
            for seed, each in enumerate(learned):
                error = known.error_of(each.circuit)
                rows.append({"form": form, "regularizer": name, "seed": seed, "error": error, "slack": known.slack})
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    for p in settings.probabilities:
        yield Call(errors, {"p": p, "seeds": settings.seeds, "samples": settings.samples}, seconds=1.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """What the theorem promises, and what the printed loss does. Errors are exact."""
    forms = {"population": "population form", "sample": f"{settings.samples} examples"}
    runs = {form: f"p = {P}, {settings.seeds} seeds, {words}" for form, words in forms.items()}
    for form, words in runs.items():
        yield printed(form, words, "smallest", least)
        yield printed(form, words, "largest", largest)
    yield from (corrected(form, words) for form, words in runs.items())


def printed(form: str, runs: str, end: str, extreme: Callable[[ArrayLike], Measured]) -> Claim:
    fail = (1 - P**2) ** 2
    words = f"with the printed regularizer the label is learned as the constant +1 ({runs}); the {end} error over seeds"
    region = Region(fail - 1e-4, fail + 1e-4)
    measure = lambda table: extreme(errors_of(table, form, "printed"))
    null = Null("the other sign of the regularizer", 0.0)
    return Claim(f"printed/{form}/{end}", words, None, region, measure, theory=round(fail, 4), null=null)


def corrected(form: str, runs: str) -> Claim:
    statement = f"with lambda |1 + y'| Algorithm 1 recovers the circuit ({runs}); the largest error over seeds"
    measure = lambda table: largest(errors_of(table, form, "corrected"))
    null = Null("the printed regularizer", round((1 - P**2) ** 2, 4))
    return Claim(f"corrected/{form}", statement, None, Region(0.0, 0.0), measure, theory=0.0, null=null)


def errors_of(table: pd.DataFrame, form: str, regularizer: str) -> "pd.Series[float]":
    return table[(table.p == P) & (table.form == form) & (table.regularizer == regularizer)].error


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Error over p."""
    figure, axis = one_panel(width=5.4, height=3.2)
    p = np.linspace(min(settings.probabilities), max(settings.probabilities), 200)
    axis.plot(p, (1 - p**2) ** 2, color="0.6", linewidth=0.8, label="P[y = −1]: the error of the constant +1")
    names = {"printed": "printed: λ |1 − ŷ|", "corrected": "as the proofs need it: λ |1 + ŷ|"}
    for i, (name, words) in enumerate(names.items()):
        means = table[(table.form == "population") & (table.regularizer == name)].groupby("p").error.mean()
        axis.plot(means.index, means, "os"[i] + "-", color=INKS[1 - i], markersize=4, label=words)
    axis.axvline(P, color="0.8", linewidth=0.8, linestyle=":")
    axis.set(xlabel="P[a bit is true]", ylabel="error of Algorithm 1", ylim=(-0.02, 0.6))
    title = "(x1 AND x2) OR (x3 AND x4): the sign of the regularizer decides"
    dress(axis, title=title, legend="upper right", size=8)
    return {"regularizer": figure}
