"""The error of disjoint PolyNets, exactly and by hidden-progress, Lemma 6, and the path of their relevant weights.

A disjoint PolyNet is a product of k linear functions of k blocks of coordinates; the target is the product of the
first coordinates of the blocks. In block i, v is the weight of the relevant coordinate and u are the others. The sign
of block i agrees with its relevant coordinate as often as s = sgn(v + u . z) is 1 for random signs z, so that with
independent blocks the error is 1 - (prod E|s_i| + prod E[s_i]) / 2; an output of 0 counts as an error.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import erf
from scipy.stats import binom

from ...cube import cube
from ..gradients.thresholds import sign_coefficients

LARGEST_BLOCK = 16
"""Blocks up to this size are summed over all 2**(block - 1) patterns; beyond, weights must be real numbers."""
TOLERANCE, MOST_TERMS = 1e-10, 2**12
"""Of the quadrature for larger blocks."""
BERRY_ESSEEN = 0.56


class SignMeans(NamedTuple):
    """E[s] and E|s| of s = sgn(v + u . z) for random signs z."""

    signed: Float[np.ndarray, "*batch"]
    nonzero: Float[np.ndarray, "*batch"]


def sign_means(relevant: Float[np.ndarray, "*batch"], others: Float[np.ndarray, "*batch rest"]) -> SignMeans:
    """E[sgn(v + u . z)] and P(v + u . z is not 0), by summing over all z.

    >>> [float(each) for each in sign_means(np.array(1.0), np.array([1.0, 1.0]))]
    [0.5, 1.0]
    """
    rest = others.shape[-1]
    if rest >= LARGEST_BLOCK:
        raise ValueError(
            f"All patterns are summed for blocks of at most {LARGEST_BLOCK} coordinates, got {rest + 1}; for real "
            "weights use `long_sign_mean`."
        )
    z = np.asarray(cube(rest), float)
    s = np.sign(np.asarray(relevant)[..., None] + others @ z.T)
    return SignMeans(np.asarray(np.mean(s, axis=-1)), np.asarray(np.mean(np.abs(s), axis=-1)))


def long_sign_mean(relevant: float, others: Float[np.ndarray, " rest"]) -> float:
    """E[sgn(v + u . z)] for many real weights without common measure, by quadrature (see `thresholds`).

    From about 50 weights on it is known to 1e-9, with 20 to about 1e-3.

    >>> others = np.random.default_rng(0).normal(size=12)
    >>> abs(long_sign_mean(1.0, others) - float(sign_means(np.array(1.0), others).signed)) < 1e-3
    True
    """
    if abs(relevant) > float(np.sum(np.abs(others))):
        return float(np.sign(relevant))
    found = sign_coefficients(others, (), bias=relevant, tolerance=TOLERANCE, most_terms=MOST_TERMS)
    return float(found.bias)


def polynet_error(weights: Float[np.ndarray, "*batch k block"]) -> Float[np.ndarray, "*batch"]:
    """The exact error of disjoint PolyNets with small blocks, the relevant coordinate first.

    >>> polynet_error(np.array([[3.0, 1.0, 1.0], [3.0, 1.0, 1.0]])), polynet_error(np.ones((2, 3)))
    (array(0.), array(0.375))
    """
    signed, nonzero = sign_means(weights[..., 0], weights[..., 1:])
    return np.asarray(1 - (np.prod(nonzero, axis=-1) + np.prod(signed, axis=-1)) / 2)


def disjoint_error(weights: Float[np.ndarray, "k block"]) -> float:
    """The probability that a disjoint PolyNet differs from the parity of the first coordinate of each block.

    As `polynet_error`, for blocks of any size; those of more than 16 coordinates need real weights without common
    measure, whose sums are never 0.

    >>> disjoint_error(np.array([[1.0, 2.0], [3.0, 2.0]]))
    0.5
    """
    if weights.ndim != 2 or weights.shape[1] < 1:
        raise ValueError(f"A disjoint PolyNet has k rows of one weight or more, got shape {weights.shape}.")
    if weights.shape[1] <= LARGEST_BLOCK:
        return float(polynet_error(np.asarray(weights, float)))
    return (1 - math.prod(long_sign_mean(float(row[0]), row[1:]) for row in np.asarray(weights, float))) / 2


@functools.lru_cache(maxsize=4096)
def last_place(block: int, k: int, error: float) -> int:
    """The relevant weight at which the error of k equal blocks falls below `error`; all other weights are signs.

    With v just below one of the values of the sum of the block - 1 others, and p the probability that this sum is at
    least that value, the error is (1 - (1 - 2p)**k) / 2. The largest value at which it is at least `error`, and 1 if
    there is none (hidden-progress, Theorem 7), by counting in integers.

    >>> last_place(4096, 3, 0.49)
    23
    """
    others, count, above = block - 1, 1, 0
    for negatives in range((others + 1) // 2):
        above += count
        if (1 - (1 - above / 2 ** (others - 1)) ** k) / 2 >= error:
            return others - 2 * negatives
        count = count * (others - negatives) // (negatives + 1)
    return 1


def sign_error(block: int, k: int, v: Float[np.ndarray, " values"]) -> Float[np.ndarray, " values"]:
    """The error of k blocks of sign weights with relevant ones grown to v > 0; where v meets a sum, just after it.

    (1 - (1 - 2p)**k) / 2, where p is the probability that the sum of the block - 1 others exceeds v.

    >>> sign_error(3, 2, np.array([1.0, 2.0, 5.0])).tolist()
    [0.375, 0.0, 0.0]
    """
    others = block - 1
    negatives = np.ceil((others - v) / 2 - 1e-12) - 1  # the sum exceeds v if at most so many signs are negative
    p = binom.cdf(negatives, others, 0.5)
    return np.asarray((1 - (1 - 2 * p) ** k) / 2)


class Lemma6(NamedTuple):
    """Bounds on the error of a disjoint PolyNet, and its error."""

    low: Float[np.ndarray, "*batch"]
    error: Float[np.ndarray, "*batch"]
    high: Float[np.ndarray, "*batch"]

    @property
    def holds(self) -> np.ndarray:
        """Whether the error is within the bounds."""
        return np.asarray((self.low <= self.error) & (self.error <= self.high))


def lemma6(weights: Float[np.ndarray, "*batch k block"], *, printed: bool = False) -> Lemma6:
    """Bounds from the normal approximation and from Hoeffding's inequality (hidden-progress, Lemma 6), if prod v > 0.

    1/2 - 1/2 prod(erf(|v| / (|u| sqrt(2))) + 2c max|u| / |u|) <= error <= 2 sum exp(-v**2 / (2 |u|**2)), c = 0.56. As
    printed, the terms are c max|u| / |u|**3 and exp(-v**2 / |u|**2).

    >>> weights = np.array([[2.01] + [1.0] * 8] * 3)
    >>> bool(lemma6(weights).holds), bool(lemma6(weights, printed=True).holds)
    (True, False)
    """
    v, u = np.abs(weights[..., 0]), weights[..., 1:]
    if np.any(np.prod(weights[..., 0], axis=-1) <= 0):
        raise ValueError("Lemma 6 needs relevant weights with a positive product; flip the sign of one of them.")
    norm, largest = np.linalg.norm(u, axis=-1), np.abs(u).max(axis=-1)
    rough = BERRY_ESSEEN * largest / norm**3 if printed else 2 * BERRY_ESSEEN * largest / norm
    low = 0.5 - 0.5 * np.prod(erf(v / (norm * math.sqrt(2))) + rough, axis=-1)
    high = 2 * np.sum(np.exp(-(v**2) / norm**2 / (1 if printed else 2)), axis=-1)
    return Lemma6(np.asarray(low), polynet_error(weights), np.asarray(high))


def relevant_path(start: Float[np.ndarray, " k"], rate: float, most: int = 10**6) -> Float[np.ndarray, "steps k"]:
    """The relevant weights under population gradient descent with the correlation loss, until all are beyond 1e6.

    v_i <- v_i + rate * prod_{j != i} v_j: with small steps the flow of hidden-progress, Appendix B.3.1. Differences of
    squares stay, and the product never falls. `most` steps are made at most.

    >>> path = relevant_path(np.ones(3), 1e-4)
    >>> round(1e-4 * int(np.argmax(path[:, 0] >= 2)), 3)  # flow: v = 1 / (1 - t), twice as large at t = 1/2
    0.5
    """
    if not rate > 0:
        raise ValueError(f"Gradient descent needs a rate above 0, got rate={rate}.")
    v = [float(each) for each in start]
    path = [v]
    while len(path) <= most and min(abs(each) for each in v) <= 1e6:
        v = [each + rate * math.prod(v[:i] + v[i + 1 :]) for i, each in enumerate(v)]
        path.append(v)
    return np.array(path)
