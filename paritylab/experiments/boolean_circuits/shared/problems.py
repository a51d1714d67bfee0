"""Circuits with a distribution of inputs that several experiments of this paper learn, and samples of them.

Not an experiment. It stays in this place because the names of stored runs contain that of `RandomGenerative`.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, PRNGKeyArray

import paritylab as pl

from ....circuits import AbstractPatterns, GateTables, audit
from ....distributions import AbstractDistribution
from ....distributions.points import chunks
from ....targets.gates import by_pattern


class Problem(NamedTuple):
    """A circuit, its distribution, and what theory says of them."""

    circuit: pl.TreeCircuit
    distribution: AbstractDistribution
    tables: GateTables
    regularizer: float
    """E[y] + Delta / 4, as the theorems have it."""
    slack: float
    least: float
    """epsilon, the least probability of a pattern."""
    samples: float
    """What the sign test predicts, with this regularizer."""
    matters: Bool[np.ndarray, " gates"]

    @property
    def patterns(self) -> pl.circuits.TreePatterns:
        """What the lowest gates see of the whole population."""
        return pl.circuits.TreePatterns(self.circuit, self.tables.probability, self.tables.signal)

    def error_of(self, learned: pl.TreeCircuit) -> float:
        """The exact error of a circuit that was learned."""
        return float(pl.circuits.follow(self.patterns, learned)[0][0])


def problem(circuit: pl.TreeCircuit, distribution: AbstractDistribution) -> Problem:
    """The theory of a circuit under a distribution."""
    first = audit(circuit, distribution)
    regularizer = first.tables.label_mean + first.slack / 4
    found = audit(circuit, first.tables, regularizer=regularizer)
    matters = (found.influence > 0) & (np.abs(found.tables.mean) < 1 - 1e-9)
    known = found.slack, found.least_probability, found.samples
    return Problem(circuit, distribution, found.tables, regularizer, *known, matters)


def generative(depth: int, seed: int) -> Problem:
    """A random AND/OR/NAND/NOR circuit under its generative distribution (Section 5.2)."""
    circuit = pl.targets.random_circuit(2**depth, key=pl.root_key(seed))
    return problem(circuit, pl.distributions.Generative(circuit))


def biased_parity(depth: int, seed: int, means: tuple[float, float] = (0.4, 0.6)) -> Problem:
    """The parity of log n random bits of n, whose bits have random means of a size in a range (Section 5.1)."""
    n, chance = 2**depth, np.random.default_rng(seed)
    support = np.sort(chance.choice(n, depth, replace=False))
    mean = chance.uniform(*means, n) * chance.choice([-1, 1], n)
    if np.prod(mean[support]) < 0:  # E[y] >= 0 without loss of generality
        mean[support[0]] *= -1
    circuit = pl.targets.parity_circuit(n, [int(i) for i in support])
    return problem(circuit, pl.Product(circuit, mean))


BOTH = tuple(name for name in pl.targets.GATES if not name.endswith(("TRUE", "FALSE", "FIRST", "SECOND")))
"""The gates that depend on both inputs; the paper takes others out of a circuit beforehand."""
LEAST_SLACK = 0.02
"""The least Delta of the circuits on which Theorem 2 is tried: a sample's size goes like its inverse square."""


def random_product(depth: int, key: int, chance: np.random.Generator) -> tuple[pl.TreeCircuit, pl.Product] | None:
    """A random circuit of gates that depend on both inputs under a random product distribution; None if constant."""
    circuit = pl.targets.random_circuit(2**depth, BOTH, key=pl.root_key(key))
    mean = chance.uniform(-0.8, 0.8, circuit.n)
    label = float(circuit.gate_means(mean)[0][0])
    if abs(label) > 1 - 1e-6:
        return None  # nothing to learn
    if label < 0:  # E[y] >= 0 without loss of generality
        tables = np.asarray(circuit.tables).copy()
        tables[0] *= -1
        circuit = pl.TreeCircuit(circuit.n, tables)
    return circuit, pl.Product(circuit, mean)


def product_circuit(depth: int, seed: int) -> Problem:
    """The first random circuit of a seed with the assumptions of Theorem 2 and a Delta that is not too small."""
    chance = np.random.default_rng(seed)
    while True:
        drawn = random_product(depth, int(chance.integers(2**31)), chance)
        if drawn is not None:
            found = audit(*drawn)
            if found.property_1 and found.property_2 and found.slack >= LEAST_SLACK:
                return problem(*drawn)


def razborov_sherstov(depth: int, seed: int) -> Problem:
    """f_m, of depth 1 + 3 log2 m, under its generative distribution (Corollary 13); the seed is that of a sample."""
    circuit = pl.targets.razborov_sherstov(2 ** ((depth - 1) // 3))
    return problem(circuit, pl.distributions.Generative(circuit))


FAMILIES: dict[str, Callable[[int, int], Problem]] = {
    "generative": generative,
    "biased parity": biased_parity,
    "product": product_circuit,
    "razborov-sherstov": razborov_sherstov,
}


@dataclasses.dataclass(frozen=True, eq=False)
class HeldPatterns(AbstractPatterns):
    """Patterns of a sample where gates without influence give +1, whatever they learned."""

    patterns: AbstractPatterns
    matters: Bool[np.ndarray, " gates_of_all_levels"]

    @property
    def gates(self) -> int:
        return self.patterns.gates

    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        return self.patterns.tables()

    def above(self, outputs: np.ndarray) -> "HeldPatterns":
        here = self.matters[self.gates - 1 : 2 * self.gates - 1]
        return HeldPatterns(self.patterns.above(np.where(here[:, None], outputs, 1.0)), self.matters)


def held(circuit: pl.TreeCircuit, matters: Bool[np.ndarray, " gates"]) -> pl.TreeCircuit:
    """The circuit with +1 in place of gates without influence."""
    return pl.TreeCircuit(circuit.n, np.where(matters[:, None, None], np.asarray(circuit.tables), 1.0))


def packed_sample(distribution: AbstractDistribution, size: int, seed: int) -> pl.circuits.PackedPatterns:
    """A sample in single bits, packed as it is drawn; a larger one from the same seed begins with it."""
    parts = [pl.circuits.PackedPatterns.of(x, y) for x, y in chunks(distribution, size, key=pl.root_key(seed))]
    return pl.circuits.PackedPatterns.joined(parts).first(size)


def safe_width(n: int, failure: float = 0.001) -> int:
    """Wide enough that with probability 1 - failure every gate starts with a unit for each pattern.

    4 (n - 1) (3/4)^width <= failure (Lemma 21 with the union over gates).
    """
    return math.ceil(math.log(4 * (n - 1) / failure) / math.log(4 / 3))


def wrong_points(circuit: pl.TreeCircuit, learned: pl.TreeCircuit, points: pl.circuits.PackedPatterns) -> int:
    """At how many points two circuits differ."""
    values = []
    for each in (circuit, learned):
        level = points
        outputs = np.asarray(by_pattern(np.asarray(each.tables, float)))
        while level.gates:
            level = level.above(outputs[level.gates - 1 : 2 * level.gates - 1])
        values.append(level.inputs[0])
    return int(np.bitwise_count(values[0] ^ values[1]).sum())


@dataclasses.dataclass(frozen=True)
class RandomGenerative:
    """Each run its own random AND/OR/NAND/NOR circuit under its generative distribution: a task for the engine."""

    n: int

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        return pl.distributions.Generative(pl.targets.random_circuit(self.n, key=key))
