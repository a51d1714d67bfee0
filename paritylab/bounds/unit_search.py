"""A search for the ReLU unit that correlates most with a product of gates, to compare with the proven bounds.

F is the product of ORs (every product of gates is one up to flips of inputs). The search climbs the exact
correlation E[F relu(<w, x> + <v, z> + b)] over all points, divided by the length |w|_1 + |v|_1 + |b| or by the
integral of tails in B2, from random starts (depth-separation).
"""

import dataclasses
import math
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from ..cube import cube
from .sign_rank import gate_product_matrix

Measure = Literal["length", "tails"]


@dataclasses.dataclass(frozen=True)
class FoundUnit:
    """A unit, its exact correlation with the product of ORs, and the ratio that the search maximizes."""

    left: Float[np.ndarray, " half"]
    right: Float[np.ndarray, " half"]
    bias: float
    correlation: float
    ratio: float


def search_unit(half: int, measure: Measure = "length", *, tries: int = 4, steps: int = 60, seed: int = 0) -> FoundUnit:
    """The best unit that the search finds for halves of so many bits.

    A lower bound on the largest ratio; by B1 and B2 the largest is at most 2^(-half/2).

    >>> 0.26 < search_unit(2, tries=8).ratio <= 0.5
    True
    """
    if tries < 1 or steps < 1:
        raise ValueError(f"A search needs at least one try and one step, got tries={tries} and steps={steps}.")
    signs, x = gate_product_matrix(np.ones(half, int)), np.asarray(cube(half), float)
    length = lambda weights, x: (float(np.abs(weights).sum()), np.sign(weights))
    size_of = {"length": length, "tails": _tails}[measure]
    rng = np.random.default_rng(seed)

    def falling(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _correlation(weights, signs, x)
        size, widening = size_of(weights, x)
        return -value / size, -slope / size + value / size**2 * widening

    best, least = None, math.inf
    for _ in range(tries):
        start = rng.normal(size=2 * half + 1)
        start /= np.abs(start).sum()
        found = minimize(falling, start, jac=True, method="L-BFGS-B", options={"maxiter": steps})
        if found.fun < least:
            best, least = found.x, float(found.fun)
    assert best is not None
    value = _correlation(best, signs, x)[0]
    return FoundUnit(best[:half], best[half:-1], float(best[-1]), float(value), -least)


def _correlation(weights: np.ndarray, signs: np.ndarray, x: np.ndarray) -> tuple[float, np.ndarray]:
    """E[F relu(t)] over all points, and its slope; t is linear in the weights, so one gives the other."""
    half = x.shape[1]
    active = (x @ weights[:half])[:, None] + (x @ weights[half:-1])[None, :] + weights[-1] > 0
    counted = np.where(active, signs, 0.0) / signs.size
    by_row, by_column = counted.sum(axis=1), counted.sum(axis=0)
    slope = np.concatenate([by_row @ x, by_column @ x, [by_row.sum()]])
    return float(slope @ weights), slope


def _tails(weights: np.ndarray, x: np.ndarray) -> tuple[float, np.ndarray]:
    """The integral in B2, and its slope: it is linear in the places of its steps while they keep their order."""
    half, points = x.shape[1], len(x)
    ends = np.concatenate([x @ weights[:half], -(x @ weights[half:-1]) - weights[-1]])
    order = np.argsort(ends, kind="stable")
    above = 1 - np.cumsum(order < points) / points
    reached = np.cumsum(order >= points) / points
    heights = np.sqrt(np.maximum(above * reached, 0))[:-1]
    falls = np.empty(2 * points)
    falls[order] = -np.diff(heights, prepend=0.0, append=0.0)
    rows, columns = falls[:points], falls[points:]
    slope = np.concatenate([rows @ x, -(columns @ x), [-columns.sum()]])
    return max(float(falls @ ends), 1e-12), slope
