"""Section 4.1 of boolean-circuits: without correlation a gate collapses; with it, every circuit is recovered.

The paper says that where an influential gate has no correlation with the label, its neural gate is drawn to one
constant at all patterns, and Algorithm 1 fails. Its example is a parity under the uniform distribution.

Three pictures. First, parities of k out of n uniform bits: every gate below the top has correlation 0; beside
them the same parities with bits of mean 0.2 (p = 0.6). Second, random circuits of the ten gates that depend on both
inputs (n = 8) under random product distributions, labels swapped where E[y] < 0: where the assumptions of Theorem 4
hold (for about one circuit in eleven) the population form must recover the label exactly; where local correlation fails
nothing is promised, and about three in ten are learned nevertheless. Exact, but for the choice of circuits. Third, the
counter-example of hidden-progress, Appendix C.7, to greedy layerwise training: networks of squares learn the parity of
4 of 10 uniform bits with all layers together, while the first layer alone, with a head of its own, has no gradient at
all (`hidden-progress/counterexample` has the whole of it).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...circuits import audit
from ...figures import INKS, panels
from ...sweep import Call
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, shown
from ..hidden_progress.counterexample import enumerated
from ..measures import fraction, largest, least, proportion
from .shared.problems import problem, random_product, safe_width

PARITIES = ((8, 3), (16, 4), (64, 6))
BIAS = 0.2
DEPTH = 3
SQUARES_N, SQUARES_K, SQUARES_STEPS = 10, 4, 20_000
RATE, BATCH = 0.01, 32
WAYS = {"alone": ((10,), "first layer alone,\nwith a head"), "together": ((2, 1), "three layers,\nend to end")}
"""Of training networks of squares: the hidden layers, and words. Sizes and rate are those of hidden-progress, C.7."""


@dataclass(frozen=True)
class Settings:
    circuits: int
    seeds: int = 5
    squares: int = 40
    """Networks of squares."""
    draws: int = 20
    """Random networks of squares whose gradient is computed exactly."""


SETTINGS = {"quick": Settings(circuits=400), "paper": Settings(circuits=4000, seeds=20, squares=100, draws=100)}


def parity(n: int, k: int, mean: float, seeds: int) -> list[dict[str, object]]:
    """What becomes of the gates of a parity: the error, and how many influential gates give a constant."""
    circuit = pl.targets.parity_circuit(n, range(0, n, n // k)[:k])
    known = problem(circuit, pl.Product(circuit, mean))
    regularizer = known.regularizer if known.slack > 0 else 0.1  # any lambda > 0: there is no Delta to take it from
    learned = pl.circuits.learn_circuits([known.patterns] * seeds, width=safe_width(n), regularizer=regularizer)
    rows: list[dict[str, object]] = []
    below, verdict = known.matters & (np.abs(known.tables.correlation) < 1 - 1e-9), audit(circuit, known.tables).verdict
    for seed, each in enumerate(learned):
        mistakes, recovered = pl.circuits.follow(known.patterns, each.circuit)
        outputs = np.concatenate([trained.outputs for trained in reversed(each.trained)])
        occurs = np.concatenate(each.occurs[::-1])  # a gate above a constant one sees fewer patterns
        constant = np.where(occurs, outputs, -np.inf).max(axis=1) == np.where(occurs, outputs, np.inf).min(axis=1)
        shares = {"collapsed": constant[below].mean(), "recovered_share": recovered[known.matters].mean()}
        shares = {name: float(share) for name, share in shares.items()}
        rows.append({"seed": seed, "error": float(mistakes[0]), **shares, "verdict": verdict})
    return rows


def random_circuits(first: int, circuits: int) -> list[dict[str, object]]:
    """Random circuits under random product distributions, audited and learned."""
    chance, known = np.random.default_rng(first), []
    rows: list[dict[str, object]] = []
    for number in range(first, first + circuits):
        drawn = random_product(DEPTH, number, chance)
        if drawn is None:
            continue
        found = audit(*drawn)
        known.append(problem(*drawn))
        holds, label = found.property_1 and found.property_2, abs(found.tables.label_mean)
        rows.append({"circuit": number, "slack": found.slack, "holds": holds, "label_mean": label})
    learned = pl.circuits.learn_circuits(
        [each.patterns for each in known],
        width=safe_width(2**DEPTH, 1e-5),
        regularizer=[max(each.regularizer, 0.0) for each in known],
        seeds=[int(row["circuit"]) for row in rows],  # type: ignore[call-overload]
    )
    for row, each, result in zip(rows, known, learned, strict=True):
        row["error"] = each.error_of(result.circuit)
        row["baseline"] = (1 - float(row["label_mean"])) / 2  # type: ignore[arg-type]
    return rows


def plan(settings: Settings) -> Iterator[Plan | Call]:
    for n, k in PARITIES:
        for mean in (0.0, BIAS):
            yield Call(parity, {"n": n, "k": k, "mean": mean, "seeds": settings.seeds}, seconds=1.0)
    for part in range(4):
        each = settings.circuits // 4
        yield Call(random_circuits, {"first": part * each, "circuits": each}, seconds=3.0)
    exact = {"layers": 3, "n": SQUARES_N, "k": SQUARES_K, "draws": settings.draws}
    yield Call(enumerated, exact, labels={"way": "gradient"}, seconds=1.0)
    bits = pl.Uniform(pl.Parity(SQUARES_N, support=range(SQUARES_K)))
    how: dict[str, Any] = {"rate": RATE, "batch": BATCH, "seeds": settings.squares, "steps": SQUARES_STEPS}
    for way, (widths, _) in WAYS.items():
        yield pl.plan(bits, pl.MLP(widths, pl.networks.square), labels={"way": way}, **how)


def claims(settings: Settings) -> Iterator[Claim]:
    """Exact, but for fractions."""
    for n, k in PARITIES:
        yield from parity_claims(n, k, settings.seeds)
    of = f"{settings.circuits} random circuits under random product distributions, n = 8"
    statement = f"the theorem's assumptions are met by few circuits ({of}); the fraction with properties 1 and 2"
    measure, null = lambda table: fraction(table[table.circuit.notna()].holds.astype(bool)), Null("by all", 1.0)
    yield Claim("assumptions", statement, None, Region(0.04, 0.15), measure, null=null)
    statement = (
        "where properties 1 and 2 hold, about one circuit in eleven, the population form learns the label exactly "
        f"({of}); the largest error among them"
    )
    measure = lambda table: largest(random_ones(table, holds=True).error)
    null = Null("the more frequent label", lambda table: float(random_ones(table, holds=True).baseline.max()))
    yield Claim("sufficient", statement, 0.0, Region(0.0, 0.0), measure, null=null)
    statement = "where they fail the label is mostly not learned (the same circuits); the fraction that fail"
    failing = lambda rows: rows.error > 1e-12
    measure = lambda table: fraction(failing(random_ones(table, holds=False)))
    null = Null("circuits that meet them", lambda table: float(failing(random_ones(table, holds=True)).mean()))
    yield Claim("needed", statement, None, Region(low=0.5), measure, null=null)
    statement = (
        "yet local correlation is not necessary (the same circuits); the fraction that is learned exactly without "
        "the assumptions"
    )
    measure = lambda table: fraction(~failing(random_ones(table, holds=False)))
    null = Null("none, were they necessary", 0.0)
    yield Claim("learned-without", statement, None, Region(0.2, 0.4), measure, null=null)
    yield from squares_claims(settings)


def parity_claims(n: int, k: int, seeds: int) -> Iterator[Claim]:
    of = lambda table, mean: table[(table.n == n) & (table.k == k) & (table["mean"] == mean)]
    statement = f"Algorithm 1 does not learn the parity of {k} of {n} uniform bits ({seeds} seeds); the least error"
    measure = lambda table: least(of(table, 0.0).error)
    null = Null("a circuit that was learned", 0.0)
    yield Claim(f"uniform/n{n}-k{k}/error", statement, None, Region(0.5, 0.5), measure, theory=0.5, null=null)
    statement = (
        f"every gate without correlation gives a constant (parity of {k} of {n} uniform bits); the least "
        "fraction of influential gates below the top that do"
    )
    measure = lambda table: least(of(table, 0.0).collapsed)
    null = Null("gates drawn at random, of which one in eight is constant", 1 / 8)
    yield Claim(f"uniform/n{n}-k{k}/collapse", statement, 1.0, Region(1.0, 1.0), measure, null=null)
    statement = f"with p = {(1 + BIAS) / 2} for every bit it learns the same parity; the largest error"
    measure = lambda table: largest(of(table, BIAS).error)
    null = Null("the same with uniform bits", 0.5)
    yield Claim(f"biased/n{n}-k{k}/error", statement, 0.0, Region(0.0, 0.0), measure, null=null)


def squares_claims(settings: Settings) -> Iterator[Claim]:
    """The counter-example of hidden-progress, Appendix C.7, with the acceptance regions that it has there."""
    of = f"networks of squares, parity of {SQUARES_K} of {SQUARES_N} uniform bits"
    statement = (
        f"a first layer with a head of its own has no gradient ({of}, {settings.draws} random ones, all points);"
        " the largest entry of its population gradient"
    )
    measure = lambda table: largest(table[table.way == "gradient"].alone)
    null = Null("all layers together", lambda table: float(table[table.way == "gradient"].end_to_end.max()))
    yield Claim("squares/gradient", statement, 0.0, Region(0.0, 0.0), measure, null=null)
    statement = (
        f"so greedy layerwise training fails ({of}, {SQUARES_STEPS:,} steps); the fraction of {settings.squares} "
        "seeds that learn"
    )
    measure, null = lambda table: learned(table, "alone"), Null("three layers end to end", 1.0)
    yield Claim("squares/alone", statement, 0.0, Region(high=0.1), measure, null=null)
    statement = (
        f"while three layers learn it end to end ({of}, {SQUARES_STEPS:,} steps); the fraction of "
        f"{settings.squares} seeds"
    )
    region = Region(low=proportion(10, 10).interval[0])  # the paper's ten seeds
    measure, null = lambda table: learned(table, "together"), Null("the first layer alone", 0.0)
    yield Claim("squares/together", statement, 1.0, region, measure, null=null)


def random_ones(table: pd.DataFrame, holds: bool) -> pd.DataFrame:
    """Random circuits for which the theorem's assumptions hold, or not."""
    random = table[table.circuit.notna()]
    return random[random.holds.astype(bool) == holds]


def learned(table: pd.DataFrame, way: str) -> Measured:
    """The fraction of networks of squares that learned."""
    return fraction(table[table.way == way].outcome == "learned")


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Errors of parities, of random circuits over their slack, and what networks of squares learn."""
    figure, axes = panels(1, 3, width=3.6, height=3.1)
    draw_parities(axes[0, 0], table)
    axis, drawn = axes[0, 1], table.circuit.notna().sum()
    for i, (holds, words) in enumerate(((True, "the theorem's assumptions hold"), (False, "they fail"))):
        rows = random_ones(table, holds)
        axis.plot(rows.slack, rows.error, "os"[i], color=INKS[i], markersize=3, alpha=0.6, label=words)
    axis.axvline(0, color="0.7", linewidth=0.8)
    axis.set(xlabel="Δ: least |correlation| of a gate − |E[y]|", ylabel="error of Algorithm 1", ylim=(-0.02, 0.55))
    dress(axis, title=f"{drawn} random circuits on 8 bits, product laws", legend="upper right", size=8)
    draw_squares(axes[0, 2], table)
    return shown("necessity", figure, "Local correlation decides what greedy layerwise training learns")


def draw_squares(axis: Axes, table: pd.DataFrame) -> None:
    """One bar for each way of training."""
    for i, way in enumerate(WAYS):
        value, (low, high) = learned(table, way)
        axis.bar(i, value, 0.5, color=INKS[1 - i])
        axis.errorbar(i, value, [[max(value - low, 0)], [max(high - value, 0)]], color="0.2", capsize=3)
        axis.text(i + 0.05, max(value, high) + 0.02, f"{value:.0%}", ha="left", fontsize=8)
    axis.set_xticks(range(len(WAYS)), [words for _, words in WAYS.values()])
    axis.set(ylabel="fraction of seeds that learn", ylim=(0, 1.15), xlim=(-0.6, len(WAYS) - 0.4))
    axis.set_title(f"networks of squares: {SQUARES_K} of {SQUARES_N} uniform bits")


def draw_parities(axis: Axes, table: pd.DataFrame) -> None:
    """One couple of bars per parity."""
    for i, (mean, words) in enumerate(((0.0, "uniform bits"), (BIAS, "p = 0.6"))):
        errors = [table[(table.n == n) & (table.k == k) & (table["mean"] == mean)].error.mean() for n, k in PARITIES]
        places = np.arange(len(PARITIES)) + 0.36 * i
        axis.bar(places, errors, 0.34, color=INKS[1 - i], label=words)
        for place, error in zip(places, errors, strict=True):
            axis.text(place, error + 0.01, f"{error:g}", ha="center", fontsize=8)
    axis.set_xticks(np.arange(len(PARITIES)) + 0.18, [f"{k} of {n} bits" for n, k in PARITIES])
    axis.set(ylabel="error of Algorithm 1", ylim=(0, 0.62), title="parities, network of gates")
    axis.legend(fontsize=8, loc="upper right", ncols=2)
