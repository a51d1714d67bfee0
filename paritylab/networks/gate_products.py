"""Explicit weights for a product of ANDs and ORs: cheap in depth three, costly in depth two (depth-separation).

`gate_product_network` is the product with 2n units in two hidden layers: one unit a gate, then n units
for the parity of the gates' outputs. `polynomial_network` approximates it with one hidden layer: up to flips the
product is (-1)^C, where C is the number of pairs that are both false, and a polynomial of degree d
in C that alternates on d + 1 neighbouring values of C is a sum of one ReLU unit for each set of at
most d pairs. `PolynomialWindow` gives its width and its error under the uniform distribution.
"""

import dataclasses
import itertools
import math

import numpy as np
from jaxtyping import Float

from ..demands import check_kind
from ..targets import GateProduct
from .activations import Activation, relu
from .base import as_floats
from .mlp import FeedForward, Layer
from .neural_gates import hard_tanh

LARGEST_WIDTH = 2**16
"""The widest network that is written out; of wider ones the width and the error are known."""


def gate_product_network(target: GateProduct, activation: Activation = hard_tanh) -> FeedForward:
    """The product as a network of depth three, equal to it on the whole cube; hard-tanh or ReLU units, 2n of them.

    With hard-tanh units a gate is clip(x + z + o), o = +1 for OR and -1 for AND; the unit j above is
    clip(2(K - j) + 1), K the number of gates that are true (depth-separation). A ReLU
    unit relu(-o(x + z)) = 1 - o g(x, z) is a gate too, and ReLUs at n neighbouring sums turn from sign to sign.

    >>> network = gate_product_network(GateProduct(("OR", "AND", "OR")))
    >>> [layer.weight.shape for layer in network.hidden]
    [(3, 6), (3, 3)]
    >>> float(network(as_floats([-1.0, 1.0, -1.0, 1.0, 1.0, -1.0])))
    -1.0
    """
    check_kind("target", target, GateProduct, "a product of gates, such as GateProduct(('OR', 'AND'))")
    n, o = target.pairs, np.asarray(target.ors, float)
    pairs, steps = np.hstack([np.eye(n), np.eye(n)]), np.arange(1, n + 1)
    flips = (-1.0) ** (n - steps)  # a further true gate changes the sign of the product
    if activation is hard_tanh:
        gates = Layer(as_floats(pairs), as_floats(o))
        counts = Layer(as_floats(np.ones((n, n))), as_floats(n - 2.0 * steps + 1))
        return FeedForward((gates, counts), Layer(as_floats(flips), as_floats(1 - n % 2)), activation)
    if activation is relu:
        gates = Layer(as_floats(-o[:, None] * pairs), as_floats(np.zeros(n)))
        # The sum of the gates' outputs is sum(o) - sum(o h); K = (sum + n) / 2, with a kink at K = 0, ..., n - 1.
        counts = Layer(as_floats(np.tile(-o / 2, (n, 1))), as_floats((o.sum() + n) / 2 - np.arange(n)))
        turns = np.diff(2 * flips, prepend=0.0)
        return FeedForward((gates, counts), Layer(as_floats(turns), as_floats((-1.0) ** n)), activation)
    raise ValueError(f"Explicit products of gates are known for hard_tanh and relu units, got {activation!r}.")


@dataclasses.dataclass(frozen=True)
class PolynomialWindow:
    """The polynomial of least degree with p(C) = (-1)^C for C = start, ..., start + degree, on n pairs.

    >>> PolynomialWindow(pairs=8, degree=3, start=1).width, round(PolynomialWindow(8, 3, 1).error, 4)
    (92, 0.1236)
    """

    pairs: int
    degree: int
    start: int

    def __post_init__(self) -> None:
        if not (self.degree >= 0 and 0 <= self.start <= self.pairs - self.degree):
            raise ValueError(
                f"A window of {self.degree + 1} values from {self.start} on must lie in 0 to {self.pairs}, the number "
                "of pairs. Lower the degree or the start."
            )

    @property
    def width(self) -> int:
        """One unit for each set of 1 to `degree` pairs."""
        return sum(math.comb(self.pairs, size) for size in range(1, self.degree + 1))

    def value(self, count: int) -> int:
        """p(C), an integer: by Newton's formula (1 - 2)^C = sum over j of (-2)^j binom(C, j), shifted."""
        shifted = count - self.start
        terms = ((-2) ** j * _binomial(shifted, j) for j in range(self.degree + 1))
        return (-1) ** self.start * sum(terms)

    @property
    def margins(self) -> Float[np.ndarray, " counts"]:
        """(-1)^C p(C) for C = 0, ..., n: 1 in the window."""
        return np.array([float((-1) ** count * self.value(count)) for count in range(self.pairs + 1)])

    @property
    def probabilities(self) -> Float[np.ndarray, " counts"]:
        """The distribution of C on uniform points: binomial with 1/4."""
        n = self.pairs
        return np.array([math.comb(n, count) * 3 ** (n - count) / 4**n for count in range(n + 1)])

    @property
    def error(self) -> float:
        """The exact error on uniform points; outside the window every other C is right."""
        return float(self.probabilities @ (self.margins <= 0))

    @property
    def hinge(self) -> float:
        """The hinge loss under the uniform distribution: large, since p grows fast outside its window."""
        return float(self.probabilities @ np.maximum(1 - self.margins, 0))

    @property
    def coefficients(self) -> list[int]:
        """a_j in p(C) = sum of a_j binom(C, j): the differences of p at 0."""
        row = [self.value(count) for count in range(self.degree + 1)]
        found = []
        while row:
            found.append(row[0])
            row = [after - before for before, after in itertools.pairwise(row)]
        return found


def narrowest_polynomial(pairs: int, error: float = 0.1) -> PolynomialWindow:
    """The window of least degree, hence least width, that errs on at most this fraction (depth-separation).

    The width is n^O(sqrt(n)): a bound 2^Omega(n) on the size alone is false.

    >>> [narrowest_polynomial(n).width for n in (2, 3, 4, 5, 6, 7, 8, 9, 11, 15)]
    [2, 6, 10, 15, 41, 63, 92, 255, 561, 4943]
    """
    if pairs < 1 or not 0 <= error < 1:
        raise ValueError(f"Products have at least one pair, and 0 <= error < 1; got pairs={pairs} and error={error}.")
    for degree in range(pairs + 1):
        windows = [PolynomialWindow(pairs, degree, start) for start in range(pairs - degree + 1)]
        best = min(windows, key=lambda window: window.error)
        if best.error <= error:
            return best
    raise AssertionError("The polynomial of degree n is right everywhere.")


def polynomial_network(target: GateProduct, window: PolynomialWindow) -> FeedForward:
    """The polynomial as a network with one hidden layer of ReLU units, `window.width` of them.

    That j given pairs are all both false (both true, for an AND) is relu(1 - the number of their inputs that
    are not), one unit; binom(C, j) is the sum over all sets of j pairs.

    >>> network = polynomial_network(GateProduct(("OR", "OR")), PolynomialWindow(2, 1, 0))
    >>> [float(network(as_floats([a, 1.0, b, 1.0]))) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    [1.0, 1.0, 1.0, -1.0]
    """
    check_kind("target", target, GateProduct, "a product of gates, such as GateProduct(('OR', 'AND'))")
    n, o = target.pairs, np.asarray(target.ors, float)
    if window.pairs != n:
        raise ValueError(f"The polynomial is made for {window.pairs} pairs, got a product of {n} gates.")
    if not 1 <= window.width <= LARGEST_WIDTH:
        raise ValueError(
            f"A network has from 1 to {LARGEST_WIDTH:,} units here, got {window.width:,}; the window has its "
            "width and error for any size."
        )
    constant, *coefficients = window.coefficients
    sets = [chosen for size in range(1, window.degree + 1) for chosen in itertools.combinations(range(n), size)]
    members = np.zeros((len(sets), n))
    for unit, chosen in enumerate(sets):
        members[unit, list(chosen)] = 1
    sizes = members.sum(axis=1)
    # Where o x = -1 an input has the value that the gate needs; 2j of them are needed.
    weight = -0.5 * np.hstack([members * o, members * o])
    outputs = np.array(coefficients, float)[sizes.astype(int) - 1]
    sign = float(np.prod(o))
    hidden = Layer(as_floats(weight), as_floats(1 - sizes))
    return FeedForward((hidden,), Layer(as_floats(sign * outputs), as_floats(sign * constant)), relu)


def _binomial(top: int, size: int) -> int:
    """binom(top, size) for a top of any sign."""
    return math.comb(top, size) if top >= 0 else (-1) ** size * math.comb(size - top - 1, size)
