"""Theorems 2 and 4 and Corollary 10 of boolean-circuits: Algorithm 1 recovers every gate; from how many examples?

Three families: random circuits of AND, OR, NAND and NOR under their generative distribution (Corollary 10); parities of
log n out of n bits under product distributions with means of 0.4 to 0.6 in size (Corollary 7); random circuits of all
ten gates that depend on both inputs under random product distributions, the first of each seed that has the
assumptions of Theorem 2 with Delta >= 0.02 (one in three at n = 4, one in fifteen at n = 8). The theorems promise
recovery from 2^11 / (epsilon Delta)^2 log(8 n d / delta) examples. A gate is learned where the average of
(y - lambda) 1{p} has the right sign at its four patterns, which is a sign test: it predicts the sample size at which
all gates are recovered with probability 0.9, with the same lambda = E[y] + Delta / 4.

Here Algorithm 1 itself runs (tables of a sample, every gate trained until nothing moves), on samples of multiples
of the predicted size. A run counts as recovered if every gate with influence gives its true value, or always the
negative, under the whole distribution, and the label is right everywhere: that is known exactly. At the largest
multiple, what was learned is also compared with the circuit on the whole cube (n <= 16) or on 100,000 uniform points.
Circuits are wide enough that first weights fail with probability below 0.001.

The prediction is for the circuit as it is written. Gates over bits outside of a parity learn what the noise of the
sample says, and so change what the gates above them see; the deeper the circuit, the more of them. A control holds
these gates at +1, on the same samples.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import matplotlib
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
from ..base import Claim, Measured, Null, Region, within_factor
from ..drawing import dress, shown
from ..measures import bootstrap, exactly, fraction, mean
from .shared.problems import (
    FAMILIES,
    HeldPatterns,
    Problem,
    generative,
    held,
    packed_sample,
    safe_width,
    wrong_points,
)
from .shared.sizes import MULTIPLES, POWERS, Case, by_multiple, generosity, power, rows_of, size_of_most

POINTS = 100_000
HELD_MULTIPLES = (0.35, 0.5, 0.7, 1.0, 1.4)
WIDE = (
    "Gates over bits outside of the parity learn what the noise of the sample says, and so change what the gates above "
    "them see, which the prediction leaves out. With these gates held at +1 the same samples give what is predicted."
)
TOGETHER = 2e9
"""Bits in the samples that are held at a time."""
DEEPEST = 12
TITLES = {
    "generative": "AND/OR/NAND/NOR,\ngenerative distribution",
    "biased parity": "parity of log n of n\nbiased bits",
    "product": "all ten gates,\nproduct distributions",
}


@dataclass(frozen=True)
class Settings:
    cases: tuple[Case, ...]
    held: tuple[int, int] = (5, 40)
    """The depth of the parities for the control, and how many."""
    stepping: bool = False
    """Whether the deepest circuit is learned step by step too."""


SETTINGS = {
    "quick": Settings(
        cases=(
            *(Case("generative", depth, 100) for depth in range(1, 5)),
            *(Case("generative", depth, 50) for depth in (5, 6)),
            *(Case("biased parity", depth, 100) for depth in (2, 3)),
            Case("biased parity", 4, 50),
            Case("biased parity", 5, 40),
            *(Case("product", depth, 40) for depth in (2, 3)),
        )
    ),
    "paper": Settings(
        cases=(
            *(Case("generative", depth, 400) for depth in range(1, 7)),
            *(Case("generative", depth, 100) for depth in (7, 8)),
            *(Case("biased parity", depth, 400) for depth in range(2, 5)),
            *(Case("biased parity", depth, 100) for depth in (5, 6)),
            *(Case("product", depth, 400) for depth in (2, 3)),
            Case("product", 4, 100),
        ),
        held=(6, 100),
        stepping=True,
    ),
}


def runs(family: str, depth: int, trials: int, first: int) -> list[dict[str, object]]:
    """Algorithm 1 on samples of several sizes, for circuits number `first` to `first + trials - 1`."""
    return _in_parts(family, depth, trials, first, MULTIPLES, False)


def held_runs(family: str, depth: int, trials: int, first: int) -> list[dict[str, object]]:
    """The same where gates without influence are held at +1."""
    return _in_parts(family, depth, trials, first, HELD_MULTIPLES, True)


def _in_parts(
    family: str, depth: int, trials: int, first: int, multiples: tuple[float, ...], hold: bool
) -> list[dict[str, object]]:
    known = [FAMILIES[family](depth, seed) for seed in range(first, first + trials)]
    most = max(each.samples for each in known) * max(multiples)
    together = max(1, int(TOGETHER / (most * 2**depth)))
    parts = (
        _rows(known[start : start + together], depth, first + start, multiples, hold)
        for start in range(0, trials, together)
    )
    return [row for part in parts for row in part]


def _rows(
    known: list[Problem], depth: int, first: int, multiples: tuple[float, ...], hold: bool
) -> list[dict[str, object]]:
    patterns: list[pl.circuits.AbstractPatterns] = []
    sizes, count = [], len(multiples)
    for number, each in enumerate(known):
        sizes.append([math.ceil(each.samples * multiple) for multiple in multiples])
        drawn = packed_sample(each.distribution, max(sizes[-1]), first + number)
        parts = (drawn.first(size) for size in sizes[-1])
        patterns += [HeldPatterns(part, each.matters) if hold else part for part in parts]
    width, seeds = safe_width(2**depth), [*range(first * count, (first + len(known)) * count)]
    regularizers = [each.regularizer for each in known for _ in multiples]
    learned = pl.circuits.learn_circuits(patterns, width=width, regularizer=regularizers, seeds=seeds)
    points = _points(2**depth)
    rows: list[dict[str, object]] = []
    for number, each in enumerate(known):
        bound = layerwise_circuit(2**depth, correlation=min(each.slack, 0.499), pattern=each.least, failure=0.1)
        for place, multiple in enumerate(multiples):
            found = learned[number * count + place]
            circuit = held(found.circuit, each.matters) if hold else found.circuit
            mistakes, recovered = pl.circuits.follow(each.patterns, circuit)
            row: dict[str, object] = {
                "circuit": first + number,
                "multiple": multiple,
                "samples": sizes[number][place],
                "recovered": bool(mistakes[0] <= 1e-12 and np.all(recovered[each.matters])),
                "error": float(mistakes[0]),
                "saturated": found.saturated,
                "slowest": max(found.steps),
                "bound": bound.value,
                "bound_steps": 12 / (math.sqrt(2) * default_rate(width) * each.least * each.slack),
            }
            if multiple == max(MULTIPLES):
                row["wrong_points"] = wrong_points(each.circuit, circuit, points)
            rows.append(row)
    return rows


def _points(n: int) -> pl.circuits.PackedPatterns:
    """The whole cube, or uniform points; the labels do not matter."""
    drawn = np.asarray(cube(n)) if n <= 16 else 1 - 2 * np.random.default_rng(n).integers(0, 2, (POINTS, n), np.int8)
    return pl.circuits.PackedPatterns.of(drawn.astype(np.float32), np.ones(len(drawn), np.float32))


def deepest(depth: int, method: Method) -> dict[str, object]:
    """The population form once, at a large depth."""
    known, width = generative(depth, 0), safe_width(2**depth)
    (found,) = pl.circuits.learn_circuits([known.patterns], width=width, regularizer=known.regularizer, method=method)
    mistakes, recovered = pl.circuits.follow(known.patterns, found.circuit)
    return {
        "recovered": bool(mistakes[0] <= 1e-12 and recovered.all()),
        "gates": int(recovered.sum()),
        "steps": max(found.steps),
    }


def plan(settings: Settings) -> Iterator[Call]:
    for case in settings.cases:
        yield from calls(case, runs)
    yield from calls(Case("biased parity", *settings.held), held_runs, " held")
    for method in ("jump", "step") if settings.stepping else ("jump",):
        which = {"depth": DEEPEST, "method": method}
        yield Call(deepest, which, labels={"family": "deepest", "method": method}, seconds=6.0)


def calls(case: Case, function: Callable[..., list[dict[str, object]]], kind: str = "") -> Iterator[Call]:
    """A case in parts, so that cores share what is long."""
    together = min(case.trials, 50 if case.depth < 5 else 10)
    for first in range(0, case.trials, together):
        which = {"family": case.family, "depth": case.depth, "trials": together, "first": first}
        yield Call(function, which, labels={"family": case.family + kind}, seconds=2.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """Recovery at four times the predicted size, the size at which nine in ten recover, its power, and depth 12."""
    for case in settings.cases:
        yield from case_claims(case, settings.held[0])
    yield from held_claims(*settings.held)
    statement = (
        "whatever counts as recovered at four times the predicted size agrees with its circuit on the whole cube "
        f"(n <= 16) or on {POINTS:,} uniform points; the number of points where it does not"
    )
    measure = lambda table: exactly(table[table.recovered == True].wrong_points.sum())  # noqa: E712 (objects)
    null = Null("one circuit of which a gate at the label is wrong, half of the points", POINTS / 2)
    yield Claim("points", statement, None, Region(0.0, 0.0), measure, theory=0.0, null=null)
    for family in POWERS:
        yield power_claim([case for case in settings.cases if case.family == family and case.depth > 1])
    gates = (
        f"the population form recovers all {2**DEEPEST - 1:,} gates of a random circuit of depth {DEEPEST}, by "
        "jumps; the number"
    )
    yield deepest_claim("jump", f"d{DEEPEST}", gates)
    if settings.stepping:
        yield deepest_claim("step", f"d{DEEPEST}/step", "step by step it recovers the same; the number of gates")


def case_claims(case: Case, held_at: int = 0) -> Iterator[Claim]:
    of = f"{case.family}, depth {case.depth}, {case.trials} circuits"
    statement = (
        f"Algorithm 1 recovers every gate from enough examples ({of}); the fraction at four times the size "
        "that the sign test predicts"
    )
    measure = lambda table: fraction(by_multiple(table, case)[:, -1])
    null = Null("gates drawn at random", 8.0 ** (1 - 2**case.depth))  # of 16 gates, one and its negative are right
    yield Claim(f"{case.name}/recovers", statement, None, Region(low=0.9), measure, theory=1.0, null=null)
    statement = (
        f"the sample size at which 90% recover is the one that the sign test predicts ({of}); measured over predicted"
    )
    measure = lambda table: bootstrap(by_multiple(table, case), size_of_most, resamples=500)
    region, null = within_factor(1.0, 1.5), Null("Theorem 4's size", lambda table: generosity(table, case))
    controlled = case.family == "biased parity" and case.depth == held_at
    tests = (f"{case.name}/held/gain",) if controlled else ()
    why = WIDE if controlled else ""
    yield Claim(f"{case.name}/size", statement, None, region, measure, explanation=why, null=null, tested_by=tests)


def held_claims(depth: int, trials: int) -> Iterator[Claim]:
    """The control of the prediction: gates without influence held constant."""
    case = Case("biased parity", depth, trials)
    of = f"{case.family}, depth {depth}, {trials} circuits, the same samples"
    statement = (
        f"with gates outside of the parity held at +1 the size at which 90% recover is at most the predicted one ({of})"
        "; measured over predicted"
    )
    size = lambda recovered: size_for(recovered, HELD_MULTIPLES)
    measure = lambda table: bootstrap(by_multiple(table, case, " held"), size, resamples=500)
    null = Null("Theorem 4's size", lambda table: generosity(table, case))
    why = "Unexplained: 100 circuits cannot tell 1.09 (0.87 to 1.30) from 1.2."
    yield Claim(f"{case.name}/held/size", statement, None, Region(0.5, 1.2), measure, explanation=why, null=null)
    statement = f"and more are recovered ({of}); the difference of the fractions at 0.5 to 1.4 times the predicted size"
    measure, null = lambda table: held_gain(table, case), Null("no difference", 0.0)
    yield Claim(f"{case.name}/held/gain", statement, None, Region(low=0.01), measure, null=null)


def held_gain(table: pd.DataFrame, case: Case) -> Measured:
    """How many more of the same samples are enough where gates without influence are held, per sample."""
    plain, control = by_multiple(table, case), by_multiple(table, case, " held")
    same = [MULTIPLES.index(multiple) for multiple in HELD_MULTIPLES[1:]]
    rows = min(len(plain), len(control))
    return mean((control[:rows, 1:] - plain[:rows, same]).mean(axis=1))


def power_claim(cases: list[Case]) -> Claim:
    """The power of n in the number of examples."""
    family, (slowest, fastest) = cases[0].family, POWERS[cases[0].family]
    sizes = f"{family}, n = {2 ** cases[0].depth} to {2 ** cases[-1].depth}, 90% recovered"
    statement = (
        "the examples that are needed grow with n no faster than Theorem 4's (epsilon Delta)^-2, and no slower than "
        f"the c^-2 of one correlation ({sizes}); the power of n"
    )
    name, null = f"{cases[0].name.rsplit('/', 1)[0]}/power", Null("as many examples at every n", 0.0)
    measure, theory = lambda table: power(table, cases), f"at most {fastest:.2f}"
    return Claim(name, statement, None, Region(slowest, fastest), measure, theory=theory, null=null)


def deepest_claim(method: str, name: str, gates: str) -> Claim:
    """The number of gates of one run at depth 12."""
    once = lambda table: table[(table.family == "deepest") & (table.method == method)].iloc[0]
    every = 2**DEEPEST - 1
    null = Null("gates drawn at random", every / 8)
    measure = lambda table: exactly(once(table).gates)
    return Claim(f"{name}/gates", gates, None, Region(every, every), measure, theory=float(every), null=null)


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """The fraction that recovers over the size of the sample; the control; sizes and steps over depth beside theory."""
    figure, axes = panels(2, 3, width=3.6, height=3.0)
    for axis, (family, title) in zip(axes[0], TITLES.items(), strict=True):
        draw_fractions(axis, table, [case for case in settings.cases if case.family == family], title)
    draw_control(axes[1, 0], table, Case("biased parity", *settings.held))
    examples, steps = over_depth(table, settings)
    draw_over_depth(axes[1, 1], examples, "examples (median)", "90% recovered")
    draw_over_depth(axes[1, 2], steps, "steps of the slowest level (median)", "until saturation")
    axes[1, 2].set_title("steps, from twice the predicted examples")
    return shown("recovery", figure, "Algorithm 1 recovers every gate: from how many examples, in how many steps")


def draw_fractions(axis: Axes, table: pd.DataFrame, cases: list[Case], title: str) -> None:
    for i, case in enumerate(cases):
        recovered, shade = by_multiple(table, case), matplotlib.colormaps["cividis"](i / max(1, len(cases) - 1) * 0.85)
        axis.plot(MULTIPLES, recovered.mean(axis=0), "-", marker="osD^vP<X"[i % 8], color=shade, markersize=4,
                  linewidth=1, label=str(case.depth))  # fmt: skip
    over_multiples(axis, title)
    axis.legend(title="depth", fontsize=7, title_fontsize=7, loc="lower right", ncols=2)


def draw_control(axis: Axes, table: pd.DataFrame, case: Case) -> None:
    """Recovery of the same samples with and without gates that learn noise."""
    plain, control = by_multiple(table, case).mean(axis=0), by_multiple(table, case, " held").mean(axis=0)
    axis.plot(MULTIPLES, plain, "o-", color=INKS[0], markersize=4, label="all gates learn")
    axis.plot(HELD_MULTIPLES, control, "s--", color=INKS[1], markersize=4, label="gates without influence held")
    over_multiples(axis, f"parities of {case.depth} of {2**case.depth} bits: control")
    axis.legend(fontsize=7, loc="lower right")


def over_multiples(axis: Axes, title: str) -> None:
    axis.axhline(0.9, color=INKS[1], linewidth=0.8, linestyle=":")
    axis.axvline(1.0, color=INKS[1], linewidth=0.8, linestyle=":")
    axis.set(xscale="log", xlabel="examples / predicted by the sign test", ylabel="fraction recovered")
    axis.set_xticks(MULTIPLES, [f"{multiple:g}" for multiple in MULTIPLES], fontsize=7)
    axis.minorticks_off()
    dress(axis, title=title, ylim=(0.0, 1.03))


def draw_over_depth(axis: Axes, rows: pd.DataFrame, words: str, measured: str) -> None:
    for i, family in enumerate(TITLES):
        here = rows[rows.family == family]
        axis.plot(here.depth, here.measured, "osD"[i], color=INKS[i], markersize=5, label=f"{family}: {measured}")
        if "predicted" in here:
            axis.plot(here.depth, here.predicted, color=INKS[i], linewidth=1)
        axis.plot(here.depth, here.bound, color=INKS[i], linewidth=1, linestyle="--")
    if "predicted" in rows:
        axis.plot([], [], color="0.3", linewidth=1, label="sign test")
    axis.plot([], [], color="0.3", linewidth=1, linestyle="--", label="Theorem 4")
    axis.set(yscale="log", xlabel="depth", ylabel=words, xticks=sorted(set(rows.depth)))
    axis.set_ylim(top=1e4 * float(rows.bound.max()))  # room for the legend
    dress(axis, legend="upper left", size=6.5)


def over_depth(table: pd.DataFrame, settings: Settings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Medians over circuits: of sizes of the sample, and of steps of the slowest level until nothing changes."""
    examples, steps = [], []
    for case in settings.cases:
        once, twice = (rows_of(table, case, multiple).median(numeric_only=True) for multiple in (1.0, 2.0))
        which, size = {"family": case.family, "depth": case.depth}, size_of_most(by_multiple(table, case))
        examples.append({**which, "predicted": once.samples, "measured": size * once.samples, "bound": once.bound})
        steps.append({**which, "measured": twice.slowest, "bound": twice.bound_steps})
    return pd.DataFrame(examples), pd.DataFrame(steps)
