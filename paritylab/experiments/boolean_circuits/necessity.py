"""Section 4.1 of boolean-circuits: without correlation a gate collapses; with it, every circuit is recovered.

The paper says that where an influential gate has no correlation with the label, its neural gate is drawn to one
constant at all patterns, and Algorithm 1 fails. Its example is a parity under the uniform distribution.

Two pictures. First, parities of k out of n uniform bits: every gate below the top has correlation 0; beside
them the same parities with bits of mean 0.2 (p = 0.6). Second, random circuits of the ten gates that depend on both
inputs (n = 8) under random product distributions, labels swapped where E[y] < 0: where the assumptions of Theorem 4
hold the population form must recover the label exactly; where local correlation fails nothing is promised. Exact,
but for the choice of circuits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...analysis import audit
from ...figures import INKS, panels
from ...statistics import wilson_interval
from ...sweep import Call, Results
from ..base import Claim, Measured, Region, exactly
from .problems import problem, safe_width

PARITIES = ((8, 3), (16, 4), (64, 6))
BIAS = 0.2
DEPTH = 3
BOTH = tuple(
    name for name in pl.GATES if name not in ("TRUE", "FALSE") and name[-5:] != "FIRST" and name[-6:] != "SECOND"
)
"""The gates that depend on both inputs; the paper takes others out of a circuit beforehand."""


@dataclass(frozen=True)
class Settings:
    circuits: int
    seeds: int = 5


SETTINGS = {"quick": Settings(circuits=400), "paper": Settings(circuits=4000, seeds=20)}


def parity(n: int, k: int, mean: float, seeds: int) -> list[dict[str, object]]:
    """What becomes of the gates of a parity: the error, and how many influential gates give a constant."""
    circuit = pl.parity_circuit(n, range(0, n, n // k)[:k])
    known = problem(circuit, pl.Product(circuit, mean))
    regularizer = known.regularizer if known.slack > 0 else 0.1  # any lambda > 0: there is no Delta to take it from
    learned = pl.learn_circuits([known.patterns] * seeds, width=safe_width(n), regularizer=regularizer)
    rows: list[dict[str, object]] = []
    below = known.matters & (np.abs(known.tables.correlation) < 1 - 1e-9)
    for seed, each in enumerate(learned):
        mistakes, recovered = pl.follow(known.patterns, each.circuit)
        outputs = np.concatenate([trained.outputs for trained in reversed(each.trained)])
        occurs = np.concatenate(each.occurs[::-1])  # a gate above a constant one sees fewer patterns
        constant = np.where(occurs, outputs, -np.inf).max(axis=1) == np.where(occurs, outputs, np.inf).min(axis=1)
        rows.append(
            {
                "seed": seed,
                "error": float(mistakes[0]),
                "collapsed": float(constant[below].mean()),
                "recovered_share": float(recovered[known.matters].mean()),
                "verdict": audit(circuit, known.tables).verdict,
            }
        )
    return rows


def random_circuits(first: int, circuits: int) -> list[dict[str, object]]:
    """Random circuits under random product distributions, audited and learned."""
    chance = np.random.default_rng(first)
    rows: list[dict[str, object]] = []
    known = []
    for number in range(first, first + circuits):
        circuit = pl.random_circuit(2**DEPTH, BOTH, key=pl.root_key(number))
        mean = chance.uniform(-0.8, 0.8, circuit.n)
        label = float(circuit.gate_means(mean)[0][0])
        if abs(label) > 1 - 1e-6:
            continue  # a constant has nothing to learn
        if label < 0:
            tables = np.asarray(circuit.tables).copy()
            tables[0] *= -1
            circuit = pl.TreeCircuit(circuit.n, tables)
        law = pl.Product(circuit, mean)
        found, each = audit(circuit, law), problem(circuit, law)
        known.append(each)
        holds = found.property_1 and found.property_2
        rows.append({"circuit": number, "slack": found.slack, "holds": holds, "label_mean": abs(label)})
    learned = pl.learn_circuits(
        [each.patterns for each in known],
        width=safe_width(2**DEPTH, 1e-5),
        regularizer=[max(each.regularizer, 0.0) for each in known],
        seeds=[int(row["circuit"]) for row in rows],  # type: ignore[call-overload]
    )
    for row, each, result in zip(rows, known, learned, strict=True):
        row["error"] = float(pl.follow(each.patterns, result.circuit)[0][0])
        row["baseline"] = (1 - float(row["label_mean"])) / 2  # type: ignore[arg-type]
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    for n, k in PARITIES:
        for mean in (0.0, BIAS):
            yield Call(parity, {"n": n, "k": k, "mean": mean, "seeds": settings.seeds}, seconds=1.0)
    for part in range(4):
        each = settings.circuits // 4
        yield Call(random_circuits, {"first": part * each, "circuits": each}, seconds=3.0)


def claims(settings: Settings) -> list[Claim]:
    made = []
    for n, k in PARITIES:
        made += [
            Claim(
                f"uniform/n{n}-k{k}/error",
                f"Algorithm 1 does not learn the parity of {k} of {n} uniform bits ({settings.seeds} seeds); the "
                "least error",
                0.5,
                Region(0.5, 0.5),
            ),
            Claim(
                f"uniform/n{n}-k{k}/collapse",
                f"every gate without correlation gives a constant (parity of {k} of {n} uniform bits); the least "
                "fraction of influential gates below the top that do",
                1.0,
                Region(1.0, 1.0),
            ),
            Claim(
                f"biased/n{n}-k{k}/error",
                f"with p = {(1 + BIAS) / 2} for every bit it learns the same parity; the largest error",
                0.0,
                Region(0.0, 0.0),
            ),
        ]
    return [
        *made,
        Claim(
            "sufficient",
            f"where properties 1 and 2 hold, the population form learns the label exactly ({settings.circuits} random "
            "circuits under random product distributions, n = 8); the largest error among them",
            0.0,
            Region(0.0, 0.0),
        ),
        Claim(
            "needed",
            "where local correlation fails the label is mostly not learned (the same circuits); the fraction that fail",
            None,
            Region(low=0.5),
        ),
    ]


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Exact, but for the fraction among random circuits."""
    table = results.table()
    measured = {}
    for n, k in PARITIES:
        here = table[(table.n == n) & (table.k == k)]
        uniform, biased = here[here["mean"] == 0], here[here["mean"] == BIAS]
        measured[f"uniform/n{n}-k{k}/error"] = exactly(float(uniform.error.min()))
        measured[f"uniform/n{n}-k{k}/collapse"] = exactly(float(uniform.collapsed.min()))
        measured[f"biased/n{n}-k{k}/error"] = exactly(float(biased.error.max()))
    random = table[table.circuit.notna()]
    holds = random.holds.astype(bool)
    measured["sufficient"] = exactly(float(random[holds].error.max()))
    failing = random[~holds]
    failed = int((failing.error > 1e-12).sum())
    measured["needed"] = Measured(failed / len(failing), wilson_interval(failed, len(failing)))
    return measured


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """Errors of parities, and of random circuits over their slack."""
    table = results.table()
    figure, axes = panels(1, 2, width=4.2, height=3.0)
    draw_parities(axes[0, 0], table)
    random = table[table.circuit.notna()]
    axis = axes[0, 1]
    for i, (holds, words) in enumerate(((True, "the theorem's assumptions hold"), (False, "they fail"))):
        rows = random[random.holds.astype(bool) == holds]
        axis.plot(rows.slack, rows.error, "os"[i], color=INKS[i], markersize=3, alpha=0.6, label=words)
    axis.axvline(0, color="0.7", linewidth=0.8)
    axis.set(xlabel="Δ: least |correlation| of a gate − |E[y]|", ylabel="error of Algorithm 1", ylim=(-0.02, 0.55))
    axis.set_title(f"{len(random)} random circuits on 8 bits, product laws")
    axis.legend(fontsize=8, loc="upper right")
    figure.suptitle("Local correlation decides what layerwise training learns", fontsize=11)
    return {"necessity": figure}


def draw_parities(axis: Axes, table: pd.DataFrame) -> None:
    """One couple of bars per parity."""
    for i, (mean, words) in enumerate(((0.0, "uniform bits"), (BIAS, "p = 0.6"))):
        errors = [table[(table.n == n) & (table.k == k) & (table["mean"] == mean)].error.mean() for n, k in PARITIES]
        places = np.arange(len(PARITIES)) + 0.36 * i
        axis.bar(places, errors, 0.34, color=INKS[1 - i], label=words)
        for place, error in zip(places, errors, strict=True):
            axis.text(place, error + 0.01, f"{error:g}", ha="center", fontsize=8)
    axis.set_xticks(np.arange(len(PARITIES)) + 0.18, [f"{k} of {n} bits" for n, k in PARITIES])
    axis.set(ylabel="error of Algorithm 1", ylim=(0, 0.62), title="parities")
    axis.legend(fontsize=8, loc="upper right", ncols=2)
