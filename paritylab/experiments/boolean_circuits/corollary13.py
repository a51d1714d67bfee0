"""Corollary 13 of boolean-circuits: f_m is learned by a network of depth 1 + 3 log2 m, and depth two cannot have it.

f_m is the AND over m of the OR over m^2 of x AND y, n = 2 m^3 bits, under its generative distribution, which gives
every point a probability. The deep half: Algorithm 1 on samples of multiples of the size that the sign test predicts
(378, 7,004 and 112,295 examples for m = 2, 4, 8), as in `boolean-circuits/recovery`; margin 1 means that every gate
saturated. The shallow half: the corollary prints 2^Omega(n) units, its proof gives 2^Omega(n^(1/3)), and neither
has a constant. With numbers: the columns of f_m shatter m^3 - m of its rows (block i of x is one of its first m^2 - 1
places, all other blocks are the last place alone; then f_m is y at that place), and a matrix of sign-rank r shatters
at most r rows, so the sign-rank is at least 6, 60, 504; the product over i of the sums over j of x y, less 1/2, has
the signs of f_m and a rank of m^(2m) + 1. By Lemma 23 a unit with weights -1, 0, 1 has a rank of up to m^3 + 1, so
that the bound on the width is 1 at these m: it says nothing, and no claim is made of it. Instead networks of depth two
are trained on more examples of the same distribution than Algorithm 1 needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...figures import INKS, ink, panels
from ...sweep import Call, Results
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, fraction, largest, least
from .recovery import calls, runs
from .shared.problems import razborov_sherstov, safe_width
from .shared.sizes import MULTIPLES, POWERS, Case, by_multiple, power

FAMILY = "razborov-sherstov"
COLUMNS = 64
"""Random columns on which shattered rows are looked at."""


@dataclass(frozen=True)
class Settings:
    samples: tuple[tuple[int, int], ...]
    """m, and how many samples Algorithm 1 is run on."""
    widths: tuple[tuple[int, tuple[int, ...]], ...]
    """m, and the widths of networks of depth two."""
    seeds: int
    steps: int
    batch: int = 128
    rate: float = 0.003

    @property
    def cases(self) -> list[Case]:
        return [Case(FAMILY, depth_of(m), trials) for m, trials in self.samples]


SETTINGS = {
    "quick": Settings(samples=((2, 100), (4, 40)), widths=((2, (64,)), (4, (64,))), seeds=2, steps=1200),
    "paper": Settings(
        samples=((2, 400), (4, 200), (8, 40)),
        widths=((2, (16, 64, 256)), (4, (64, 256, 1024, 4096))),
        seeds=5,
        steps=48_000,
    ),
}


def depth_of(m: int) -> int:
    return 1 + 3 * (m.bit_length() - 1)


def whole(m: int) -> dict[str, object]:
    """Algorithm 1 in its population form: how many gates it recovers."""
    known = razborov_sherstov(depth_of(m), 0)
    width = safe_width(known.circuit.n)
    (found,) = pl.circuits.learn_circuits([known.patterns], width=width, regularizer=known.regularizer)
    mistakes, recovered = pl.circuits.follow(known.patterns, found.circuit)
    return {"gates": int(recovered.sum()), "error": float(mistakes[0]), "units": width * len(recovered)}


def shattered(m: int) -> dict[str, object]:
    """How many of m^3 - m rows of f_m give each its own bit of a column, whatever the column."""
    chance, circuit = np.random.default_rng(m), pl.targets.razborov_sherstov(m)
    places = [(i, j) for i in range(m) for j in range(m**2 - 1)]
    rows = np.full((len(places), m, m**2), -1.0)
    rows[:, :, -1] = 1
    for row, (i, j) in zip(rows, places, strict=True):
        row[i] = -1
        row[i, j] = 1
    columns = 2.0 * chance.integers(0, 2, (COLUMNS, m, m**2)) - 1
    columns[:, :, -1] = 1
    right = np.ones(len(places), bool)
    for column in columns:
        points = np.stack([rows, np.broadcast_to(column, rows.shape)], axis=-1).reshape(len(places), -1)
        right &= np.asarray(jax.vmap(circuit)(jnp.asarray(points, jnp.float32))) == [column[place] for place in places]
    return {"rows": int(right.sum())}


def plan(settings: Settings) -> Iterator[Plan | Call]:
    for case in settings.cases:
        yield from calls(case, runs)
    for m in (2, 4, 8):
        yield Call(whole, {"m": m}, labels={"family": "population"}, seconds=3.0)
        yield Call(shattered, {"m": m}, labels={"family": "shattered"}, seconds=2.0)
    steps = settings.steps
    how: dict[str, Any] = {"rate": settings.rate, "batch": settings.batch, "optimizer": "adam", "steps": steps}
    how |= {"records": pl.training.Recording((pl.FreshError(8192),), steps // 6), "every": steps // 6, "validation": 0}
    for m, widths in settings.widths:
        task = pl.distributions.Generative(pl.targets.razborov_sherstov(m))
        for width in widths:
            labels = {"family": "shallow", "function": f"f_{m}", "width": width}
            yield pl.plan(task, pl.MLP(width), seeds=settings.seeds, labels=labels, **how)


class Data(NamedTuple):
    table: pd.DataFrame
    curves: pd.DataFrame
    """Of networks of depth two."""

    def of(self, family: str, m: int) -> pd.DataFrame:
        return self.table[(self.table.family == family) & (self.table.m == m)]

    def errors(self, m: int) -> "pd.Series[float]":
        """Of networks of depth two at their last record."""
        here = self.curves[self.curves.function == f"f_{m}"].sort_values("step")
        return here.groupby("run").fresh_error.last()


def read(settings: Settings, results: Results) -> Data:
    curves = results.curves()
    return Data(results.table(), curves[curves.family == "shallow"])


def claims(settings: Settings) -> Iterator[Claim]:
    """Both halves."""
    for (m, trials), case in zip(settings.samples, settings.cases, strict=True):
        yield from deep_claims(m, trials, case)
    n = [2 * m**3 for m, _ in settings.samples]
    statement = (
        "the number of examples is polynomial: it grows no faster than Theorem 4's (epsilon Delta)^-2, and no slower "
        f"than the c^-2 of one correlation (n = {n[0]} to {n[-1]}, 90% of samples); the power of n"
    )
    measure, null = lambda data: power(data.table, settings.cases), Null("as many examples at every n", 0.0)
    slowest, fastest = POWERS["generative"]
    yield Claim("power", statement, None, Region(slowest, fastest), measure, theory=f"at most {fastest:.2f}", null=null)
    for m in (2, 4, 8):
        yield from exact_claims(m)
    yield from shallow_claims(settings)


def deep_claims(m: int, trials: int, case: Case) -> Iterator[Claim]:
    """Algorithm 1 on samples."""
    of = f"f_{m}, n = {2 * m**3}, {trials} samples"
    enough = f"at {MULTIPLES[-1]:g} times the size that the sign test predicts"
    statement = f"Algorithm 1 recovers every gate of f_m ({of}); the fraction of samples {enough}"
    measure = lambda data: fraction(by_multiple(data.table, case)[:, -1])
    null = Null("gates drawn at random", 8.0 ** (1 - 2 * m**3) if m < 8 else 0.0)
    yield Claim(f"f{m}/recovers", statement, None, Region(low=0.9), measure, theory=1.0, null=null)
    statement = f"and its output is 1 or -1, margin 1 ({of}); the fraction of samples {enough} with all gates saturated"
    measure = lambda data: fraction(at_most(data, case).saturated == True)  # noqa: E712 (objects)
    yield Claim(f"f{m}/margin", statement, 1, Region(low=0.9), measure, null=Null("first weights", 0.0))


def exact_claims(m: int) -> Iterator[Claim]:
    """The population form, and rows that are shattered."""
    gates, rows = 2 * m**3 - 1, m**3 - m
    statement = f"Algorithm 1 recovers all gates of f_{m} (population form); the number"
    measure = lambda data: exactly(data.of("population", m).gates.iloc[0])
    null = Null("gates drawn at random", gates / 8)
    yield Claim(f"f{m}/gates", statement, None, Region(gates, gates), measure, theory=float(gates), null=null)
    statement = (
        f"the sign-rank of f_{m} is at least m^3 - m: columns shatter as many rows ({COLUMNS} random columns); the "
        "number of rows that give their own bit of every column"
    )
    measure = lambda data: exactly(data.of("shattered", m).rows.iloc[0])
    null = Null("a rank of 2, which different rows need", 2.0)
    yield Claim(f"f{m}/sign-rank", statement, None, Region(rows, rows), measure, theory=float(rows), null=null)


def shallow_claims(settings: Settings) -> Iterator[Claim]:
    """Networks of depth two on the same distributions."""
    seen, most = settings.steps * settings.batch, dict((m, widths[-1]) for m, widths in settings.widths)
    of = f"up to {most[4]:,} units, {seen:,} examples, {settings.seeds} seeds each"
    statement = (
        f"depth two does not separate f_4 where Algorithm 1 does from 28,016 examples ({of}); the least error over "
        "widths and seeds on 8,192 fresh points"
    )
    null = Null("Algorithm 1", lambda data: float(at_most(data, Case(FAMILY, 7, 0)).error.median()))
    yield Claim("f4/shallow", statement, None, Region(low=0.01), lambda data: least(data.errors(4)), null=null)
    statement = (
        f"of f_2 it learns more than of f_4 with the same settings ({of.replace(f'{most[4]:,}', f'{most[2]:,}')}); the "
        "largest error on f_2 over the least on f_4"
    )
    measure = lambda data: exactly(largest(data.errors(2)).value / least(data.errors(4)).value)
    yield Claim("f2/shallow", statement, None, Region(0, 0.75), measure, null=Null("as much", 1.0))


def at_most(data: Data, case: Case) -> pd.DataFrame:
    """Algorithm 1 on the largest samples."""
    table = data.table
    return table[(table.family == case.family) & (table.depth == case.depth) & (table.multiple == MULTIPLES[-1])]


def plot(settings: Settings, data: Data) -> dict[str, Figure]:
    """Samples that are enough for Algorithm 1, errors of depth two over examples, and ranks and units over m."""
    figure, axes = panels(1, 3, width=3.7, height=3.1)
    draw_deep(axes[0, 0], data, settings)
    draw_shallow(axes[0, 1], data, settings)
    draw_sizes(axes[0, 2], data)
    return shown("corollary13", figure, "$f_m$: Algorithm 1 against networks of depth two")


def draw_deep(axis: Axes, data: Data, settings: Settings) -> None:
    for i, ((m, _), case) in enumerate(zip(settings.samples, settings.cases, strict=True)):
        here = data.table[(data.table.family == FAMILY) & (data.table.depth == case.depth)]
        sizes = here.groupby("multiple").samples.median()
        axis.plot(sizes, by_multiple(data.table, case).mean(axis=0), marker="osD"[i], markersize=4, **ink(i),
                  label=f"$f_{m}$, n = {2 * m**3:,}")  # fmt: skip
        axis.axvline(float(sizes[1.0]), color=INKS[i], linewidth=0.7, linestyle=":")
    axis.axhline(0.9, color="0.6", linewidth=0.7, linestyle=":")
    title = "Algorithm 1; dotted: sign test's size, 90%"
    dress(axis, xscale="log", xlabel="examples", ylabel="fraction of samples recovered", ylim=(0, 1.03), title=title,
          legend="lower right", size=8)  # fmt: skip


def draw_shallow(axis: Axes, data: Data, settings: Settings) -> None:
    place = 0
    for m, widths in settings.widths:
        for width in widths:
            here = data.curves[(data.curves.function == f"f_{m}") & (data.curves.width == width)]
            errors = here[here.step > 0].groupby("step").fresh_error.median()
            style = {**ink(place), "label": f"$f_{m}$, {width:,} units"}
            axis.plot(errors.index * settings.batch, 100 * errors, marker="os^DvPX"[place % 7], markersize=3, **style)
            place += 1
    axis.axvline(28_016, color="0.4", linewidth=0.8, linestyle=":", label="Algorithm 1: $f_4$ exact")
    axis.set_xscale("log")
    dress(axis, xlabel="examples", ylabel="error on fresh points (%), median", ylim=(-1, 45),
          title="networks of depth two, Adam", legend="upper right", size=7)  # fmt: skip


def draw_sizes(axis: Axes, data: Data) -> None:
    sizes = np.array([2, 4, 8])
    units = [float(data.of("population", m).units.iloc[0]) for m in sizes.tolist()]
    axis.plot(sizes, units, marker="o", label="deep network: units in all", **ink(0))
    axis.plot(sizes, sizes.astype(float) ** (2 * sizes) + 1, marker="s", label="sign-rank at most $m^{2m}+1$", **ink(1))
    axis.plot(sizes, sizes**3 - sizes, marker="^", label="sign-rank at least $m^3-m$", **ink(2))
    dress(axis, xscale="log", yscale="log", xlabel="m", ylabel="units, rank", ticks=sizes, title="sizes",
          legend="upper left", size=7.5)  # fmt: skip
