"""Theorem II: single hard-tanh units become gates, from all tables near the exact one, and so from finite samples.

Under D a unit's four drifts are (a, a, a, -3a) for an OR, a = 1/12 (but for terms of 2^-n), and mirrored for an AND.
The theorem: where all four are within a/4, gradient descent from zero with steps of at most 0.05 becomes the gate
exactly.

- tables are drawn in boxes of several radii around the exact one, half of them on the corners, of both gates, and units
  are trained on them by such steps: none may fail in the proven box, and the largest box without a failure says how
  pessimistic the constant is. Near a radius of a the slowest drifts are near 0, and what fails may need more steps;
- samples: the theorem's number of examples, about 1,480 ln(8n / failure), against how many units need, at multiples of
  what the sign test predicts (`predicted_samples`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import unit_gate_examples
from ...bounds.units import DRIFT, LARGEST_STEP, RADIUS, TIME
from ...circuits import gate_tables, nested_signals, predicted_samples, train_units
from ...circuits.unit_training import UNIT_STEPS
from ...figures import INKS, ink, panels
from ...sweep import Call
from ..base import Claim, Measured, Null, Region, within_factor
from ..drawing import dress, shown
from ..measures import bootstrap, exactly, fraction
from .shared.families import mixture_of, random_target, signs_of
from .shared.recovery import MULTIPLES, by_multiple, multiple_of_most

EXACT = np.array([[1.0, 1.0, 1.0, -3.0], [3.0, -1.0, -1.0, -1.0]]) * DRIFT
"""The drifts of an OR and of an AND."""
FAILURE = 0.1
TOGETHER = 20_000
SIGN_TEST_STREAM = 2**21


@dataclass(frozen=True)
class Settings:
    tables: int
    """In the proven box."""
    radii: tuple[float, ...]
    others: int
    """Tables of each other radius."""
    pairs: tuple[int, ...]
    trials: int


SETTINGS = {
    "quick": Settings(tables=20_000, radii=(0.5, 0.9, 0.97, 1.0, 1.2), others=4000, pairs=(15, 51), trials=20),
    "paper": Settings(
        tables=100_000,
        radii=(0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 1.01, 1.05, 1.2, 1.5),
        others=20_000,
        pairs=(15, 51, 101, 201, 401),
        trials=200,
    ),
}


def in_box(radius: float, tables: int) -> dict[str, object]:
    """How many of the tables in a box of this radius, in units of a, do not become their gates; the longest time."""
    rng, failed, slowest = np.random.default_rng(round(1e6 * radius)), 0, 0
    for start in range(0, tables, TOGETHER):
        count = min(TOGETHER, tables - start)
        gates = np.arange(count) % 2
        corner = rng.random((count, 1)) < 0.5
        off = np.where(corner, rng.choice([-1.0, 1.0], (count, 4)), rng.uniform(-1, 1, (count, 4)))
        trained = train_units(EXACT[gates] + radius * DRIFT * off, rate=LARGEST_STEP)
        failed += int(np.sum(np.any(trained.outputs != np.sign(EXACT[gates]), axis=1)))
        slowest = max(slowest, int(trained.steps.max()))
    return {"failed": failed, "tried": tables, "time": slowest * LARGEST_STEP}


def from_samples(n: int, trials: int) -> list[dict[str, object]]:
    """Whether all units become gates, at the theorem's number of examples and at multiples of the predicted one."""
    proven = int(unit_gate_examples(n, failure=FAILURE).value)
    rows: list[dict[str, object]] = []
    for trial in range(trials):
        target = random_target(n, trial)
        distribution = mixture_of("E1", target)
        predicted = predicted_samples(gate_tables(target, distribution), failure=FAILURE)
        sizes = [*(math.ceil(predicted * multiple) for multiple in MULTIPLES), proven]
        signals = nested_signals(target, distribution, sizes, key=pl.root_key(SIGN_TEST_STREAM + trial))
        trained = train_units(signals.reshape(-1, 4)).outputs.reshape(signals.shape)
        right = np.all(trained == signs_of(target), axis=(1, 2))
        rows += [
            {"trial": trial, "multiple": multiple, "size": size, "predicted": predicted, "recovered": bool(each)}
            for multiple, size, each in zip((*MULTIPLES, math.inf), sizes, right, strict=True)
        ]
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    """Boxes and samples; an infinite multiple marks the theorem's own number."""
    for n in reversed(settings.pairs):
        yield Call(from_samples, {"n": n, "trials": settings.trials}, {"kind": "samples"}, seconds=n / 5)
    for radius in (RADIUS, *settings.radii):
        tables = settings.tables if radius == RADIUS else settings.others
        yield Call(in_box, {"radius": radius, "tables": tables}, {"kind": "box"}, seconds=tables / 2000)


def claims(settings: Settings) -> Iterator[Claim]:
    """Counts are exact; the largest box lies between one without a failure and one with one; Wilson; bootstrap."""
    statement = (
        f"all of {settings.tables:,} tables within {RADIUS} a of the exact one, on the corners and inside, become "
        "their gates; the number that do not"
    )
    measure = lambda table: exactly(boxes(table).failed[RADIUS])
    null = Null("tables in the largest box tried", lambda table: float(boxes(table).failed.iloc[-1]))
    yield Claim("box/proven", statement, None, Region(0, 0), measure, theory=0, null=null)
    words = f"the largest box of which all tables become gates in {UNIT_STEPS:,} steps of {LARGEST_STEP}"
    statement = f"the constant is pessimistic: {words}, in units of a"
    yield Claim("box/largest", statement, None, Region(0.5, 1.0), largest_box, null=Null("the proven one", RADIUS))
    statement = f"the slowest unit of the proven box saturates within the theorem's time {TIME} / a; times a"
    measure = lambda table: exactly(boxes(table)["time"][RADIUS] * DRIFT)
    yield Claim("box/time", statement, None, Region(high=TIME), measure, null=Null("never", math.inf))
    for n in settings.pairs:
        yield from of_samples(n, settings.trials)


def of_samples(n: int, trials: int) -> Iterator[Claim]:
    proven = unit_gate_examples(n, failure=FAILURE)
    words = f"n = {n}, half E1, half uniform"
    enough = f"from the {int(proven.value):,} examples of the theorem all units become gates"
    statement = f"{words}: {enough}; the fraction of {trials} trials"
    measure = lambda table: fraction(samples(table, n)[lambda rows: np.isinf(rows.multiple)].recovered)
    null = Null("a sign test with a fair coin for each sign", 0.5 ** (4 * n))
    yield Claim(f"n{n}/proven", statement, None, Region(low=1 - FAILURE - 0.1), measure, null=null)
    statement = f"{words}: nine in ten need about what the sign test predicts; the measured size over it"

    def ratio(table: pd.DataFrame) -> Measured:
        rows = samples(table, n)[lambda rows: ~np.isinf(rows.multiple)]
        return bootstrap(by_multiple(rows), multiple_of_most, resamples=500)

    null = Null("the theorem's number", lambda table: proven.value / samples(table, n).predicted.median())
    yield Claim(f"n{n}/predicted", statement, None, within_factor(1.0, 1.5), ratio, theory=1.0, null=null)


def samples(table: pd.DataFrame, n: int) -> pd.DataFrame:
    return table[(table.kind == "samples") & (table.n == n)]


def boxes(table: pd.DataFrame) -> pd.DataFrame:
    """The boxes by their radius."""
    return table[table.kind == "box"].set_index("radius").sort_index()


def largest_box(table: pd.DataFrame) -> Measured:
    """The largest radius up to which no table failed, and the first at which one did as the other end."""
    found = boxes(table)
    bad = found.index[found.failed > 0].to_numpy(float)
    first = float(bad.min()) if len(bad) else math.inf
    good = float(found.index[found.index < first].to_numpy(float).max(initial=0.0))
    return Measured(good, (good, min(first, 1.0)))


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """The share of tables that fail over the radius; the numbers of examples over n."""
    figure, axes = panels(1, 2, width=4.0, height=3.0)
    left, right = axes[0]
    found = boxes(table)
    share = found.failed / found.tried
    left.plot(found.index, share, "o", color=INKS[0], label=f"{settings.others:,} tables")
    left.plot(found.index, share, color=INKS[0], linewidth=0.8)
    left.axvline(RADIUS, color="0.3", linestyle="--", linewidth=0.9, label=f"proven: {RADIUS}")
    left.axvline(1.0, color="0.6", linestyle=":", linewidth=0.9, label="signs may be wrong")
    left.set_yscale("symlog", linthresh=1e-5)
    left.set(xlabel="radius of the box / a", ylabel=f"share that fail in {UNIT_STEPS:,} steps", ylim=(-3e-6, 1))
    dress(left, legend="lower right", size=6)
    proven = [unit_gate_examples(n, failure=FAILURE).value for n in settings.pairs]
    predicted = [float(samples(table, n).predicted.median()) for n in settings.pairs]
    needed = [
        multiple_of_most(by_multiple(samples(table, n)[lambda rows: ~np.isinf(rows.multiple)])) * each
        for n, each in zip(settings.pairs, predicted, strict=True)
    ]
    right.plot(settings.pairs, proven, marker="^", markersize=4, label="enough by Theorem II", **ink(1))
    right.plot(settings.pairs, predicted, marker="s", markersize=4, label="predicted by the sign test", **ink(2))
    right.plot(settings.pairs, needed, "o", color=INKS[0], label="measured: nine in ten")
    right.set(xscale="log", yscale="log", xlabel="gates n", ylabel="examples for all units")
    dress(right, ticks=settings.pairs, legend="center left")
    return shown("unit-proof", figure, "Single units become gates: tables near the exact one, and samples")
