"""The Fourier coefficients of symmetric functions, from n + 1 values.

The coefficient of a subset depends on its size alone. For integer values under the uniform distribution it is
a sum of Krawtchouk polynomials, taken in exact integers. In general the functions sqrt(P[w]) phi_k(w) of the
weight w (the number of coordinates at -1) are the eigenvectors of a tridiagonal matrix, which is
stable where sums of alternating binomials are not.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh_tridiagonal
from scipy.special import gammaln
from scipy.stats import binom

from ...demands import check_kind, check_number
from ...targets import Symmetric
from .spectrum import ByLevel, means_of

MOST = 5000
"""The general route holds a matrix of (n + 1)**2 numbers: 200 MB here."""


@dataclass(frozen=True, repr=False)
class SymmetricSpectrum(ByLevel):
    """The Fourier coefficients of a symmetric function, by the size of the subset."""

    n: int
    coefficients: Float[np.ndarray, " levels"]
    """The coefficient of one subset of each size 0..n."""
    weight: Float[np.ndarray, " levels"]
    """The sum of squares over all subsets of each size."""

    @property
    def influence(self) -> float:
        """The influence of any one coordinate: all are equal."""
        return self.total_influence / self.n


def symmetric_spectrum(target: Symmetric, mean: int | float = 0.0) -> SymmetricSpectrum:
    """The coefficients of a symmetric target when every coordinate has this mean, in O(n**2).

    >>> from paritylab import majority
    >>> symmetric_spectrum(majority(3)).coefficients
    array([ 0. ,  0.5,  0. , -0.5])
    """
    check_kind("target", target, Symmetric, "a symmetric function, such as majority(n)")
    check_number("mean", mean)
    means_of(mean, target.n)
    values = np.asarray(target.values, float)
    return exact_symmetric_spectrum(values.astype(int).tolist()) if mean == 0 else _stably(values, float(mean))


def exact_symmetric_spectrum(values: list[int]) -> SymmetricSpectrum:
    """f^(S) = 2**-n sum over w of f(w) K_w(|S|), in integers; each number is rounded once, at the end."""
    n = len(values) - 1
    row = [math.comb(n, w) for w in range(n + 1)]
    sums = []
    for _ in range(n + 1):
        sums.append(sum(value * entry for value, entry in zip(values, row, strict=True)))
        row = _next_row(row)
    whole = 2**n
    weight = [math.comb(n, k) * total**2 / whole**2 for k, total in enumerate(sums)]
    return SymmetricSpectrum(n, np.array([total / whole for total in sums]), np.array(weight))


def _next_row(row: list[int]) -> list[int]:
    """K_w(k + 1) for all w from K_w(k): K_w(k) is the coefficient of z**w in (1 - z)**k (1 + z)**(n - k)."""
    following = [row[0]]
    for before, now in itertools.pairwise(row):
        following.append(now - before - following[-1])
    return following


def _stably(values: np.ndarray, mean: float) -> SymmetricSpectrum:
    """By the eigenvectors of multiplication with w, in the basis of the orthonormal polynomials for Binomial(n, q)."""
    n = len(values) - 1
    if n > MOST:
        raise ValueError(
            f"Under a bias this needs a matrix of (n+1)**2 numbers and is made for n <= {MOST}, got n={n}. "
            "Without a bias (mean=0) larger n are exact."
        )
    low = (1 - mean) / 2  # the probability of -1
    k = np.arange(n + 1)
    diagonal = low * (n - k) + (1 - low) * k
    beside = -np.sqrt((k[:-1] + 1) * (n - k[:-1]) * low * (1 - low))
    _, vectors = eigh_tridiagonal(diagonal, beside)  # column w, entry k: sqrt(P[w]) phi_k(w), up to a sign
    vectors *= np.where(vectors[0] < 0, -1.0, 1.0)  # phi_0 = 1
    amplitude = vectors @ (values * np.sqrt(binom.pmf(k, n, low)))
    log_subsets = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return SymmetricSpectrum(n, amplitude * np.exp(-log_subsets / 2), amplitude**2)
