"""The Fourier coefficients of majority in closed form, at any odd n.

The majority of n bits depends on all of them alike, so its coefficient at S depends on k = |S| alone:
xi_k = (-1)**((k-1)/2) * [C(m, (k-1)/2) / C(n-1, k-1)] * 2 C(n-1, m) / 2**n with m = (n-1)/2 for odd k, and 0
for even k (hidden-progress, Lemma 1; O'Donnell 2014, Theorem 5.19). The derivative of a ReLU at a neuron
with sign weights is (1 + majority) / 2, so these are its population gradient too (hidden-progress, Lemma 2).
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

LEVEL_WEIGHT = ((2 / math.pi) ** 1.5, 0.75)
"""Lemma 1 of hidden-progress: C(n, k) xi_k**2 * k**1.5 lies between these for odd k and n >= 2 k**2."""


def majority_coefficients(n: int) -> Float[np.ndarray, "{n+1}"]:
    """xi_0, ..., xi_n in float64 (hidden-progress, Lemma 1).

    By the exact ratio |xi_{k+2} / xi_k| = k / (n-k-1) (hidden-progress, equation 5 as corrected) from
    xi_1 = P(the other n-1 bits tie), up to the middle; the upper half mirrors the lower, |xi_k| = |xi_{n+1-k}|.

    >>> majority_coefficients(3).tolist()
    [0.0, 0.5, 0.0, -0.5]
    """
    _check(n)
    middle = (n - 1) // 2
    tie = math.exp(math.fsum(math.log1p(-0.5 / i) for i in range(1, middle + 1)))
    odd = np.arange(1, n + 1, 2)
    half = (len(odd) + 1) // 2
    sizes = np.empty(len(odd))
    sizes[:half] = tie * np.cumprod([1.0, *(odd[: half - 1] / (n - odd[: half - 1] - 1))])
    sizes[-half:] = sizes[:half][::-1]
    coefficients = np.zeros(n + 1)
    coefficients[odd] = sizes * (1.0 - 2.0 * ((odd - 1) // 2 % 2))
    return coefficients


def exact_majority_coefficient(n: int, k: int) -> Fraction:
    """xi_k as a fraction (hidden-progress, Lemma 1).

    >>> exact_majority_coefficient(5, 3)
    Fraction(-1, 8)
    """
    _check(n)
    if not 0 <= k <= n:
        raise ValueError(f"A coefficient of the majority of n={n} bits needs a degree 0 <= k <= {n}, got k={k}.")
    if k % 2 == 0:
        return Fraction(0)
    middle, pairs = (n - 1) // 2, (k - 1) // 2
    tie = Fraction(2 * math.comb(n - 1, middle), 2**n)
    return (-1) ** pairs * Fraction(math.comb(middle, pairs), math.comb(n - 1, k - 1)) * tie


def majority_weight(n: int, k: int) -> float:
    """W_k = C(n, k) xi_k**2, the Fourier weight of majority at level k.

    >>> majority_weight(3, 1), majority_weight(3, 2)
    (0.75, 0.0)
    """
    return float(math.comb(n, k) * exact_majority_coefficient(n, k) ** 2)


class Lemma1(NamedTuple):
    """Level weight of majority beside its bounds."""

    low: float
    weight: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the weight is within the bounds."""
        return self.low <= self.weight <= self.high


def lemma1(n: int, k: int) -> Lemma1:
    """c1 k**-1.5 <= W_k <= c2 k**-1.5 for odd k and n >= 2 k**2 (hidden-progress, Lemma 1).

    The paper prints the exponent -2/3; W_k k**1.5 tends to (2/pi)**1.5, and W_k k**(2/3) to 0.

    >>> lemma1(1001, 3).holds
    True
    """
    if k % 2 == 0 or n < 2 * k**2:
        raise ValueError(f"Lemma 1 needs an odd k and n >= 2 k**2 = {2 * k**2}, got k={k} and n={n}.")
    low, high = LEVEL_WEIGHT
    return Lemma1(low * k**-1.5, majority_weight(n, k), high * k**-1.5)


def _check(n: int) -> None:
    if n < 1 or n % 2 == 0:
        raise ValueError(f"Majority needs an odd number of bits, so that there is no tie, got n={n}.")
