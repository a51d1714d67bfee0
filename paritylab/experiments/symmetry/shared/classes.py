"""Why parity is hard as one of all parities and easy as a symmetric function: both classes by their Gram matrices.

All parities are orthogonal on uniform points, so that a learner by statistical queries faces 2^n of them; the symmetric
functions, though twice as many, span n + 1 dimensions. Parities are no harder to learn from examples: by Gaussian
elimination over the field of two elements, from about n of them (symmetry, Section 1).
"""

import itertools

import numpy as np
from jaxtyping import Integer
from scipy.stats import binom

from ....bounds.queries import gram, spectral_dimension
from ....cube import cube


def dimensions(n: int) -> dict[str, float]:
    """The spectral dimensions of all parities and of all symmetric functions of n bits, on uniform points."""
    member = np.asarray(cube(n)) < 0
    parities = 1.0 - 2 * (member.astype(int) @ member.T.astype(int) % 2)
    symmetric = np.array([*itertools.product((-1.0, 1.0), repeat=n + 1)])
    table = gram(parities, np.full(2**n, 2.0**-n))
    return {
        "parities": spectral_dimension(table),
        "overlap": float(np.abs(table - np.eye(2**n)).max()),
        "symmetric": spectral_dimension(gram(symmetric, binom.pmf(np.arange(n + 1), n, 0.5))),
    }


def eliminated(n: int, examples: int, trials: int, seed: int) -> dict[str, int]:
    """How often a random parity is the only one that agrees with uniform examples, and elimination finds it."""
    rng, found = np.random.default_rng((seed, n, examples)), 0
    for _ in range(trials):
        chosen, x = rng.integers(0, 2, n), rng.integers(0, 2, (examples, n))
        solution = eliminate(x, x @ chosen % 2)
        found += solution is not None and bool(np.all(solution == chosen))
    return {"recovered": found, "trials": trials}


def eliminate(x: Integer[np.ndarray, "examples n"], y: Integer[np.ndarray, " examples"]) -> np.ndarray | None:
    """The one solution s of x s = y modulo 2; None if there is none, or more than one.

    >>> eliminate(np.array([[1, 1], [0, 1]]), np.array([1, 1])).tolist()
    [0, 1]
    """
    table, n = np.column_stack([x, y]) % 2, x.shape[1]
    for place in range(n):
        rows = place + np.flatnonzero(table[place:, place])
        if not len(rows):
            return None
        table[[place, rows[0]]] = table[[rows[0], place]]
        others = table[:, place].astype(bool)
        others[place] = False
        table[others] ^= table[place]
    return None if table[n:, n].any() else table[:n, n]
