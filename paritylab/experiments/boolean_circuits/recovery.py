"""Theorems 2 and 4 and Corollary 10 of boolean-circuits: Algorithm 1 recovers every gate; from how many examples?

Random circuits of AND, OR, NAND and NOR under their generative distribution, and parities of log n out of n
bits under product distributions with means of 0.4 to 0.6 in size. The theorems promise recovery from
2^11 / (epsilon Delta)^2 log(8 n d / delta) examples. A gate is learned where the average of (y - lambda) 1{p} has the
right sign at its four patterns, which is a sign test: it predicts the sample size at which all gates are
recovered with probability 0.9, with the same lambda = E[y] + Delta / 4.

Here Algorithm 1 itself runs (tables of a sample, every gate trained until nothing moves), on samples of multiples
of the predicted size. A run counts as recovered if every gate with influence gives its true value, or always the
negative, under the whole distribution, and the label is right everywhere: that is known exactly. At the largest
multiple, what was learned is also compared with the circuit on the whole cube (n <= 16) or on 100,000 uniform points.
Circuits are wide enough that first weights fail with probability below 0.001.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import layerwise_circuit
from ...circuits.gate_training import Method, default_rate
from ...cube import cube
from ...figures import INKS, panels
from ...statistics import size_for
from ...sweep import Call
from ..base import Claim, Region, within_factor
from ..drawing import dress, shown
from ..measures import bootstrap, exactly, fraction
from .shared.problems import FAMILIES, Problem, generative, packed_sample, safe_width, wrong_points

MULTIPLES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
POINTS = 100_000
WIDE = (
    "A hundred parities of 6 of 64 bits leave an interval from 1.3 to 1.8. A possible reason, not tested: what is "
    "predicted is for the circuit as it is written, while gates over bits outside the parity learn what the noise of "
    "the sample says, and so change the law of what the gates above them see. Deeper circuits have more of them."
)
TOGETHER = 2e9
"""Bits in the samples that are held at a time."""
DEEPEST = 12
TITLES = {"generative": "random circuits, generative law", "biased parity": "log n of n biased bits, parity"}


class Case(NamedTuple):
    """Circuits of one family and depth, and how many of them."""

    family: str
    depth: int
    trials: int

    @property
    def name(self) -> str:
        return f"{self.family.replace(' ', '-')}/d{self.depth}"


@dataclass(frozen=True)
class Settings:
    cases: tuple[Case, ...]
    stepping: bool = False
    """Whether the deepest circuit is learned step by step too."""


SETTINGS = {
    "quick": Settings(
        cases=(
            *(Case("generative", depth, 100) for depth in range(1, 5)),
            *(Case("generative", depth, 50) for depth in (5, 6)),
            *(Case("biased parity", depth, 100) for depth in (2, 3)),
            Case("biased parity", 4, 50),
        )
    ),
    "paper": Settings(
        cases=(
            *(Case("generative", depth, 400) for depth in range(1, 7)),
            *(Case("generative", depth, 100) for depth in (7, 8)),
            *(Case("biased parity", depth, 400) for depth in range(2, 5)),
            *(Case("biased parity", depth, 100) for depth in (5, 6)),
        ),
        stepping=True,
    ),
}


def runs(family: str, depth: int, trials: int, first: int) -> list[dict[str, object]]:
    """Algorithm 1 on samples of several sizes, for circuits number `first` to `first + trials - 1`."""
    known = [FAMILIES[family](depth, seed) for seed in range(first, first + trials)]
    most = max(each.samples for each in known) * max(MULTIPLES)
    together = max(1, int(TOGETHER / (most * 2**depth)))
    parts = (_rows(known[start : start + together], depth, first + start) for start in range(0, trials, together))
    return [row for part in parts for row in part]


def _rows(known: list[Problem], depth: int, first: int) -> list[dict[str, object]]:
    patterns, sizes, count = [], [], len(MULTIPLES)
    for number, each in enumerate(known):
        sizes.append([math.ceil(each.samples * multiple) for multiple in MULTIPLES])
        drawn = packed_sample(each.distribution, max(sizes[-1]), first + number)
        patterns += [drawn.first(size) for size in sizes[-1]]
    width, seeds = safe_width(2**depth), [*range(first * count, (first + len(known)) * count)]
    regularizers = [each.regularizer for each in known for _ in MULTIPLES]
    learned = pl.circuits.learn_circuits(patterns, width=width, regularizer=regularizers, seeds=seeds)
    points = _points(2**depth)
    rows: list[dict[str, object]] = []
    for number, each in enumerate(known):
        bound = layerwise_circuit(2**depth, correlation=min(each.slack, 0.499), pattern=each.least, failure=0.1)
        for place, multiple in enumerate(MULTIPLES):
            found = learned[number * count + place]
            mistakes, recovered = pl.circuits.follow(each.patterns, found.circuit)
            row: dict[str, object] = {
                "circuit": first + number,
                "multiple": multiple,
                "samples": sizes[number][place],
                "recovered": bool(mistakes[0] <= 1e-12 and np.all(recovered[each.matters])),
                "error": float(mistakes[0]),
                "steps": max(found.steps),
                "bound": bound.value,
                "bound_steps": 12 / (math.sqrt(2) * default_rate(width) * each.least * each.slack),
            }
            if multiple == max(MULTIPLES):
                row["wrong_points"] = wrong_points(each.circuit, found.circuit, points)
            rows.append(row)
    return rows


def _points(n: int) -> pl.circuits.PackedPatterns:
    """The whole cube, or uniform points; the labels do not matter."""
    drawn = np.asarray(cube(n)) if n <= 16 else 1 - 2 * np.random.default_rng(n).integers(0, 2, (POINTS, n), np.int8)
    return pl.circuits.PackedPatterns.of(drawn.astype(np.float32), np.ones(len(drawn), np.float32))


def deepest(depth: int, method: Method) -> dict[str, object]:
    """The population form once, at a large depth, with the time that it takes."""
    known, width = generative(depth, 0), safe_width(2**depth)
    patterns, strength = [known.patterns], known.regularizer
    started = time.perf_counter()
    (found,) = pl.circuits.learn_circuits(patterns, width=width, regularizer=strength, method=method)
    seconds = time.perf_counter() - started
    mistakes, recovered = pl.circuits.follow(known.patterns, found.circuit)
    return {
        "recovered": bool(mistakes[0] <= 1e-12 and recovered.all()),
        "gates": int(recovered.sum()),
        "steps": max(found.steps),
        "training_seconds": seconds,
    }


def plan(settings: Settings) -> Iterator[Call]:
    for family, depth, trials in settings.cases:
        together = min(trials, 50 if depth < 5 else 10)  # the cores share what is long
        for first in range(0, trials, together):
            which = {"family": family, "depth": depth, "trials": together, "first": first}
            yield Call(runs, which, labels={"family": family}, seconds=2.0)
    for method in ("jump", "step") if settings.stepping else ("jump",):
        which = {"depth": DEEPEST, "method": method}
        yield Call(deepest, which, labels={"family": "deepest", "method": method}, seconds=6.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """Recovery at four times the predicted size, the size at which nine in ten recover, and depth 12."""
    for case in settings.cases:
        yield from case_claims(case)
    statement = (
        "whatever counts as recovered at four times the predicted size agrees with its circuit on the whole cube "
        f"(n <= 16) or on {POINTS:,} uniform points; the number of points where it does not"
    )
    measure = lambda table: exactly(table[table.recovered == True].wrong_points.sum())  # noqa: E712 (objects)
    yield Claim("points", statement, None, Region(0.0, 0.0), measure, theory=0.0)
    statement = "the theorem's sample size suffices and is generous; the least ratio of it to the measured size for 90%"
    measure = lambda table: exactly(min(generosity(table, case) for case in settings.cases))
    yield Claim("below-theorem", statement, None, Region(low=1.0), measure)
    gates = (
        f"the population form recovers all {2**DEEPEST - 1:,} gates of a random circuit of depth {DEEPEST}, by "
        "jumps; the number"
    )
    yield from deepest_claims("jump", f"d{DEEPEST}", gates, "and takes seconds for it; how many", 60)
    if settings.stepping:
        gates, seconds = "step by step it recovers the same; the number of gates", "in under five minutes; the seconds"
        yield from deepest_claims("step", f"d{DEEPEST}/step", gates, seconds, 300)


def case_claims(case: Case) -> Iterator[Claim]:
    of = f"{case.family}, depth {case.depth}, {case.trials} circuits"
    statement = (
        f"Algorithm 1 recovers every gate from enough examples ({of}); the fraction at four times the size "
        "that the sign test predicts"
    )
    measure = lambda table: fraction(by_multiple(table, case)[:, -1])
    yield Claim(f"{case.name}/recovers", statement, None, Region(low=0.9), measure, theory=1.0)
    statement = (
        f"the sample size at which 90% recover is the one that the sign test predicts ({of}); measured over predicted"
    )
    measure = lambda table: bootstrap(by_multiple(table, case), size_of_most, resamples=500)
    why = WIDE if case.name == "biased-parity/d6" else ""
    yield Claim(f"{case.name}/size", statement, None, within_factor(1.0, 1.5), measure, explanation=why)


def deepest_claims(method: str, name: str, gates: str, seconds: str, limit: int) -> Iterator[Claim]:
    """The number of gates and the seconds of one run at depth 12."""
    once = lambda table: table[(table.family == "deepest") & (table.method == method)].iloc[0]
    every = 2**DEEPEST - 1
    measure = lambda table: exactly(once(table).gates)
    yield Claim(f"{name}/gates", gates, None, Region(every, every), measure, theory=float(every))
    measure = lambda table: exactly(once(table).training_seconds)
    yield Claim(f"{name}/seconds", seconds, None, Region(0, limit), measure)


def by_multiple(table: pd.DataFrame, case: Case) -> np.ndarray:
    """Whether each circuit was recovered, by multiples of the predicted size."""
    here = table[(table.family == case.family) & (table.depth == case.depth)]
    return here.pivot(index="circuit", columns="multiple", values="recovered").to_numpy(float)


def size_of_most(recovered: np.ndarray) -> float:
    """The multiple of the predicted size at which nine in ten circuits are recovered."""
    return size_for(recovered, MULTIPLES)


def generosity(table: pd.DataFrame, case: Case) -> float:
    """The least ratio of the theorem's size to the measured one."""
    here, size = rows_of(table, case, 1.0), size_of_most(by_multiple(table, case))
    return float((here.bound / (size * here.samples)).min())


def rows_of(table: pd.DataFrame, case: Case, multiple: float) -> pd.DataFrame:
    return table[(table.family == case.family) & (table.depth == case.depth) & (table.multiple == multiple)]


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """The fraction that recovers over the size of the sample; sizes and steps over depth beside theory."""
    figure, axes = panels(2, 2, width=4.4, height=2.9)
    for axis, family in zip(axes[0], FAMILIES, strict=True):
        draw_fractions(axis, table, [case for case in settings.cases if case.family == family], TITLES[family])
    examples, steps = over_depth(table, settings)
    draw_over_depth(axes[1, 0], examples, "examples for 90% (median)", "measured")
    draw_over_depth(axes[1, 1], steps, "steps of the slowest level (median)", "until saturation")
    axes[1, 0].set_title("examples")
    axes[1, 1].set_title("steps, from twice the predicted examples")
    return shown("recovery", figure, "Algorithm 1 recovers every gate: from how many examples, in how many steps")


def draw_fractions(axis: Axes, table: pd.DataFrame, cases: list[Case], title: str) -> None:
    for i, case in enumerate(cases):
        recovered = by_multiple(table, case)
        shade = 0.75 - 0.75 * i / max(1, len(cases) - 1)
        axis.plot(MULTIPLES, recovered.mean(axis=0), "o-", color=str(shade), markersize=3, label=f"depth {case.depth}")
    axis.axhline(0.9, color=INKS[1], linewidth=0.8, linestyle=":")
    axis.axvline(1.0, color=INKS[1], linewidth=0.8, linestyle=":")
    axis.set(xscale="log", xlabel="examples / predicted by the sign test", ylabel="fraction recovered")
    axis.set_xticks(MULTIPLES, [f"{multiple:g}" for multiple in MULTIPLES], fontsize=7)
    axis.minorticks_off()
    dress(axis, title=title, ylim=(0.0, 1.03), legend="lower right")


def draw_over_depth(axis: Axes, rows: pd.DataFrame, words: str, measured: str) -> None:
    for i, family in enumerate(FAMILIES):
        here = rows[rows.family == family]
        if here.empty:
            continue
        axis.plot(here.depth, here.measured, "os"[i], color=INKS[i], markersize=5, label=f"{family}: {measured}")
        if "predicted" in here:
            axis.plot(here.depth, here.predicted, color=INKS[i], linewidth=1, label=f"{family}: sign test")
        axis.plot(here.depth, here.bound, color=INKS[i], linewidth=1, linestyle="--", label=f"{family}: Theorem 4")
    axis.set(yscale="log", xlabel="depth", ylabel=words, xticks=sorted(set(rows.depth)))
    axis.set_ylim(top=1e4 * float(rows.bound.max()))  # room for the legend
    dress(axis, legend="upper left", size=6.5, columns=2)


def over_depth(table: pd.DataFrame, settings: Settings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Medians over circuits: of sizes of the sample, and of steps of the slowest level until nothing changes."""
    examples, steps = [], []
    for case in settings.cases:
        once, twice = (rows_of(table, case, multiple).median(numeric_only=True) for multiple in (1.0, 2.0))
        which, size = {"family": case.family, "depth": case.depth}, size_of_most(by_multiple(table, case))
        examples.append({**which, "predicted": once.samples, "measured": size * once.samples, "bound": once.bound})
        steps.append({**which, "measured": twice.steps, "bound": twice.bound_steps})
    return pd.DataFrame(examples), pd.DataFrame(steps)
