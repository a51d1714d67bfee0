"""How wrong is a disjoint PolyNet, exactly, and where does population gradient descent take it?

The network is prod_i (v_i x_i + u_i . z_i) with one relevant coordinate x_i in each block (hidden-progress, Appendix
B.3). Factor i has the wrong sign where u_i . z_i goes against v_i x_i and beyond it, so that the error is a product
over blocks. Under the correlation loss the population gradient of the other weights is 0, and each relevant weight
moves as the product of the others.
"""

import math

import numpy as np
from jaxtyping import Float

from .thresholds import sign_coefficients

ENUMERATED = 16
"""Blocks of up to this many other coordinates are enumerated, larger ones integrated."""
TOLERANCE, MOST_TERMS = 1e-10, 2**12
"""Of the integral: from about 50 coordinates on it is known to 1e-9, with 20 to about 1e-3."""


def disjoint_error(weights: Float[np.ndarray, "k block"]) -> float:
    """The probability that a disjoint PolyNet differs from the parity of the first coordinate of each block.

    With p_i = P(u_i . z > |v_i|) and e_i = P(u_i . z = |v_i|) it is
    1 - (prod (1 - e_i) + s prod (1 - e_i - 2 p_i)) / 2, where s is the sign of the product of the v_i; an output of 0
    is a mistake (hidden-progress, Lemma 6, before its bounds). Blocks of more than 17 coordinates need real weights
    without common measure, for which e_i is nothing.

    >>> disjoint_error(np.array([[1.0, 2.0], [3.0, 2.0]]))
    0.5
    """
    if weights.ndim != 2 or weights.shape[1] < 1:
        raise ValueError(f"A disjoint PolyNet has k rows of one weight or more, got shape {weights.shape}.")
    tails = [_tail(row[1:], abs(float(row[0]))) for row in np.asarray(weights, float)]
    sign = float(np.sign(np.prod(np.sign(weights[:, 0]))))
    nonzero = math.prod(1 - equal for _, equal in tails)
    aligned = math.prod(1 - equal - 2 * beyond for beyond, equal in tails)
    return 1 - (nonzero + sign * aligned) / 2


def _tail(weights: Float[np.ndarray, " others"], level: float) -> tuple[float, float]:
    """P(w . z > level) and P(w . z = level) over uniform signs, for a level >= 0."""
    if level > float(np.sum(np.abs(weights))):
        return 0.0, 0.0
    if len(weights) <= ENUMERATED:
        sums = np.zeros(1)
        for weight in weights:
            sums = np.concatenate([sums + weight, sums - weight])
        return float(np.mean(sums > level)), float(np.mean(sums == level))
    found = sign_coefficients(weights, (), bias=-level, tolerance=TOLERANCE, most_terms=MOST_TERMS)
    return float(1 + found.bias) / 2, 0.0


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
