"""Exact statements of boolean-circuits: Lemmas 3, 5, 8, 9, the size of the class, statistical queries.

The class of functions of tree circuits grows like 6^n (Section 2): all of them are counted for n = 2, 4, 8, those
of 8 inputs by a random hash of their tables. Lemma 3: a product distribution with local correlation has properties 1
to 3, and no pattern that occurs is rarer than Delta^2 / 4. Lemma 5: the circuit of a parity has the product of what
is in the support below it at every node. Lemma 8: under the generative distribution node (i, j) has |c| = (2/3)^i
(printed is 'at least (2/3)^d'). Lemma 9: the gates of level i take the generative distribution of that level to that of
the next.

Section 4.1: no method with noisy gradients learns the class, since it contains all parities, and those of log n bits
already take n^Omega(log n) queries. The reason, for networks at their start: under uniform bits the squared gradients
of all C(n, k) parities sum to at most the mean square of what is correlated with the label (Bessel), so that most are
tiny; with biased bits they do not. The number of queries is `parity_queries` with a tolerance of 1/n.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import parity_queries
from ...circuits import audit, gate_tables, node_correlations
from ...cube import cube
from ...figures import INKS, panels
from ...statistics import power_law
from ...sweep import Call
from ...targets.gates import by_pattern
from ..base import IDENTITY, Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, largest, least, share
from .shared.problems import random_product

COUNTED = (2, 4, 8)
QUERIES_N, QUERIES_K, UNITS, P = 12, 3, 64, 0.9
"""Parities whose gradients are computed, the units of a network, and the bias of the control."""
SIZES = tuple(2**power for power in range(4, 13))


@dataclass(frozen=True)
class Settings:
    circuits: int
    networks: int


SETTINGS = {"quick": Settings(circuits=24, networks=20), "paper": Settings(circuits=1000, networks=200)}


def functions(n: int) -> dict[str, object]:
    """The number of different functions of n inputs, over all circuits."""
    signs = np.array([*itertools.product((0, 1), repeat=4)], np.uint64)  # of a gate, by its two inputs
    known = np.array([[0, 1]], np.uint64)  # one input
    while 2 * np.log2(known.shape[1]) <= 4:
        first, second = known[:, None, :, None], known[None, :, None, :]
        tables = [
            gate[0] * (1 - first) * (1 - second) + gate[1] * first * (1 - second) + gate[2] * (1 - first) * second
            + gate[3] * first * second for gate in signs
        ]  # fmt: skip
        known = np.unique(np.concatenate([table.reshape(-1, known.shape[1] ** 2) for table in tables]), axis=0)
        if known.shape[1] == 2**n:
            return {"functions": len(known)}
    points = known.shape[1]
    weights = np.random.default_rng(0).integers(0, 2**63, (points, points), np.uint64)
    both, constant = known @ weights @ known.T, weights.sum()
    first, second = (known @ weights.sum(axis=1))[:, None], (known @ weights.sum(axis=0))[None, :]
    hashes = [gate[0] * (constant - first - second + both) + gate[1] * (first - both) + gate[2] * (second - both)
              + gate[3] * both for gate in signs]  # fmt: skip
    return {"functions": len(np.unique(np.stack(hashes)))}


def lemma3(circuits: int) -> list[dict[str, object]]:
    """Random circuits under product distributions, and under a mixture of one and its mirror image."""
    chance = np.random.default_rng(3)
    rows: list[dict[str, object]] = []
    for number in range(circuits):
        drawn = random_product(2, number, chance)
        if drawn is None:
            continue
        circuit, distribution = drawn
        found, mean = audit(*drawn), np.asarray(distribution.mean)
        delta = min(found.slack_with_inputs, float(np.min(1 - np.abs(mean)) / 2))
        mirror = pl.Mixture([distribution, pl.Product(circuit, -mean)], [0.5, 0.5])
        mixed = audit(circuit, mirror).property_2
        rows.append({"holds": delta > 0 and found.property_1, "independent": found.property_2, "mixed": mixed,
                     "over_bound": found.least_probability / (delta**2 / 4) if delta > 0 else math.nan})  # fmt: skip
    return rows


def lemma5(circuits: int) -> list[dict[str, object]]:
    """Nodes of parity circuits that differ from the product below them, at random points."""
    points = 200
    rows: list[dict[str, object]] = []
    for number in range(circuits):
        chance = np.random.default_rng(number)
        n = 2 ** int(chance.integers(2, 7))
        support = np.flatnonzero(chance.integers(0, 2, n))
        circuit = pl.targets.parity_circuit(n, [int(i) for i in support])
        x = 2.0 * chance.integers(0, 2, (points, n)) - 1
        inside = np.where(np.isin(np.arange(n), support), x, 1.0)
        levels = jax.vmap(circuit.gate_outputs)(jnp.asarray(x, jnp.float32))
        wrong = sum(int(np.sum(np.asarray(level) != inside.reshape(points, level.shape[1], -1).prod(axis=2)))
                    for level in levels[:-1])  # fmt: skip
        rows.append({"wrong": wrong, "nodes": points * (n - 1)})
    return rows


def lemma8(circuits: int) -> list[dict[str, object]]:
    """How far correlations are from (2/3)^i under the generative distribution, and under uniform bits."""
    rows: list[dict[str, object]] = []
    for number in range(circuits):
        depth = 1 + number % 6
        circuit = pl.targets.random_circuit(2**depth, key=pl.root_key(number))
        off = lambda distribution, circuit=circuit: max(
            float(np.abs(np.abs(level) - (2 / 3) ** i).max())
            for i, level in enumerate(node_correlations(circuit, gate_tables(circuit, distribution)))
        )
        rows.append({"off": off(pl.distributions.Generative(circuit)), "off_uniform": off(pl.Uniform(circuit))})
    return rows


def lemma9(circuits: int) -> list[dict[str, object]]:
    """The distance of Gamma_i(D^(i)) from D^(i - 1), and that of Gamma_i of uniform bits."""
    rows: list[dict[str, object]] = []
    for number in range(circuits):
        depth = 1 + number % 3
        circuit = pl.targets.random_circuit(2 ** (depth + 1), key=pl.root_key(number))
        tables = np.asarray(circuit.tables)
        upper = pl.TreeCircuit(2**depth, tables[: 2**depth - 1])
        gates = np.asarray(by_pattern(np.asarray(tables[2**depth - 1 :], float)))
        x = np.asarray(cube(2 ** (depth + 1)))
        pattern = ((x[:, 0::2] < 0) + 2 * (x[:, 1::2] < 0)).astype(int)
        z = gates[np.arange(2**depth), pattern]
        above = ((z < 0) @ 2 ** np.arange(2**depth)).astype(int)
        push = lambda mass, above=above, depth=depth: np.bincount(above, mass, 2**2**depth)
        of = lambda target: np.asarray(pl.distributions.Generative(target).support()[2], float)
        distance = lambda mass, upper=upper, push=push, of=of: float(np.abs(push(mass) - of(upper)).sum() / 2)
        rows.append({"distance": distance(of(circuit)), "distance_uniform": distance(np.full(len(x), 1 / len(x)))})
    return rows


def bessel(networks: int) -> list[dict[str, object]]:
    """Squared gradients of the correlation with all parities, over the mean square of the network's own derivative.

    For networks with weights of the default initialization, first layer; `biased` with P[x_i = 1] = 0.9 for every bit.
    """
    x = np.asarray(cube(QUERIES_N), float)
    parities = np.stack([x[:, list(s)].prod(axis=1) for s in itertools.combinations(range(QUERIES_N), QUERIES_K)])
    laws = {"uniform": np.full(len(x), 1 / len(x)), "biased": np.where(x > 0, P, 1 - P).prod(axis=1)}
    rows: list[dict[str, object]] = []
    for seed in range(networks):
        chance, size = np.random.default_rng(seed), 1 / math.sqrt(QUERIES_N)
        weights = chance.uniform(-size, size, (UNITS, QUERIES_N + 1))
        output = chance.uniform(-1, 1, UNITS) / math.sqrt(UNITS)
        active = (x @ weights[:, :-1].T + weights[:, -1] > 0) * output
        derivative = (active[:, :, None] * x[:, None, :]).reshape(len(x), -1)
        row: dict[str, object] = {"network": seed}
        for name, law in laws.items():
            squares = ((parities * law) @ derivative) ** 2
            row[name] = float(squares.sum() / (law @ derivative**2).sum())
        rows.append(row)
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    for n in COUNTED:
        yield Call(functions, {"n": n}, labels={"part": "functions"}, seconds=1.0)
    for part, function in PARTS.items():
        yield Call(function, {"circuits": settings.circuits}, labels={"part": part}, seconds=5.0)
    yield Call(bessel, {"networks": settings.networks}, labels={"part": "bessel"}, seconds=2.0)


PARTS = {"lemma3": lemma3, "lemma5": lemma5, "lemma8": lemma8, "lemma9": lemma9}


def claims(settings: Settings) -> Iterator[Claim]:
    """Exact but for the choice of circuits and networks."""
    part = lambda table, name: table[table.part == name]
    yield from map(count_claim, COUNTED)
    statement = "so the class grows like 6^n; the factor per input from n = 4 to 8"
    measure = lambda table: exactly((counted(table)[8] / counted(table)[4]) ** 0.25)
    null = Null("all Boolean functions", 2.0**60)
    yield Claim("class/growth", statement, 6.0, Region(5.9, 6.1), measure, null=null)
    yield from lemma_claims(f"{settings.circuits} random circuits")
    of = f"{settings.networks} networks of {UNITS} units, all parities of {QUERIES_K} of {QUERIES_N} uniform bits"
    statement = (
        "the squared gradients of all parities sum to at most the mean square of a network's derivative "
        f"({of}); the largest ratio"
    )
    measure = lambda table: largest(part(table, "bessel").uniform)
    null = Null(f"bits with p = {P}", lambda table: float(part(table, "bessel").biased.min()))
    yield Claim("queries/bessel", statement, None, Region(0.0, 1.0), measure, theory="at most 1", null=null)
    statement = (
        f"parities of log n bits take n^Omega(log n) queries (tolerance 1/n, n = {SIZES[0]} to {SIZES[-1]}); how much "
        "the power of n rises from the lower half of the range to the upper"
    )
    null = Null("any power of n", 0.0)
    yield Claim("queries/growth", statement, None, Region(low=0.5), lambda _: exactly(growth()), null=null)


def count_claim(n: int) -> Claim:
    count, measure = pl.targets.count_of_functions(n), lambda table: exactly(counted(table)[n])
    statement = f"tree circuits on {n} inputs compute (2 6^n + 8) / 5 functions; the number counted"
    return Claim(f"class/n{n}", statement, None, Region(count, count), measure, theory=count, null=IDENTITY)


def lemma_claims(of: str) -> Iterator[Claim]:
    part = lambda table, name: table[table.part == name]
    met = lambda table: part(table, "lemma3")[part(table, "lemma3").holds == True]  # noqa: E712 (objects)
    statement = (
        "under a product distribution with local correlation every pattern that occurs has probability at least "
        f"Delta^2 / 4 ({of}, those that have it); the least ratio"
    )
    measure, null = lambda table: least(met(table).over_bound), Null("a pattern that hardly occurs", 0.0)
    yield Claim("lemma3/frequent", statement, "at least 1", Region(low=1.0), measure, null=null)
    statement = f"and patterns are independent of the label given their gate ({of}); the fraction"
    truth = lambda column: column.astype(bool)
    measure = lambda table: share(truth(part(table, "lemma3").independent))
    null = Null("mixtures with the mirror image", lambda table: float(truth(part(table, "lemma3").mixed).mean()))
    yield Claim("lemma3/independent", statement, None, Region(1.0, 1.0), measure, theory=1.0, null=null)
    statement = (
        f"every node of a parity's circuit is the product of the support below it ({of}, n to 64, 200 points each); "
        "the number of nodes that are not"
    )
    measure = lambda table: exactly(part(table, "lemma5").wrong.sum())
    null = Null("another parity", lambda table: float(part(table, "lemma5").nodes.sum() / 2))
    yield Claim("lemma5", statement, None, Region(0.0, 0.0), measure, theory=0.0, null=null)
    statement = f"node (i, j) has |c| = (2/3)^i, at least (2/3)^d ({of}, depth 1 to 6); the largest distance"
    measure = lambda table: largest(part(table, "lemma8").off)
    null = Null("uniform bits", lambda table: float(part(table, "lemma8").off_uniform.max()))
    yield Claim("lemma8", statement, None, Region(0.0, 1e-9), measure, theory=0.0, null=null)
    statement = f"gates take D^(i) to D^(i - 1) ({of}, to 16 inputs, all points); the largest total variation"
    measure = lambda table: largest(part(table, "lemma9").distance)
    null = Null("uniform bits", lambda table: float(part(table, "lemma9").distance_uniform.max()))
    yield Claim("lemma9", statement, None, Region(0.0, 1e-5), measure, theory=0.0, null=null)


def counted(table: pd.DataFrame) -> "pd.Series[float]":
    """Functions by n."""
    return table[table.part == "functions"].set_index("n").functions


def queries(n: int) -> float:
    return parity_queries(n, n.bit_length() - 1, tolerance=1 / n).value


def growth() -> float:
    """The power of n over the upper half of the sizes, less that over the lower half."""
    half = len(SIZES) // 2
    lower, upper = (
        power_law(np.array(part, float), np.array([queries(n) for n in part])).exponent
        for part in (SIZES[: half + 1], SIZES[half:])
    )
    return upper - lower


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Sizes of the class, gradients of parities, and queries."""
    figure, axes = panels(1, 3, width=3.4, height=2.8)
    left, centre, right = axes[0]
    known, n = counted(table), np.array(COUNTED)
    left.plot(n, [known[size] for size in n], "o", color=INKS[0], label="counted")
    left.plot(n, [pl.targets.count_of_functions(int(size)) for size in n], color=INKS[0], linewidth=1,
              label="$(2\\cdot 6^n+8)/5$")  # fmt: skip
    dress(left, yscale="log", xlabel="inputs n", ylabel="functions of tree circuits", legend="upper left", size=8)
    ratios = table[table.part == "bessel"]
    for i, (name, words) in enumerate((("uniform", "uniform bits"), ("biased", f"p = {P}"))):
        centre.plot(np.sort(ratios[name].to_numpy(float)), "os"[i], color=INKS[i], markersize=3, label=words)
    centre.axhline(1, color="0.4", linewidth=0.8, linestyle="--", label="Bessel")
    room = (float(ratios.uniform.min()) / 3, 5000)  # for the legend
    dress(centre, yscale="log", ylim=room, xlabel="networks, in order", ylabel="squared gradients / mean square",
          legend="upper right", size=8)  # fmt: skip
    sizes = np.array(SIZES, float)
    right.plot(sizes, [queries(size) for size in SIZES], "o-", color=INKS[0], markersize=4, label="log n bits")
    right.plot(sizes, sizes**4 / sizes[0] ** 4 * queries(SIZES[0]), "--", color="0.5", label="$n^4$")
    dress(right, xscale="log", yscale="log", xlabel="n", ylabel="queries of tolerance 1/n", legend="upper left", size=8)
    return shown("statements", figure, "The class, and why gradients do not learn all of it")
