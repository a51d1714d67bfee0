"""Upper bounds on sign-rank: a search for a matrix of low rank with given signs."""

import dataclasses

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize
from scipy.special import expit

from .sign_rank import Matrix

SHARPNESS = (1.0, 4.0, 16.0)


@dataclasses.dataclass(frozen=True)
class LowRank:
    """left @ right has the given signs if `margin` is above 0: the sign-rank is at most `rank`."""

    left: Float[np.ndarray, "rows rank"]
    right: Float[np.ndarray, "rank columns"]
    margin: float
    """The least entry in the direction of its sign, over the largest entry in size."""

    @property
    def rank(self) -> int:
        """The number of columns of `left`."""
        return self.left.shape[1]


def low_rank_signs(signs: Matrix, rank: int, *, seed: int = 0, steps: int = 300) -> LowRank:
    """The best that a search for two factors of this rank finds: the logistic loss of all entries, made ever sharper.

    >>> found = low_rank_signs(np.array([[1.0, -1.0], [-1.0, -1.0]]), 2)
    >>> found.margin > 0
    True
    """
    rows, columns = signs.shape
    if not 1 <= rank <= min(rows, columns):
        raise ValueError(f"A rank of a {rows} x {columns} matrix is from 1 to {min(rows, columns)}, got rank={rank}.")
    factors = np.random.default_rng(seed).standard_normal((rows + columns) * rank)

    def split(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return flat[: rows * rank].reshape(rows, rank), flat[rows * rank :].reshape(rank, columns)

    def loss(flat: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]:
        left, right = split(flat)
        height = sharpness * signs * (left @ right)
        slope = -sharpness * signs * expit(-height) / signs.size
        gradient = np.concatenate([(slope @ right.T).ravel(), (left.T @ slope).ravel()])
        return float(np.mean(np.logaddexp(0, -height))) + 1e-6 * float(flat @ flat), gradient + 2e-6 * flat

    for sharpness in SHARPNESS:
        factors = minimize(loss, factors, args=(sharpness,), jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
        left, right = split(factors)
        entries = signs * (left @ right)
        if entries.min() > 0:
            break
    return LowRank(left, right, float(entries.min() / np.abs(entries).max()))


def sign_rank_found(signs: Matrix, largest: int, *, tries: int = 3, steps: int = 300) -> LowRank | None:
    """The least rank, from `largest` downwards, at which some try finds the signs; None if not even the largest does.

    A proven upper bound on the sign-rank, not the sign-rank: a search may miss.

    >>> sign_rank_found(2 * np.eye(5) - 1, 4, steps=50).rank
    3
    """
    best = None
    for rank in range(min(largest, *signs.shape), 0, -1):
        searches = (low_rank_signs(signs, rank, seed=seed, steps=steps) for seed in range(tries))
        found = next((each for each in searches if each.margin > 0), None)
        if found is None:
            return best
        best = found
    return best
