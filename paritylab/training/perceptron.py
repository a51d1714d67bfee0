"""What does the modified perceptron do, update by update? The algorithm that symmetry's Theorem 2 is about."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num


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

    Which of these points is left open by the algorithm; here any, at random. The points must be separable. All is
    counted in units of h, so that it is exact, ties with beta included, where the points are whole numbers.

    >>> rng = np.random.default_rng(0)
    >>> modified_perceptron(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1, -1]), 0.5, 1.0, rng=rng).weights
    array([ 1. , -1.5])
    """
    signed = np.asarray(points, np.float64) * np.asarray(labels, np.float64)[:, None]
    gram = signed @ signed.T
    values, counts = np.zeros(len(signed)), np.zeros(len(signed))
    for updates in range(most):
        asking = np.flatnonzero(step * values <= confidence)
        if not len(asking):
            # The margin is that of the values that ended it: another sum of the same terms rounds in another way.
            weights = counts @ signed
            return Trace(step * weights, updates, float(values.min() / np.linalg.norm(weights)))
        chosen = asking[rng.integers(len(asking))]
        counts[chosen] += 1
        values += gram[chosen]
    raise ValueError(f"The perceptron has not ended after {most} updates. Are the points separable? Allow `most` more.")


class Stream(NamedTuple):
    """A perceptron on fresh examples, at the time at which it was good enough."""

    weights: Float[np.ndarray, " dimension"]
    updates: int
    examples: int
    """How many examples had come by then, those that asked for no update included."""


def streamed_perceptron(
    points: Num[np.ndarray, "points dimension"],
    labels: Num[np.ndarray, " points"],
    chances: Float[np.ndarray, " points"],
    *,
    until: Callable[[Bool[np.ndarray, " points"]], bool],
    rng: np.random.Generator,
    most: int = 10**7,
) -> Stream:
    """The perceptron on an endless stream of examples from finitely many points, until its mistakes are few enough.

    It is SGD of batch one on max(0, -y w . v) from w = 0. Only examples with y w . v <= 0 change anything: how many
    come before the next one is geometric, and which one it is follows the stream among those, so that the others
    are jumped over. `until` is asked which points are classified wrongly, at the start and after each update. Whole
    numbers are exact here, so that the weights have the mistakes that `until` saw.

    >>> rng = np.random.default_rng(0)
    >>> points, labels = np.array([[1.0, 1.0], [-1.0, 1.0]]), np.array([1, -1])
    >>> streamed_perceptron(points, labels, np.array([0.5, 0.5]), until=lambda wrong: not wrong.any(), rng=rng).updates
    2
    """
    signed = np.asarray(points, np.float64) * np.asarray(labels, np.float64)[:, None]
    gram, probability = signed @ signed.T, np.asarray(chances, np.float64)
    values, counts = np.zeros(len(signed)), np.zeros(len(signed))
    examples = 0
    for updates in range(most):
        wrong = values <= 0
        if until(wrong):
            return Stream(counts @ signed, updates, examples)
        ends = np.cumsum(np.where(wrong, probability, 0.0))
        if not ends[-1] > 0:
            raise ValueError("No example that is classified wrongly ever comes, and the perceptron is not good enough.")
        examples += int(rng.geometric(min(1.0, ends[-1])))
        chosen = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
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
