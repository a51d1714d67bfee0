"""Fourier gaps, and the detector that reads the relevant coordinates off a gradient.

The gradient of a neuron on a parity chi_S has a Fourier coefficient of sigma'(w . x) of size |S| - 1 at each
relevant coordinate, and one of size |S| + 1 at each other one. Where the former stand out, S shows.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ...demands import check_whole
from ..fourier.majority import majority_coefficients
from .population import check_finite, members


class FourierGap(NamedTuple):
    """Sizes of the entries that should be large and of those that should be small."""

    least_relevant: float
    most_relevant: float
    most_irrelevant: float

    @property
    def gamma(self) -> float:
        """The largest gamma for which there is a gamma-Fourier gap (hidden-progress, Definition 1); 0 if for none."""
        return self.least_relevant if 2 * self.most_irrelevant <= self.least_relevant else 0.0

    @property
    def weak(self) -> float:
        """Gamma of hidden-progress, Appendix C.1: if positive, one relevant coordinate can be identified."""
        return self.most_relevant - self.most_irrelevant

    @property
    def strict(self) -> float:
        """The same with the smallest relevant entry (its footnote 10): if positive, all can be identified."""
        return self.least_relevant - self.most_irrelevant


def fourier_gap(coefficients: Float[np.ndarray, " sets"], support: Sequence[int]) -> FourierGap:
    """The gap of a function at S, from all of its 2**n Fourier coefficients (hidden-progress, Definition 1).

    Entry T of the coefficients belongs to the set whose bit mask is T. All sets of size |S| + 1 must be small, not
    only those around S.

    >>> both = np.array([0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, -0.25])
    >>> fourier_gap(both, (0, 1)).gamma
    0.5
    """
    n = len(coefficients).bit_length() - 1
    if len(coefficients) != 2**n:
        raise ValueError(
            f"All Fourier coefficients of a function of n bits are 2**n numbers, got {len(coefficients)}; for a "
            "gradient use `gap_of_gradient`."
        )
    members(n, support)
    whole = sum(1 << i for i in support)
    inside = np.abs(coefficients[[whole ^ (1 << i) for i in support]])
    larger = np.abs(coefficients[np.bitwise_count(np.arange(2**n)) == len(support) + 1])
    return FourierGap(float(inside.min()), float(inside.max()), float(larger.max(initial=0.0)))


def gap_of_gradient(weight: Float[np.ndarray, " n"], support: Sequence[int]) -> FourierGap:
    """The gap in a gradient E[chi_S x_i sigma'(w . x + b)]: what Proposition 5 of hidden-progress needs.

    >>> gap_of_gradient(np.array([0.4, -0.5, 0.1, 0.0]), (0, 1))
    FourierGap(least_relevant=0.4, most_relevant=0.5, most_irrelevant=0.1)
    """
    check_finite(weight, 0.0)
    member = members(len(weight), support)
    inside, outside = np.abs(weight[member]), np.abs(weight[~member])
    if not len(inside):
        raise ValueError(f"A gap needs a relevant coordinate, got support={tuple(support)}.")
    return FourierGap(float(inside.min()), float(inside.max()), float(outside.max(initial=0.0)))


def weak_gap(weights: Float[np.ndarray, "*batch n"], support: Sequence[int]) -> Float[np.ndarray, "*batch"]:
    """Gamma of hidden-progress, Appendix C.1, of many gradients at once: max over S of |g_i| less max over the rest.

    >>> weak_gap(np.array([[0.5, 0.25, 0.125], [0.25, 0.0, -0.5]]), (0, 1)).tolist()
    [0.375, -0.25]
    """
    member = members(weights.shape[-1], support)
    size = np.abs(weights)
    return np.asarray(size[..., member].max(axis=-1) - size[..., ~member].max(axis=-1, initial=0.0))


def majority_gap(n: int, k: int) -> FourierGap:
    """The gap of a ReLU neuron with sign weights at any S of even size k (hidden-progress, Lemma 2).

    Its slope is (1 + majority) / 2, so that the entries are |xi_{k-1}| / 2 and |xi_{k+1}| / 2.

    >>> round(majority_gap(15, 2).weak, 4)
    0.0967
    """
    if k % 2 or not 2 <= k < n:
        raise ValueError(f"The gap of majority needs an even degree 2 <= k < n={n}, got k={k}; at odd k there is none.")
    xi = np.abs(majority_coefficients(n)) / 2
    return FourierGap(float(xi[k - 1]), float(xi[k - 1]), float(xi[k + 1]))


def good_coordinates(gradient: Float[np.ndarray, " n"], gamma: float) -> tuple[int, ...]:
    """{i : |g_i| >= 3 gamma / 4}, which is S if sigma' has a gamma-Fourier gap at S (hidden-progress, Proposition 5).

    `gradient` may be off by less than gamma / 4 in every entry, and its sign does not matter. (At exactly gamma / 4
    an irrelevant entry can reach 3 gamma / 4 too; the paper's statement includes this case by oversight.)

    >>> good_coordinates(np.array([0.8, -0.9, 0.7, 0.1]), gamma=1.0)
    (0, 1)
    """
    if not gamma > 0:
        raise ValueError(f"The detector needs a Fourier gap gamma > 0, got gamma={gamma}; without one it cannot work.")
    return tuple(np.flatnonzero(np.abs(gradient) >= 0.75 * gamma).tolist())


def samples_to_detect(n: int, gamma: float, failure: float = 0.05) -> int:
    """Examples after which the mean gradient is within gamma / 4 in all n entries, but for a chance of `failure`.

    By Hoeffding's inequality for terms in [-1, 1] and a union bound: 32 log(2 n / failure) / gamma**2, which is the
    O(1/gamma**2) after Proposition 5 of hidden-progress with its constant.

    >>> samples_to_detect(15, majority_gap(15, 2).gamma)
    18661
    """
    check_whole("n", n, 1)
    if not (gamma > 0 and 0 < failure < 1):
        raise ValueError(f"A number of samples needs gamma > 0 and 0 < failure < 1, got {gamma} and {failure}.")
    return math.ceil(32 * math.log(2 * n / failure) / gamma**2)
