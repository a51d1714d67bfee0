"""The fixed embeddings that stand for linear methods: features in [-1, 1] that do not depend on A.

- `relu`: ReLU6 units with weights in {-1, 0, 1} and bias 1/(8k), the network's own first layer before training;
- `fourier`: cos(w . x + b) with Gaussian w, which approximates the Gaussian (RBF) kernel of bandwidth 1;
- `gates`: x_j behind the gates of such ReLU6 units, the features of a network in the tangent-kernel regime;
- `quadratic`, `cubic`: all monomials of degree up to 2 and up to 3, the first `count` of them.

Each is a table at small n and a vector of exact correlations with a parity at any n.
"""

import itertools
import math
from typing import Literal

import numpy as np
from jaxtyping import Float, Integer

from ....analysis import cosine_correlations, ternary_correlations, ternary_gate_correlations
from ....analysis.first_steps.exact import CAP
from ....cube import cube

Embedding = Literal["relu", "fourier", "gates", "quadratic", "cubic"]
TITLES: dict[Embedding, str] = {
    "relu": "random ReLU6",
    "fourier": "random Fourier",
    "gates": "frozen gates (tangent kernel)",
    "quadratic": "polynomials of degree 2",
    "cubic": "polynomials of degree 3",
}
DEGREES: dict[Embedding, int] = {"quadratic": 2, "cubic": 3}


def sets(n: int, k: int) -> Integer[np.ndarray, "sets k"]:
    """All A of size k."""
    return np.array(list(itertools.combinations(range(n), k)))


def drawn_sets(n: int, k: int, count: int, seed: int) -> Integer[np.ndarray, "{count} {k}"]:
    """Random A of size k."""
    rng = np.random.default_rng((seed, n, k))
    return np.array([np.sort(rng.choice(n, k, replace=False)) for _ in range(count)])


def size(embedding: Embedding, n: int, count: int) -> int:
    """How many features there are, at most `count`."""
    if embedding == "gates":
        return count // n * n
    if embedding in DEGREES:
        return min(count, sum(math.comb(n, degree) for degree in range(DEGREES[embedding] + 1)))
    return count


def top(n: int, k: int) -> float:
    """The largest value of a ReLU6 unit."""
    return min(CAP, math.sqrt(n) + 1 / (8 * k))


def _ternary(n: int, count: int, seed: int) -> Integer[np.ndarray, "{count} {n}"]:
    return np.random.default_rng(seed).integers(-1, 2, (count, n))


def _waves(n: int, count: int, seed: int) -> tuple[Float[np.ndarray, "{count} {n}"], Float[np.ndarray, " {count}"]]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, n)) / math.sqrt(n), rng.uniform(0, 2 * np.pi, count)


def table(embedding: Embedding, n: int, k: int, count: int, seed: int) -> Float[np.ndarray, "points features"]:
    """All features at all points of the cube."""
    x = np.asarray(cube(n), np.float64)
    if embedding in DEGREES:
        monomials = itertools.chain(*(itertools.combinations(range(n), d) for d in range(DEGREES[embedding] + 1)))
        return np.stack([x[:, list(each)].prod(axis=1) for each in itertools.islice(monomials, count)], axis=1)
    if embedding == "fourier":
        waves, phases = _waves(n, count, seed)
        return np.cos(x @ waves.T + phases)
    z = x @ _ternary(n, count if embedding == "relu" else count // n, seed).T / math.sqrt(n) + 1 / (8 * k)
    if embedding == "relu":
        return np.clip(z, 0, CAP) / top(n, k)
    gates = (z > 0) & (z < CAP)
    return (gates[:, :, None] * x[:, None, :]).reshape(len(x), -1)


def correlations(
    embedding: Embedding, n: int, k: int, count: int, seed: int, chosen: Integer[np.ndarray, "sets k"]
) -> Float[np.ndarray, " sets"]:
    """|E[f_A Psi]| for each A, exactly, at any n. A monomial of another degree than k has none."""
    if embedding in DEGREES:
        if DEGREES[embedding] >= k:
            raise ValueError(f"Monomials of degree {DEGREES[embedding]} hold {k}-parities; enumerate them at small n.")
        return np.zeros(len(chosen))
    if embedding == "fourier":
        waves, phases = _waves(n, count, seed)
        found = [cosine_correlations(waves, phases, each) for each in chosen]
    elif embedding == "relu":
        weights = _ternary(n, count, seed)
        found = [ternary_correlations(weights, 1 / (8 * k), each) / top(n, k) for each in chosen]
    else:
        weights = _ternary(n, count // n, seed)
        found = [ternary_gate_correlations(weights, 1 / (8 * k), each) for each in chosen]
    return np.array([np.linalg.norm(each) for each in found])
