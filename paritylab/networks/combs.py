"""Combs: explicit networks of depth two on products of gates, of as many units as pairs, with a 0-1 error below 1/2.

The product is (-1)^(n - K), K the number of gates at +1. With q_i = 1 where gate i is not at its more likely value
o_i, which one ReLU unit tells, 2 q_i = relu(-o_i (x_i + z_i)), K is the number of ORs less the sum of o_i q_i: a sum
of n units with weights of size one is linear in K, and changes its sign once, between two neighbouring values. On these
and on every other value on either side it is right. A polynomial of degree d in K changes its sign d times, is right
on d + 1 neighbouring values, and is a sum of one unit for each set of at most d pairs (depth-separation).

With an odd number of sign changes a comb has no error where all gates are equal, the easy half E1.
"""

import dataclasses
import functools
import itertools
import math

import numpy as np
from jaxtyping import Bool, Float

from ..demands import check_kind, check_whole
from ..targets import GateProduct
from .activations import relu
from .base import as_floats
from .gate_products import LARGEST_WIDTH, PolynomialWindow
from .mlp import FeedForward, Layer


@dataclasses.dataclass(frozen=True)
class Comb:
    """The polynomial in K of degree `changes` that is right for K = start, ..., start + changes.

    >>> comb = best_comb(11, 10)
    >>> comb.start, comb.width, round(comb.error, 4), comb.easy_error
    (10, 21, 0.3973, 0.0)
    """

    ors: int
    """The number of ORs."""
    ands: int
    changes: int
    start: int

    def __post_init__(self) -> None:
        _check(self.ors, self.ands, self.changes)
        check_whole("start", self.start)
        if not 0 <= self.start <= self.pairs - self.changes:
            raise ValueError(
                f"A comb is right for {self.changes + 1} neighbouring numbers of gates in 0 to {self.pairs}, got "
                f"start={self.start}. Use `best_comb`."
            )

    @property
    def pairs(self) -> int:
        """n, the number of gates."""
        return self.ors + self.ands

    @property
    def width(self) -> int:
        """One unit for each set of 1 to `changes` pairs."""
        return sum(math.comb(self.pairs, size) for size in range(1, self.changes + 1))

    def value(self, count: int) -> int:
        """N where `count` gates are at +1, an integer."""
        return (-1) ** self.pairs * PolynomialWindow(self.pairs, self.changes, self.start).value(count)

    @functools.cached_property
    def margins(self) -> Float[np.ndarray, " counts"]:
        """y N for K = 0, ..., n: 1 in the window."""
        return np.array([float((-1) ** (self.pairs - count) * self.value(count)) for count in range(self.pairs + 1)])

    @property
    def probabilities(self) -> Float[np.ndarray, " counts"]:
        """The law of K on uniform points: a sum of binomial numbers, of the ORs with 3/4 and of the ANDs with 1/4."""
        return law_of_count(self.ors, self.ands)

    @property
    def right(self) -> Bool[np.ndarray, " counts"]:
        """Whether N has the sign of y for K = 0, ..., n: in the window, and at every other K beyond it."""
        counts, end = np.arange(self.pairs + 1), self.start + self.changes
        beyond = np.maximum(np.maximum(self.start - counts, counts - end), 0)
        return beyond % 2 == 0

    @property
    def error(self) -> float:
        """The exact error on uniform points."""
        return float(self.probabilities @ ~self.right)

    @property
    def easy_error(self) -> float:
        """The exact error where all gates are equal and the sign is fair (E1); n is odd there."""
        if self.pairs % 2 == 0:
            raise ValueError(
                f"The easy half E1 has an odd number of gates, got {self.pairs}: the shared sign would cancel. Its "
                "error on uniform points is known for any."
            )
        return float(np.mean(~self.right[[0, -1]]))

    @property
    def hinge(self) -> float:
        """The exact hinge loss on uniform points: above 1, for it is right by little and wrong by much."""
        return float(self.probabilities @ np.maximum(1 - self.margins, 0))

    def coefficient(self, ors: int, ands: int) -> int:
        """That of the product of the q_i of so many ORs and ANDs: a difference of N, as K falls by the one and rises by
        the other."""
        terms = (
            math.comb(ors, i) * math.comb(ands, j) * (-1) ** (ors + ands - i - j) * self.value(self.ors - i + j)
            for i, j in itertools.product(range(ors + 1), range(ands + 1))
        )
        return sum(terms)


@functools.cache
def law_of_count(ors: int, ands: int) -> Float[np.ndarray, " counts"]:
    """P[K = k] on uniform points, k = 0, ..., n.

    >>> law_of_count(1, 1).tolist()
    [0.1875, 0.625, 0.1875]
    """
    first, second = (
        np.array([math.comb(n, k) * p**k * (4 - p) ** (n - k) / 4**n for k in range(n + 1)])
        for n, p in ((ors, 3), (ands, 1))
    )
    return np.convolve(first, second)


def best_comb(ors: int, ands: int, changes: int = 1) -> Comb:
    """The comb of least error on uniform points among those without an error where all gates are equal.

    Its error is 1/2 - 0.46 / sqrt(n) for one sign change and many gates.

    >>> [round(best_comb(n // 2 + 1, n // 2).error, 3) for n in (21, 25, 51, 101)]
    [0.397, 0.406, 0.437, 0.454]
    """
    _check(ors, ands, changes)
    if changes % 2 == 0:
        raise ValueError(
            f"A comb with an even number of sign changes, got changes={changes}, has one sign where all gates are true "
            "and where all are false: it errs on half of the easy half. Use an odd number."
        )
    n = ors + ands
    starts = range((n - changes) % 2, n - changes + 1, 2)  # then it is +1 for K = n
    return min((Comb(ors, ands, changes, start) for start in starts), key=lambda comb: comb.error)


def comb_network(target: GateProduct, comb: Comb | None = None) -> FeedForward:
    """A comb as a network with one hidden layer of ReLU units, the best with one sign change if none is given.

    That all of j given pairs have q = 1 is relu(-sum of o_i (x_i + z_i) - 2 (j - 1)) / 2, one unit.

    >>> network = comb_network(GateProduct(("OR", "AND", "OR")))
    >>> network.hidden[0].weight.shape, network.output.weight.tolist(), float(network.output.bias)
    ((3, 6), [-1.0, 1.0, -1.0], -1.0)
    """
    check_kind("target", target, GateProduct, "a product of gates, such as GateProduct(('OR', 'AND'))")
    n, o = target.pairs, np.asarray(target.ors, float)
    ors = int(np.sum(o > 0))
    comb = best_comb(ors, n - ors) if comb is None else comb
    if (comb.ors, comb.ands) != (ors, n - ors):
        raise ValueError(
            f"The comb is made for {comb.ors} ORs and {comb.ands} ANDs, got a product of {ors} and {n - ors}."
        )
    if comb.width > LARGEST_WIDTH:
        raise ValueError(
            f"A network has at most {LARGEST_WIDTH:,} units here, got {comb.width:,}; the comb has its "
            "width and error for any size."
        )
    sizes = range(1, comb.changes + 1)
    sets = [chosen for size in sizes for chosen in itertools.combinations(range(n), size)]
    members = np.zeros((len(sets), n))
    for unit, chosen in enumerate(sets):
        members[unit, list(chosen)] = 1
    of_ors, in_all = (members @ (o > 0)).astype(int), members.sum(axis=1).astype(int)
    known = {(i, j - i): comb.coefficient(i, j - i) for j in sizes for i in range(j + 1)}
    outputs = np.array(
        [known[first, size - first] for first, size in zip(of_ors.tolist(), in_all.tolist(), strict=True)]
    )
    hidden = Layer(as_floats(-np.hstack([members * o, members * o])), as_floats(-2.0 * (in_all - 1)))
    return FeedForward((hidden,), Layer(as_floats(outputs / 2), as_floats(comb.value(ors))), relu)


def _check(ors: int, ands: int, changes: int) -> None:
    check_whole("ors", ors)
    check_whole("ands", ands)
    check_whole("changes", changes)
    if min(ors, ands) < 0 or not 1 <= changes <= ors + ands:
        raise ValueError(
            f"A comb needs gates, and from one sign change to as many as gates, got ors={ors}, ands={ands} and "
            f"changes={changes}."
        )
