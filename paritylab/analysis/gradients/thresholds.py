"""Gradients of a threshold neuron with real weights, at n in the thousands: one integral per coordinate.

sgn(z) is (2/pi) times the integral of sin(z t) / t over t > 0, so with E[chi_S exp(i t w . x)] = i**|S| times the
product of sin(w_i t) over S and cos(w_i t) over the rest,

    E[chi_S sgn(w . x + b)] = (2/pi) * integral over t > 0 of Im(i**|S| exp(i b t) prod sin prod cos) dt / t.

The midpoint rule t_j = (j + 1/2) h is far better here than it is in general: the sum over j >= 0 of sin(z t_j) / (j
+ 1/2) is (pi/2) sgn(sin(z h / 2)) exactly, which is (pi/2) sgn(z) for all |z| < 2 pi / h. So a step of 2 pi / (|b|
+ R |w|_2) errs by at most 2 P(|w . x| > R |w|_2) <= 4 exp(-R**2 / 2), a step of pi / (|b| + |w|_1) not at all, and
what is left is where to end the sum. The products fall like exp(-|w|_2**2 t**2 / 2) at first; after that they are a
quasi-periodic function whose mean size over all times is (2/pi)**n for weights without common measure. From n of
about 50 that is negligible, and a few dozen terms give all coordinates to full precision. For smaller n the last
octave of terms is faded out, which leaves points with |w . x + b| below some 300 / t alone in error; enumeration is
the better route there. Weights with a large common measure (integers) recur early, which the reported error does not
include: `gradient_by_sums` is the route for them.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import erfc

from .population import NeuronGradient, check_finite, leave_one_out, members, quarter_cos

TAIL = 12.0
"""R above: the step's own error is at most 4 exp(-72)."""
FADE = 5.0
"""The last octave is weighted with erfc from -5 to 5: a jump of 1e-12 of a term at its ends."""
FIRST_TERMS = 32
MOST_TERMS = 2**16
BLOCK_ENTRIES = 2**22


class Integrated(NamedTuple):
    """A gradient by quadrature, and the largest error of its entries."""

    weight: Float[np.ndarray, " n"]
    bias: Float[np.ndarray, ""]
    error: float
    terms: int

    @property
    def gradient(self) -> NeuronGradient:
        """The gradient without its error."""
        return NeuronGradient(self.weight, self.bias)


def sign_coefficients(
    weights: Float[np.ndarray, " n"],
    support: Sequence[int],
    *,
    bias: int | float = 0.0,
    tolerance: float = 1e-17,
    most_terms: int = MOST_TERMS,
) -> Integrated:
    """E[chi_S x_i sgn(w . x + b)] for all i and E[chi_S sgn(w . x + b)], over uniform points, for real weights.

    The sum ends where a whole octave of terms (from j to 2j) adds less than `tolerance`, relative to the largest
    coefficient. `error` adds up: the step's error 4 exp(-R**2 / 2), rounding, and four times the largest change that
    the last octave made, which is an estimate and not a bound.

    >>> weights = np.random.default_rng(0).normal(size=1001)
    >>> found = sign_coefficients(weights, (0, 1))
    >>> found.terms, found.error < 1e-14
    (64, True)
    """
    check_finite(weights, bias)
    w = np.asarray(weights, float)
    member = members(len(w), support)
    norm = float(np.linalg.norm(w))
    if norm == 0:
        raise ValueError("A threshold neuron needs a weight that is not 0, got zeros; its sign is that of the bias.")
    widest = min(2 * (abs(bias) + float(np.sum(np.abs(w)))), abs(bias) + TAIL * norm)
    terms = _Terms(w, member, len(support), float(bias), 2 * math.pi / widest)
    sure, _, _ = terms.added(0, FIRST_TERMS)
    best, end = sure, FIRST_TERMS
    while True:
        added, faded, sizes = terms.added(end, 2 * end)
        change = float(np.max(np.abs(sure + faded - best)))
        sure, best, end = sure + added, sure + faded, 2 * end
        if float(np.max(sizes)) <= tolerance * float(np.max(np.abs(best))) or 2 * end > most_terms:
            break
    rounding = np.finfo(float).eps * 4 * len(w) * float(np.max(np.abs(best)))
    error = float(4 * math.exp(-(TAIL**2) / 2) + 4 * change + rounding)
    return Integrated(best[:-1], np.asarray(best[-1]), error, end)


def gradient_of_threshold(
    weights: Float[np.ndarray, " n"],
    support: Sequence[int],
    *,
    bias: int | float = 0.0,
    kinks: Sequence[tuple[int | float, int | float]] = ((0.0, 1.0),),
    tolerance: float = 1e-17,
    most_terms: int = MOST_TERMS,
) -> Integrated:
    """E[chi_S x_i sigma'(w . x + b)] for all i, where sigma' is 0 far left and jumps by `size` at each (place, size).

    ReLU jumps by 1 at 0 (the default), ReLU6 by 1 at 0 and by -1 at 6. A jump at c is (1 + sgn(z - c)) / 2; the
    constant matters only for the coefficient of the empty set (hidden-progress, Figure 11; learning-parities,
    Section 2).

    >>> weights = np.random.default_rng(0).normal(size=101)
    >>> gradient_of_threshold(weights, (0, 1)).weight[:3].round(4).tolist()
    [-0.0054, 0.0052, 0.0]
    """
    size, member = len(weights), members(len(weights), support)
    weight, bias_part, error, terms = np.zeros(size), 0.0, 0.0, 0
    for place, jump in kinks:
        found = sign_coefficients(
            weights, support, bias=float(bias) - place, tolerance=tolerance, most_terms=most_terms
        )
        # S without i is empty where S = {i}: there the constant 1/2 of the jump shows.
        weight += jump / 2 * (found.weight + (len(support) == 1) * member)
        bias_part += jump / 2 * (float(found.bias) + (len(support) == 0))
        error, terms = error + abs(jump) / 2 * found.error, max(terms, found.terms)
    return Integrated(weight, np.asarray(bias_part), error, terms)


class _Terms(NamedTuple):
    """The terms of the midpoint rule."""

    weights: Float[np.ndarray, " n"]
    member: np.ndarray
    size: int
    bias: float
    step: float

    def added(self, start: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The terms from `start` to `end` added up: as they are, faded out towards the end, and without signs."""
        totals = np.zeros((3, len(self.weights) + 1))
        rows = max(1, BLOCK_ENTRIES // len(self.weights))
        for first in range(start, end, rows):
            j = np.arange(first, min(first + rows, end)) + 0.5
            each = self.each(j)
            fade = erfc(FADE * (2 * (j - start) / (end - start) - 1)) / 2
            totals += each.sum(axis=0), fade @ each, np.abs(each).sum(axis=0)
        return totals[0], totals[1], totals[2]

    def each(self, j: Float[np.ndarray, " terms"]) -> Float[np.ndarray, "terms entries"]:
        """The terms of the n coordinates and of the bias."""
        angles = self.step * j[:, None] * self.weights
        factors = np.where(self.member, np.sin(angles), np.cos(angles))
        others, own, every = leave_one_out(factors, angles, self.member)
        turn = self.bias * self.step * j
        sizes = self.size + np.where(self.member, -1, 1)
        # Im(i**size * exp(i * turn)) = sin(turn + size * pi/2), which is cos one quarter turn back.
        each = np.empty((len(j), len(self.weights) + 1))
        each[:, :-1] = others * own * quarter_cos(turn[:, None], sizes - 1)
        each[:, -1] = every * quarter_cos(turn, np.asarray(self.size - 1))
        return each * (2 / math.pi / j[:, None])
