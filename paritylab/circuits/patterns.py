"""The input patterns of the gates of one level, jointly with the label: counted or exact.

Once a level is trained its gates give signs, and the next level depends on the examples through a table of patterns
alone: counted over a sample (or over the support with its weights), or computed exactly for distributions under which
what is below a node depends on the rest through that node alone.
"""

import abc
import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Array, Bool, Float, UInt64

from ..targets import TreeCircuit
from ..targets.gates import PATTERNS, by_pattern
from .gate_training import Four

NEVER = 1e-12
"""A pattern whose probability is below this does not occur: float64 sums of weights are that exact."""
WORD = 64
ALL, NONE = np.uint64(2**WORD - 1), np.uint64(0)


class AbstractPatterns(abc.ABC):
    """The patterns of the inputs of the gates of one level, and the label."""

    @property
    @abc.abstractmethod
    def gates(self) -> int:
        """The number of gates of the level."""

    @abc.abstractmethod
    def tables(self) -> tuple[Four, Four]:
        """P(p) and E[y 1{p}] of each gate and pattern."""

    @abc.abstractmethod
    def above(self, outputs: Four) -> "AbstractPatterns":
        """The patterns of the next level, where these gates give these signs."""


@dataclasses.dataclass(frozen=True, eq=False)
class SamplePatterns(AbstractPatterns):
    """Patterns counted over examples: a sample, or with `mass` every point of a support and its probability.

    >>> from paritylab.cube import cube
    >>> x = np.asarray(cube(2))
    >>> [table.tolist() for table in SamplePatterns(x, x[:, 0] * x[:, 1]).tables()]
    [[[0.25, 0.25, 0.25, 0.25]], [[0.25, -0.25, -0.25, 0.25]]]
    """

    x: Float[np.ndarray | Array, "points inputs"]
    y: Float[np.ndarray | Array, " points"]
    mass: Float[np.ndarray, " points"] | None = None

    def __post_init__(self) -> None:
        points, inputs = self.x.shape
        if points < 1 or (inputs % 2 and inputs != 1) or len(self.y) != points:  # one is the output of the last gate
            raise ValueError(
                f"Patterns need points of an even number of signs and one label each, got x {self.x.shape} "
                f"and y {self.y.shape}."
            )

    @property
    def gates(self) -> int:
        return self.x.shape[1] // 2

    def tables(self) -> tuple[Four, Four]:
        """From six moments of each gate: E[x1], E[x2], E[x1 x2], and the same times y."""
        points = len(self.y)
        exact = np.float32 if self.mass is None and points < 2**24 else float  # sums of so many signs are exact
        x = np.asarray(self.x, exact)
        labelled = np.stack([np.ones(points), np.asarray(self.y, float)])
        weights = (labelled if self.mass is None else labelled * self.mass).astype(exact)
        single, both = weights @ x, weights @ (x[:, 0::2] * x[:, 1::2])
        moments = [np.asarray(each, float) for each in (single[:, 0::2], single[:, 1::2], both)]
        total = weights.astype(float).sum(axis=1)[:, None]
        scale = total[0, 0]
        found = [
            (total + p * moments[0] + q * moments[1] + p * q * moments[2]) / (4 * scale) for p, q in PATTERNS.tolist()
        ]
        probability, signal = np.stack(found, axis=-1)
        return probability, signal

    def above(self, outputs: Four) -> "SamplePatterns":
        """By each gate's polynomial in its two inputs, which is exact for signs and faster than a lookup."""
        x = np.asarray(self.x)
        first, second = x[:, 0::2], x[:, 1::2]
        characters = np.stack([np.ones(4), *PATTERNS.T, PATTERNS[:, 0] * PATTERNS[:, 1]], axis=1)
        constant, of_first, of_second, of_both = (outputs @ characters / 4).T.astype(x.dtype)
        values = constant + of_second * second + first * (of_first + of_both * second)
        return SamplePatterns(values, self.y, self.mass)


@dataclasses.dataclass(frozen=True, eq=False)
class PackedPatterns(AbstractPatterns):
    """Patterns counted over a sample of signs that are kept as single bits, 64 examples a word: for large samples.

    A bit is 1 where the sign is -1, and 0 beyond the last example. `PackedPatterns.of` packs a sample.

    >>> packed = PackedPatterns.of(np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0, -1.0]))
    >>> [table.round(3).tolist() for table in packed.tables()]
    [[[0.333, 0.333, 0.333, 0.0]], [[0.333, -0.333, -0.333, 0.0]]]
    """

    points: int
    inputs: UInt64[np.ndarray, "inputs words"]
    labels: UInt64[np.ndarray, " words"]

    @classmethod
    def of(
        cls, x: Float[np.ndarray | Array, "points inputs"], y: Float[np.ndarray | Array, " labels"]
    ) -> "PackedPatterns":
        """A sample, packed: what is below 0 counts as -1."""
        if not len(x) or len(x) != len(y):
            raise ValueError(f"Patterns need points and one label each, got x {x.shape} and y {y.shape}.")
        return cls(len(x), _packed(np.asarray(x).T), _packed(np.asarray(y)[None])[0])

    def first(self, points: int) -> "PackedPatterns":
        """The same of the first examples alone."""
        if not 1 <= points <= self.points:
            raise ValueError(f"This sample has 1 to {self.points} examples, got points={points}.")
        words = -(-points // WORD)
        inputs, labels = self.inputs[:, :words].copy(), self.labels[:words].copy()
        inputs[:, -1] &= _within(points)
        labels[-1] &= _within(points)
        return dataclasses.replace(self, points=points, inputs=inputs, labels=labels)

    @classmethod
    def joined(cls, parts: Sequence["PackedPatterns"]) -> "PackedPatterns":
        """Samples one after the other; all but the last must fill their words."""
        if any(part.points % WORD for part in parts[:-1]):
            raise ValueError(
                f"Only the last of joined samples may have a number of examples that is no multiple of {WORD}."
            )
        inputs = np.concatenate([part.inputs for part in parts], axis=1)
        return cls(sum(part.points for part in parts), inputs, np.concatenate([part.labels for part in parts]))

    @property
    def gates(self) -> int:
        return len(self.inputs) // 2

    def tables(self) -> tuple[Four, Four]:
        """From counts of -1: of each input, of both, and the same where the label is -1."""
        first, second = self.inputs[0::2], self.inputs[1::2]
        all_of_them = _counts(first, second, self.points)
        negative = _counts(first & self.labels, second & self.labels, int(np.bitwise_count(self.labels).sum()))
        return all_of_them / self.points, (all_of_them - 2 * negative) / self.points

    def above(self, outputs: Four) -> "PackedPatterns":
        """By each gate's polynomial over two elements."""
        first, second = self.inputs[0::2], self.inputs[1::2]
        bits = outputs < 0
        polynomial = (bits[:, 0], bits[:, 0] ^ bits[:, 1], bits[:, 0] ^ bits[:, 2], np.logical_xor.reduce(bits, axis=1))
        constant, of_first, of_second, of_both = (np.where(each, ALL, NONE)[:, None] for each in polynomial)
        values = constant ^ (of_first & first) ^ (of_second & second) ^ (of_both & first & second)
        values[:, -1] &= _within(self.points)
        return dataclasses.replace(self, inputs=values)


def _packed(signs: np.ndarray) -> UInt64[np.ndarray, "rows words"]:
    rows, points = signs.shape
    whole = np.zeros((rows, 8 * -(-points // WORD)), np.uint8)
    whole[:, : -(-points // 8)] = np.packbits(np.ascontiguousarray(signs < 0), axis=1, bitorder="little")
    return whole.view(np.uint64)


def _within(points: int) -> np.uint64:
    """The bits of the last word that are examples."""
    return np.uint64(ALL if points % WORD == 0 else (1 << points % WORD) - 1)


def _counts(first: np.ndarray, second: np.ndarray, points: int) -> Four:
    """The count of each pattern among `points` examples."""
    of_first, of_second, of_both = (
        np.bitwise_count(each).sum(axis=1, dtype=np.int64) for each in (first, second, first & second)
    )
    counts = (points - of_first - of_second + of_both, of_first - of_both, of_second - of_both, of_both)
    return np.stack(counts, axis=1).astype(float)


@dataclasses.dataclass(frozen=True, eq=False)
class TreePatterns(AbstractPatterns):
    """Exact patterns where the inputs below a node are independent of the rest of the circuit given that node.

    Product distributions and the generative one have this property, mixtures do not. `probability` and `signal` are
    the tables of the true gates, as `gate_tables` gives them. Every node keeps the probability of its
    learned value given its true value (its `channel`), so that wrongly learned circuits are followed exactly too, at
    any depth.

    >>> from paritylab.targets import circuit_from_formula
    >>> circuit = circuit_from_formula("AND(x0,x1)")
    >>> chance, signal = np.full((1, 4), 0.25), np.array([[0.25, -0.25, -0.25, -0.25]])
    >>> wrong = TreePatterns(circuit, chance, signal).above(np.array([[1.0, 1.0, 1.0, -1.0]]))
    >>> wrong.mistakes.tolist()  # OR in the place of AND
    [0.5]
    """

    circuit: TreeCircuit
    probability: Four
    signal: Four
    channel: Float[np.ndarray, "nodes 2 2"] | None = None
    """P(learned value | true value) at [node, true, learned], 0 for +1 and 1 for -1; at first the inputs are known."""

    @property
    def nodes(self) -> int:
        """The number of inputs of the level."""
        return self.circuit.n if self.channel is None else len(self.channel)

    @property
    def gates(self) -> int:
        return self.nodes // 2

    def _here(self) -> slice:
        return slice(self.gates - 1, 2 * self.gates - 1)

    def _seen(self, table: Four) -> Four:
        """A table of true patterns as one of learned patterns; the channels of the two inputs are independent."""
        if self.channel is None:
            return table
        squares = table.reshape(-1, 2, 2)  # the second input is the higher bit
        seen = np.einsum("gdc,gca,gdb->gba", squares, self.channel[0::2], self.channel[1::2])
        return seen.reshape(-1, 4)

    def tables(self) -> tuple[Four, Four]:
        return self._seen(self.probability[self._here()]), self._seen(self.signal[self._here()])

    def above(self, outputs: Four) -> "TreePatterns":
        truth = np.asarray(by_pattern(np.asarray(self.circuit.tables, float)))[self._here()]
        chance = self.probability[self._here()]
        channel = np.zeros((self.gates, 2, 2))
        for value, sign in enumerate((1.0, -1.0)):
            seen = self._seen(np.where(truth == sign, chance, 0.0))
            total = np.maximum(seen.sum(axis=1), np.finfo(float).tiny)
            for learned, output in enumerate((1.0, -1.0)):
                channel[:, value, learned] = np.sum(np.where(outputs == output, seen, 0.0), axis=1) / total
        return dataclasses.replace(self, channel=channel)

    @property
    def _wrong(self) -> Float[np.ndarray, "nodes 2"]:
        """P(learned differs) and P(learned agrees) of each node: the second is wrong up to its sign."""
        if self.channel is None:
            return np.zeros((self.circuit.n, 2))
        here = slice(self.nodes - 1, 2 * self.nodes - 1)
        truth = np.asarray(by_pattern(np.asarray(self.circuit.tables, float)))[here]
        up = np.sum(np.where(truth > 0, self.probability[here], 0), axis=1)
        differs = up * self.channel[:, 0, 1] + (1 - up) * self.channel[:, 1, 0]
        agrees = up * self.channel[:, 0, 0] + (1 - up) * self.channel[:, 1, 1]
        return np.stack([differs, agrees], axis=1)

    @property
    def mistakes(self) -> Float[np.ndarray, " nodes"]:
        """P(learned value differs from true value) at each node of the last level trained."""
        return self._wrong[:, 0]

    @property
    def recovered(self) -> Bool[np.ndarray, " nodes"]:
        """Whether each node of that level gives its true value, or always its negative."""
        return np.min(self._wrong, axis=1) <= NEVER
