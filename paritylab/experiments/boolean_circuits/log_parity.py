"""Lemma 6 and Corollary 7 of boolean-circuits: parities of log n bits under biased product distributions.

Every bit has P[x_j = 1] in (xi, 1/2 - xi) or (1/2 + xi, 1 - xi). Lemma 6: every gate that is not constant has
|c| - |E[y]| >= (2 xi)^k, and is 1 with probability in (xi, 1 - xi). With k = log2 n the slack is at least
n^log2(2 xi), a power of n, so Algorithm 1 needs polynomially many steps and examples (Corollary 7): by Theorem 4
examples grow no faster than n^(2 log2(1 / 2 xi)) up to logarithms. That bounds what is needed, not how fast it
grows between small n: measured numbers are held against the theorem's.

Random supports and random biases, xi = 0.2. The population form at every n; the number of examples is the sign
test's, which `boolean-circuits/recovery` holds against Algorithm 1 itself.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import layerwise_circuit
from ...circuits.gate_training import default_rate
from ...figures import INKS, ink, panels
from ...sweep import Call
from ..base import Claim, Region
from ..drawing import dress, shown
from ..measures import largest, least
from .shared.problems import biased_parity, safe_width

XI = 0.2


@dataclass(frozen=True)
class Settings:
    depths: tuple[int, ...]
    problems: int


SETTINGS = {
    "quick": Settings(depths=(2, 3, 4, 5, 6, 7), problems=10),
    "paper": Settings(depths=tuple(range(2, 11)), problems=50),
}


def learn(depth: int, problems: int) -> list[dict[str, object]]:
    """Random (log n)-parities: Lemma 6, the error of the population form, its steps, and the sign test's size."""
    known = [biased_parity(depth, seed, (2 * XI, 1 - 2 * XI)) for seed in range(problems)]
    width = safe_width(2**depth, 1e-4)
    bound = layerwise_circuit(2**depth, correlation=(2 * XI) ** depth, pattern=XI**2, failure=0.1)
    learned = pl.circuits.learn_circuits(
        [each.patterns for each in known], width=width, regularizer=[each.regularizer for each in known]
    )
    rows: list[dict[str, object]] = []
    for each, found in zip(known, learned, strict=True):
        up = (1 + each.tables.mean[each.matters]) / 2
        rows.append(
            {
                "n": 2**depth,
                "slack_over_bound": each.slack / (2 * XI) ** depth,
                "least_chance": float(np.minimum(up, 1 - up).min()),
                "error": each.error_of(found.circuit),
                "steps": max(found.steps),
                "samples": each.samples,
                "theorem_samples": bound.value,
                "theorem_steps": 12 / (math.sqrt(2) * default_rate(width) * XI**2 * (2 * XI) ** depth),
            }
        )
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    for depth in settings.depths:
        yield Call(learn, {"depth": depth, "problems": settings.problems}, seconds=3.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """Exact but for the choice of problems."""
    sizes = f"n = {2 ** settings.depths[0]} to {2 ** settings.depths[-1]}, {settings.problems} random problems each"
    statement = f"every gate that is not constant has |c| - |E[y]| >= (2 xi)^k ({sizes}); the least ratio to that"
    yield Claim("lemma6/slack", statement, "at least 1", Region(low=1.0), lambda table: least(table.slack_over_bound))
    statement = f"such a gate is 1 with probability in (xi, 1 - xi) ({sizes}); the least distance from 0 and 1"
    yield Claim("lemma6/chance", statement, f"above {XI}", Region(low=XI), lambda table: least(table.least_chance))
    statement = f"Algorithm 1 learns all of them, population form ({sizes}); the largest error"
    yield Claim("learns", statement, 0.0, Region(0, 0), lambda table: largest(table.error))
    statement = (
        f"no more examples are needed than Theorem 4 has, a power of n ({sizes}); the largest ratio of the sign "
        "test's size to the theorem's"
    )
    measure = lambda table: largest(table.samples / table.theorem_samples)
    yield Claim("samples", statement, "at most 1", Region(0.0, 1.0), measure)
    statement = f"nor more steps of a level, a power of n too ({sizes}); the largest ratio of steps to the theorem's"
    measure = lambda table: largest(table.steps / table.theorem_steps)
    yield Claim("steps", statement, "at most 1", Region(0.0, 1.0), measure)


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Examples and steps over n."""
    figure, axes = panels(1, 2, width=3.6, height=2.9)
    ticks = [2**depth for depth in settings.depths]
    names = {"samples": "examples", "steps": "steps of the slowest level"}
    for axis, (name, words) in zip(axes[0], names.items(), strict=True):
        draw(axis, table, name)
        dress(axis, xscale="log", yscale="log", xlabel="n", ylabel=words, ticks=ticks, legend="upper left")
    return shown("log-parity", figure, "Parities of log n bits of n, biased bits: polynomial in n")


def draw(axis: Axes, table: pd.DataFrame, name: str) -> None:
    middle, bound = table.groupby("n")[name].median(), table.groupby("n")[f"theorem_{name}"].first()
    slope = np.polyfit(np.log(middle.index), np.log(middle), 1)[0]
    axis.plot(table.n, table[name], ".", color="0.7", markersize=4, label="random problems")
    axis.plot(middle.index, middle, "o", color=INKS[0], markersize=5, label=f"median, about $n^{{{slope:.2f}}}$")
    axis.plot(bound.index, bound, label="Theorem 4", **ink(1))
