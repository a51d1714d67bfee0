"""Figure 1 of symmetry: sigmoid and ReLU networks that are a symmetric function, exactly (Lemmas 1 and 2).

f_A is +1 where the number of ones |x| lies in A. Differences of sigmoids of slope 5 make an indicator of |x| = i
up to 0.17, second differences of ReLUs make it exactly; -1/2 and the sum of the indicators over A has the sign
of f_A. The figure draws both sums for A = {1, 5, 7, 15, 20, 21, 22, 25}, n = 30, also between whole numbers.

The paper lets A be a subset of {1, ..., n}; symmetric functions have a value at |x| = 0 too, and so has A here.
The lemmas are checked on all 2^(n+1) sets for small n, on every point of the cube through the network itself
for smaller ones (points of one weight are the same point for such a network, and that is checked there).
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...cube import cube, encode
from ...figures import INKS, ink, one_panel
from ...networks.base import outputs
from ...sweep import Call
from ..base import Claim, Null, Region
from ..drawing import shown
from ..measures import exactly, largest, least

A = (1, 5, 7, 15, 20, 21, 22, 25)
N = 30
ACTIVATIONS = {"relu": pl.relu, "sigmoid": pl.networks.sigmoid}


@dataclass(frozen=True)
class Settings:
    largest: int
    """All sets A are tried up to this n."""
    on_the_cube: int
    """All points, for all sets, up to this n."""


SETTINGS = {"quick": Settings(largest=8, on_the_cube=4), "paper": Settings(largest=12, on_the_cube=6)}


def sums(n: int, activation: str, whole_cube: bool) -> dict[str, float]:
    """The least sum of indicators on A and the largest off A, over all sets A and all weights or all points."""
    with jax.enable_x64(True):
        points = encode(cube(n), "bits") if whole_cube else jnp.asarray(np.tri(n + 1, n, -1))
        points = points.astype(jnp.float64)
        weights = np.asarray(points.sum(axis=1)).astype(int)
        on, off, wrong = np.inf, -np.inf, 0
        for values in itertools.product((-1.0, 1.0), repeat=n + 1):
            labels = np.array(values)
            network = pl.networks.indicator_network(pl.Symmetric(n, labels), ACTIVATIONS[activation])
            total = np.asarray(outputs(network, points)) + 0.5
            inside = labels[weights] > 0
            on, off = min(on, total[inside].min(initial=np.inf)), max(off, total[~inside].max(initial=-np.inf))
            wrong += int(np.sum((total > 0.5) != inside))
    return {"on": on, "off": off, "wrong": wrong}


def drawn(activation: str) -> list[dict[str, float]]:
    """The sum for the figure's A along |x|, as the network sees it between whole numbers, too."""
    values = np.where(np.isin(np.arange(N + 1), A), 1, -1)
    with jax.enable_x64(True):
        network = pl.networks.indicator_network(pl.Symmetric(N, values), ACTIVATIONS[activation])
        ones = np.linspace(0, N, 20 * N + 1)
        total = np.asarray(outputs(network, jnp.asarray(np.repeat(ones[:, None] / N, N, axis=1)))) + 0.5
    return [{"ones": float(x), "total": float(value)} for x, value in zip(ones, total, strict=True)]


def plan(settings: Settings) -> Iterator[Call]:
    """Every n and activation, and the two curves."""
    for activation in ACTIVATIONS:
        yield Call(drawn, {"activation": activation}, seconds=1)
        for n in range(1, settings.largest + 1):
            whole = n <= settings.on_the_cube
            yield Call(sums, {"n": n, "activation": activation, "whole_cube": whole}, seconds=2.0**n / 100)


def claims(settings: Settings) -> Iterator[Claim]:
    """The two lemmas with the bounds of their proofs, and that the figure's curves have the right signs."""
    every = f"all symmetric functions, n = 1 to {settings.largest}"
    of = lambda table, activation: table[(table.activation == activation) & table.on.notna()]
    on, off = lambda table, name: least(of(table, name).on), lambda table, name: largest(of(table, name).off)
    outside = lambda name: Null("weights off A", lambda table: off(table, name).value)
    inside = lambda name: Null("weights on A", lambda table: on(table, name).value)
    constant = sum(2**n * (n + 1) for n in range(1, settings.largest + 1))  # wrong on half of all weights and sets
    statement = f"sigmoids, {every}: the least sum of indicators on A"
    yield Claim(
        "lemma1/on", statement, 0.84, Region(low=0.84), lambda table: on(table, "sigmoid"), null=outside("sigmoid")
    )
    statement = f"sigmoids, {every}: the largest sum off A"
    yield Claim(
        "lemma1/off", statement, 0.17, Region(high=0.17), lambda table: off(table, "sigmoid"), null=inside("sigmoid")
    )
    statement = f"ReLUs, {every}: the least sum on A"
    yield Claim("lemma2/on", statement, 1.0, Region(1, 1), lambda table: on(table, "relu"), null=outside("relu"))
    statement = f"ReLUs, {every}: the largest sum off A"
    yield Claim("lemma2/off", statement, 0.0, Region(0, 0), lambda table: off(table, "relu"), null=inside("relu"))
    statement = f"both, {every}: the number of wrong signs"
    yield Claim(
        "wrong", statement, 0.0, Region(0, 0), lambda table: exactly(table.wrong.sum()), null=Null("constant", constant)
    )
    statement = "both curves have the sign of f_A at every |x|; wrong signs"
    yield Claim(
        "figure",
        statement,
        0.0,
        Region(0, 0),
        lambda table: exactly(wrong_signs(table)),
        null=Null("constant", 2 * len(A)),
    )


def wrong_signs(table: pd.DataFrame) -> int:
    """How many weights the drawn curves have on the wrong side of 1/2."""
    at = table[np.isclose(table.ones, table.ones.round(), atol=1e-9)]
    return int(((at.total > 0.5) != np.isin(at.ones.round(), A)).sum())


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Both sums over |x|, and the function itself as dots."""
    figure, axis = one_panel(width=7, height=2.8)
    for i, (name, label) in enumerate((("sigmoid", "sigmoids"), ("relu", "ReLUs"))):
        curve = table[(table.activation == name) & table.ones.notna()].sort_values("ones")
        axis.plot(curve.ones, curve.total, label=label, linewidth=1.2, **ink(i))
    ones = np.arange(N + 1)
    axis.plot(ones, np.isin(ones, A), "o", color=INKS[5], markersize=3, label="indicator of A")
    axis.axhline(0.5, color="0.5", linewidth=0.6)
    axis.set(xlabel="number of ones |x|", ylabel="sum of indicators", title=f"A = {set(A)}")
    figure.legend(loc="outside lower center", ncols=3)
    title = "A symmetric function as sums of sigmoids and of ReLUs; the sign changes at 1/2"
    return shown("figure1", figure, title)
