"""The leap of a function: how many new coordinates its hardest step brings, in the best order of its Fourier sets.

Networks learn the sets of a function's expansion one after the other, and a set is as hard as the number of coordinates
that no earlier one has. The leap is the least, over all orders of the sets S_1, S_2, ... with a coefficient that is not
0, of the largest |S_t minus S_1, ..., S_(t-1)| (arXiv 2302.11055, where d**max(leap, 2) steps are conjectured). Under
a product distribution the expansion is in the orthonormal characters of its coordinates, (x_i - mu_i) / sigma_i.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Num

from ..demands import check_number, echo
from ..targets import AbstractTarget, Parity, Polynomial, PolynomialSign
from ..targets.polynomials import values_on_relevant
from .fourier.spectrum import Mean, means_of, spectrum, subset_of

MOST_RELEVANT = 20
"""Coordinates of a polynomial that is expanded in another basis, or whose sign is."""


class LeapOrder(NamedTuple):
    """The sets of a function in an order of least leap."""

    supports: tuple[tuple[int, ...], ...]
    """Each time the set that brings the fewest new coordinates."""
    jumps: tuple[int, ...]
    """How many those are."""

    @property
    def leap(self) -> int:
        """The largest of the jumps."""
        return max(self.jumps, default=0)

    def reached(self, leap: int) -> tuple[tuple[int, ...], ...]:
        """The sets that can be had by jumps of at most this size: as many as in any other order.

        >>> leap_order(Polynomial(6, [(0,), (0, 1), (2, 3, 4)], [1, 1, 1])).reached(1)
        ((0,), (0, 1))
        """
        stop = next((i for i, jump in enumerate(self.jumps) if jump > leap), len(self.jumps))
        return self.supports[:stop]


Function = AbstractTarget | Num[np.ndarray, " points"] | Callable[[Any], Any]


def leap(function: Function, mean: Mean = 0.0, *, n: int | None = None, tolerance: float = 1e-9) -> int:
    """The leap of a target, of a table of 2**n values or of a function of n coordinates; 0 for a constant.

    Coordinates are independent, with these means. Polynomials and parities are taken at any n where they are expanded
    already, which they are under the uniform distribution; else they, and signs of polynomials, have up to 20 relevant
    coordinates. Coefficients below `tolerance` times the largest are 0.

    Each time that set is taken which brings the fewest new coordinates. If some order has leap l, its first set that
    is not yet taken brings at most l, because its predecessors are; and to take another first never hurts, because a
    set brings fewer new coordinates the more are there.

    >>> from paritylab import Parity
    >>> from paritylab.targets import leap_function, staircase
    >>> leap(staircase(100, 5)), leap(leap_function(100, (1, 3, 2))), leap(Parity(100, (0, 1, 2)))
    (1, 3, 3)
    >>> leap(Parity(100, (0, 1, 2)), mean=0.1)
    1
    """
    return leap_order(function, mean, n=n, tolerance=tolerance).leap


def leap_order(function: Function, mean: Mean = 0.0, *, n: int | None = None, tolerance: float = 1e-9) -> LeapOrder:
    """The sets of a function in an order of least leap, with the number of new coordinates of each.

    >>> leap_order(Polynomial(5, [(0, 1, 2), (3,), (3, 2, 1)], [1, 1, 1]))
    LeapOrder(supports=((3,), (1, 2, 3), (0, 1, 2)), jumps=(1, 2, 1))
    """
    check_number("tolerance", tolerance, 0, 1)
    masks, coefficients, names = _expanded(function, mean, n)
    if not np.all(np.isfinite(coefficients)):
        raise ValueError("A leap needs finite coefficients, got some that are not. Leave out what diverged.")
    present = (np.abs(coefficients) > tolerance * np.max(np.abs(coefficients), initial=0)) & masks.any(axis=1)
    order, jumps = _greedy(masks[present])
    places = np.flatnonzero(present)[order]
    supports = tuple(tuple(names[i] for i in np.flatnonzero(masks[place])) for place in places)
    return LeapOrder(supports, tuple(jumps))


Expansion = tuple[Bool[np.ndarray, "sets relevant"], Float[np.ndarray, " sets"], tuple[int, ...]]
"""Sets, coefficients, and which coordinates the columns are."""


def _expanded(function: Function, mean: Mean, n: int | None) -> Expansion:
    """The sets and coefficients of the expansion of a function in the basis of these means."""
    if isinstance(function, Parity):
        function = Polynomial(function.n, [function.support], [1.0])
    if not isinstance(function, Polynomial | PolynomialSign):
        return _of_spectrum(spectrum(function, mean, n=n).coefficients)
    if n is not None and n != function.n:
        raise ValueError(f"This function has {function.n} coordinates, got n={n}. Leave n out.")
    polynomial = function.polynomial if isinstance(function, PolynomialSign) else function
    masks, coefficients = np.asarray(polynomial.masks), np.asarray(polynomial.coefficients, float)
    if masks.ndim != 2:
        raise ValueError(f"A leap is that of one polynomial, got an ensemble of {len(masks)}. Take that of one run.")
    means = means_of(mean, function.n)
    relevant = tuple(np.flatnonzero(masks.any(axis=0)).tolist())
    if function is polynomial and not means[list(relevant)].any():
        return masks[:, relevant], coefficients, relevant
    if len(relevant) > MOST_RELEVANT:
        raise ValueError(
            f"A polynomial's sign, or its expansion under another mean, is made for at most {MOST_RELEVANT} relevant "
            f"coordinates, got {len(relevant)} and mean={echo(mean)}. Use fewer, or mean 0 and the polynomial itself."
        )
    if function is polynomial:
        return _rewritten(masks[:, relevant], coefficients, means[list(relevant)], relevant)
    _, values, relevant = values_on_relevant(masks, coefficients)
    sets, sizes, _ = _of_spectrum(spectrum(np.where(values >= 0, 1, -1), means[list(relevant)]).coefficients)
    return sets, sizes, relevant


def _of_spectrum(coefficients: Float[np.ndarray, " sets"]) -> Expansion:
    """Entry S of a spectrum belongs to the set with bit mask S."""
    n = len(subset_of(len(coefficients) - 1))
    masks = (np.arange(len(coefficients))[:, None] >> np.arange(n) & 1).astype(bool)
    return masks, coefficients, tuple(range(n))


def _rewritten(
    masks: Bool[np.ndarray, "terms relevant"],
    coefficients: Float[np.ndarray, " terms"],
    means: Float[np.ndarray, " relevant"],
    relevant: tuple[int, ...],
) -> Expansion:
    """x_i = mu_i + sigma_i phi_i: each product gives products over the subsets of its set that hold all with mean 0."""
    deviation = np.sqrt(1 - means**2)
    found: dict[int, float] = {}
    for mask, coefficient in zip(masks, coefficients, strict=True):
        parts = {0: float(coefficient)}
        for i in np.flatnonzero(mask).tolist():
            with_phi = {part | 1 << i: size * deviation[i] for part, size in parts.items()}
            without = {part: size * means[i] for part, size in parts.items()} if means[i] else {}
            parts = {**without, **with_phi}
        for part, size in parts.items():
            found[part] = found.get(part, 0.0) + size
    sets = np.fromiter(found, np.int64, len(found))
    columns = (sets[:, None] >> np.arange(len(relevant)) & 1).astype(bool)
    return columns, np.fromiter(found.values(), float, len(found)), relevant


def _greedy(masks: Bool[np.ndarray, "sets relevant"]) -> tuple[list[int], list[int]]:
    """An order in which the set with the fewest new coordinates is always next, and these numbers.

    All sets without new coordinates follow at once, so that there are no more rounds than coordinates.
    """
    sizes = masks.sum(axis=1)
    left, known = np.lexsort((np.arange(len(masks)), sizes)), np.zeros(masks.shape[1], bool)
    order: list[int] = []
    jumps: list[int] = []
    while len(left):
        new = (masks[left] & ~known).sum(axis=1)
        first = int(np.argmin(new))
        taken = new == 0 if new[first] == 0 else np.arange(len(left)) == first
        order += left[taken].tolist()
        jumps += new[taken].tolist()
        known |= masks[left[first]]
        left = left[~taken]
    return order, jumps
