"""Lemma 6 and Corollary 7 of boolean-circuits: parities of log n bits under biased product distributions.

Every bit has P[x_j = 1] in (xi, 1/2 - xi) or (1/2 + xi, 1 - xi). Lemma 6: every gate that is not constant has
|c| - |E[y]| >= (2 xi)^k, and is 1 with probability in (xi, 1 - xi). With k = log2 n the slack is at least
n^log2(2 xi), a power of n, so Algorithm 1 needs polynomially many steps and examples (Corollary 7): by Theorem 4
examples grow no faster than n^(2 log2(1 / 2 xi)), up to logarithms, and steps than n^(log2(1 / 2 xi)). A correlation is
at most (1 - 2 xi)^(k - 1), so that they grow no slower than n^(2 log2(1 / (1 - 2 xi))) and half of that power. The
powers of n are fitted to medians over problems from n = 8 on, and held against both ends, with the theorem's
logarithms. (At n = 4 all gates have influence in most circuits. Those without it, which a larger n has, are slower by
four: lambda less E[y] is all that moves them. With n = 4 the steps had a power of 1.73.)

Random supports and random biases, xi = 0.2. The population form at every n; the number of examples is the sign
test's, which `boolean-circuits/recovery` holds against Algorithm 1 itself, with a power of its own.
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
from ...statistics import power_law
from ...sweep import Call
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, shown
from ..measures import bootstrap, largest, least
from .shared.problems import biased_parity, safe_width

XI = 0.2
FIRST = 3
"""The depth from which on powers are fitted."""


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
    bound = theorem(depth)
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
                "theorem_samples": bound["samples"],
                "theorem_steps": bound["steps"],
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
    measure, null = lambda table: least(table.slack_over_bound), Null("uniform bits", 0.0)
    yield Claim("lemma6/slack", statement, "at least 1", Region(low=1.0), measure, null=null)
    statement = f"such a gate is 1 with probability in (xi, 1 - xi) ({sizes}); the least distance from 0 and 1"
    measure, null = lambda table: least(table.least_chance), Null("a constant gate", 0.0)
    yield Claim("lemma6/chance", statement, f"above {XI}", Region(low=XI), measure, null=null)
    statement = f"Algorithm 1 learns all of them, population form ({sizes}); the largest error"
    measure, null = lambda table: largest(table.error), Null("uniform bits, which are not learned", 0.5)
    yield Claim("learns", statement, 0.0, Region(0, 0), measure, null=null)
    yield power_claim(settings, "samples", f"examples are a power of n, the sign test's number ({sizes})", 2.0)
    yield power_claim(settings, "steps", f"so are the steps of a level ({sizes})", 1.0)


def theorem(depth: int) -> dict[str, float]:
    """Theorem 4's numbers of examples and of steps of a level."""
    slack, rate = (2 * XI) ** depth, default_rate(safe_width(2**depth, 1e-4))
    samples = layerwise_circuit(2**depth, correlation=slack, pattern=XI**2, failure=0.1).value
    return {"samples": samples, "steps": 12 / (math.sqrt(2) * rate * XI**2 * slack)}


def power_claim(settings: Settings, name: str, words: str, times: float) -> Claim:
    """A power of n between those of the largest correlations that the biases allow, and of the theorem's bound."""
    depths = [depth for depth in settings.depths if depth >= FIRST]
    n, slowest = 2.0 ** np.array(depths), -times * math.log2(1 - 2 * XI)
    fastest = power_law(n, np.array([theorem(depth)[name] for depth in depths])).exponent
    every = power_law(n, np.array([float(math.comb(2**depth, depth)) for depth in depths])).exponent
    statement = f"{words}, no larger one than Theorem 4's, {fastest:.2f}; the power of n from n = {2**FIRST} on"
    region, null = Region(slowest, fastest), Null("a search through all parities of log n bits", every)
    return Claim(name, statement, None, region, lambda table: power(table, name), theory=f"at most {fastest:.2f}",
                 null=null)  # fmt: skip


def power(table: pd.DataFrame, name: str) -> Measured:
    """Of n in the median over problems, with a bootstrap over problems."""
    by_n = {n: rows[name].to_numpy(float) for n, rows in table[table.n >= 2**FIRST].groupby("n")}
    exponent = lambda rows: power_law(np.array([*by_n], float), np.median(rows, axis=0)).exponent
    return bootstrap(np.stack([*by_n.values()], axis=1), exponent, resamples=500)


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
