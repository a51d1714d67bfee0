"""What does the modified perceptron do, update by update? The algorithm that symmetry's Theorem 2 is about."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Num


class Trace(NamedTuple):
    """A run of the modified perceptron to its end."""

    weights: Float[np.ndarray, " dimension"]
    updates: int
    margin: float
    """The smallest y w . v over the points, for w of length 1."""


def modified_perceptron(
    points: Num[np.ndarray, "points dimension"],
    labels: Num[np.ndarray, " points"],
    step: int | float,
    confidence: int | float,
    *,
    rng: np.random.Generator,
    most: int = 10**7,
) -> Trace:
    """w = 0; while some point has y w . v <= beta, w becomes w + h y v (symmetry, Algorithm 1).

    Which of these points is left open by the algorithm; here any, at random. The points must be separable.

    >>> rng = np.random.default_rng(0)
    >>> modified_perceptron(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1, -1]), 0.5, 1.0, rng=rng).weights
    array([ 1. , -1.5])
    """
    signed = np.asarray(points, np.float64) * np.asarray(labels, np.float64)[:, None]
    gram = step * signed @ signed.T
    values, counts = np.zeros(len(signed)), np.zeros(len(signed))
    for updates in range(most):
        asking = np.flatnonzero(values <= confidence)
        if not len(asking):
            weights = step * counts @ signed
            return Trace(weights, updates, float((signed @ weights).min() / np.linalg.norm(weights)))
        chosen = asking[rng.integers(len(asking))]
        counts[chosen] += 1
        values += gram[chosen]
    raise ValueError(f"The perceptron has not ended after {most} updates. Are the points separable? Allow `most` more.")


class Ties(NamedTuple):
    """How a perceptron in floating point decides, beside the same in whole numbers."""

    steps: int
    ties: int
    """Examples with y w . v = beta exactly, in whole numbers."""
    parted: int
    """Examples on which the two decide differently."""
    parted_elsewhere: int
    """Those of them that are no ties."""


def count_ties(
    points: Int[np.ndarray, "points dimension"],
    labels: Int[np.ndarray, " points"],
    order: Int[np.ndarray, " steps"],
    step: float,
    confidence: int,
) -> Ties:
    """Follows the perceptron with step h and beta = h * `confidence` in float64, and counts beside it in units of h.

    The points are whole numbers, so that w / h is, too, and exact. Both see the same updates, those that floating
    point decides on; where the two would decide differently is counted.

    >>> count_ties(np.array([[1], [2]]), np.array([1, 1]), np.arange(6) % 2, 0.1, 2)
    Ties(steps=6, ties=1, parted=0, parted_elsewhere=0)
    """
    signed = np.asarray(points, np.int64) * np.asarray(labels, np.int64)[:, None]
    weights, whole = np.zeros(signed.shape[1]), np.zeros(signed.shape[1], np.int64)
    beta, moves = step * confidence, step * signed.astype(float)
    ties = parted = elsewhere = 0
    for place in order.tolist():
        margin = int(signed[place] @ whole)
        asks = float(signed[place].astype(float) @ weights) <= beta
        ties += margin == confidence
        if asks != (margin <= confidence):
            parted += 1
            elsewhere += margin != confidence
        if asks:
            weights += moves[place]
            whole += signed[place]
    return Ties(len(order), ties, parted, elsewhere)
