"""The interpolator of least degree: the simplest function that agrees with a target where that was seen."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import null_space

ROUNDING = 1e-9


class Interpolator(NamedTuple):
    """A function on the cube that agrees with a target on some points."""

    coefficients: Float[np.ndarray, " subsets"]
    """By subset, as a bit mask."""
    degree: int

    @property
    def terms(self) -> dict[tuple[int, ...], float]:
        """The coefficients that are not 0, by the coordinates of their subset."""
        places = np.flatnonzero(np.abs(self.coefficients) > ROUNDING)
        bits = range(int(np.log2(len(self.coefficients))))
        return {tuple(i for i in bits if s >> i & 1): round(float(self.coefficients[s]), 12) for s in places}


def least_degree_interpolator(x: Float[np.ndarray, "points n"], y: Float[np.ndarray, " points"]) -> Interpolator:
    """Of all functions with f(x) = y at these points, the one of least degree profile (arXiv 2301.13105).

    The profile is the weight sum of squares of the coefficients of each degree, compared from the highest degree down.
    So the weight of the highest degree is made as small as can be, then that of the next among those functions, and so
    on; the last step leaves one function. For few coordinates: there are 2^n coefficients.

    >>> from paritylab.cube import cube
    >>> points = np.asarray(cube(2), float)
    >>> seen = points[(points > 0).any(axis=1)]
    >>> least_degree_interpolator(seen, seen[:, 0] * seen[:, 1]).terms
    {(): -1.0, (0,): 1.0, (1,): 1.0}
    """
    n = x.shape[1]
    if n > 12:
        raise ValueError(f"There are 2^n coefficients: n is at most 12, got n={n}. Keep the relevant coordinates.")
    masks = np.arange(2**n)
    characters = np.prod(np.where(masks[None, :, None] >> np.arange(n) & 1, x[:, None, :], 1.0), axis=2)
    found, *_ = np.linalg.lstsq(characters, y, rcond=None)
    if np.max(np.abs(characters @ found - y), initial=0.0) > ROUNDING * max(1.0, float(np.max(np.abs(y)))):
        raise ValueError("The same point is given with two labels, and no function agrees with both. Keep one.")
    free = null_space(characters)
    degrees = np.array([int(mask).bit_count() for mask in masks])
    for degree in range(n, -1, -1):
        if not free.shape[1]:
            break
        here = degrees == degree
        step, *_ = np.linalg.lstsq(free[here], -found[here], rcond=None)
        found = found + free @ step
        left = null_space(free[here])
        free = free @ left
    found = np.where(np.abs(found) > ROUNDING, found, 0.0)
    return Interpolator(found, int(degrees[found != 0].max(initial=0)))
