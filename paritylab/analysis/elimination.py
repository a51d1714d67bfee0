"""Parities by Gaussian elimination over the field of two elements: what a learner that knows the class needs.

Without noise n independent examples settle a parity of n bits, however many of them it has, in about n^3 steps: the
baseline beside which hidden-progress (Section 2) sets gradient descent, which needs n to the power of k.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Eliminated(NamedTuple):
    """What elimination found."""

    support: tuple[int, ...] | None
    """The support, if there is one parity that agrees with all examples."""
    rank: int
    examples: int
    """How many examples it took; all of them if they were not enough."""
    consistent: bool
    """Whether some parity agrees with all examples that were used."""


def parity_by_elimination(x: Float[np.ndarray, "examples n"], y: Float[np.ndarray, " examples"]) -> Eliminated:
    """The parity of +-1 bits that agrees with the examples, which are taken one by one until they settle it.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], (40, 20))
    >>> parity_by_elimination(x, x[:, 3] * x[:, 11])
    Eliminated(support=(3, 11), rank=20, examples=20, consistent=True)
    """
    n = x.shape[1]
    if not (np.all(np.abs(x) == 1) and np.all(np.abs(y) == 1)):
        raise ValueError("Elimination is for bits and labels of +-1, got other values. Use signs.")
    # A row is a whole number: bit i is set where x_i = -1, and bit n where the label is -1.
    powers = [1 << i for i in range(n + 1)]
    rows = (
        sum(p for p, bit in zip(powers, (*point, label), strict=True) if bit < 0)
        for point, label in zip(x, y, strict=True)
    )
    pivots: dict[int, int] = {}
    used = 0
    for row in rows:
        used += 1
        for i, pivot in pivots.items():
            if row >> i & 1:
                row ^= pivot
        if row == powers[n]:
            return Eliminated(None, len(pivots), used, consistent=False)
        if row:
            first = (row & -row).bit_length() - 1
            pivots = {i: pivot ^ row if pivot >> first & 1 else pivot for i, pivot in pivots.items()} | {first: row}
        if len(pivots) == n:
            support = tuple(sorted(i for i, pivot in pivots.items() if pivot >> n & 1))
            return Eliminated(support, n, used, consistent=True)
    return Eliminated(None, len(pivots), used, consistent=True)
