"""How many examples the signs of a gradient take, for units whose activation is a power (arXiv 2404.12376).

A unit (w . x)^k on the parity of k coordinates has the population gradient E[y x_i k (w . x)^(k-1)]: k! times the
product of the other relevant weights at a relevant coordinate, and 0 at every other one, because a polynomial of degree
k - 1 has no coefficient of k + 1 coordinates. One example deviates from it by k sqrt(E (w . x)^(2k-2)), which grows as
n^((k-1)/2) for signs w: so a batch of order n^(k-1), times what n coordinates ask of the tails, has all signs right,
where entries within a dead zone count as 0. That is the exponent of the examples beside which a measured one stands.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import ndtr

from ...demands import check_number, check_whole
from ..gradients.population import gradient_of_polynomial, members


class SignStep(NamedTuple):
    """The gradient of one unit on the loss -y f, up to its sign, and how far one example is from it."""

    mean: Float[np.ndarray, " n"]
    """E[y x_i k (w . x)^(k-1)]."""
    deviation: Float[np.ndarray, " n"]
    """The standard deviation of what is averaged."""

    def wrong(self, batch: int | float, dead_zone: int | float) -> Float[np.ndarray, " n"]:
        """The probability that an entry's sign over a batch, 0 within the dead zone, is not that of its mean.

        The mean over a batch is taken as normal. Without a dead zone no entry of mean 0 is right.
        """
        check_number("batch", batch, 1)
        check_number("dead_zone", dead_zone, 0)
        spread = self.deviation / math.sqrt(batch)
        with np.errstate(divide="ignore"):  # all examples agree: there is no chance in it
            above = ndtr((self.mean - dead_zone) / spread)
            below = ndtr((-self.mean - dead_zone) / spread)
        return np.where(self.mean == 0, above + below, 1 - np.where(self.mean > 0, above, below))


def sign_step(weights: Float[np.ndarray, " n"], support: Sequence[int]) -> SignStep:
    """Mean and deviation of the gradient of (w . x)^k on the parity of the k coordinates, at uniform points.

    >>> step = sign_step(np.ones(100), (0, 1, 2))
    >>> step.mean[[0, 50]].tolist(), step.deviation[50].round(1).tolist()
    ([6.0, 0.0], 517.9)
    """
    w = np.asarray(weights, float)
    k = int(members(len(w), support).sum())
    check_whole("k", k, 1)
    mean = gradient_of_polynomial(w, support, k * np.eye(k)[k - 1]).weight
    moment = gradient_of_polynomial(w, (), np.eye(2 * k - 1)[2 * k - 2]).bias
    return SignStep(mean, np.sqrt(np.maximum(k**2 * moment - mean**2, 0)))


def examples_for_signs(n: int, k: int, dead_zone: int | float | None = None, *, failures: int | float = 0.01) -> int:
    """The smallest batch for which all entries of one unit of sign weights have the right sign but for `failures`.

    That is the expected number of wrong ones of the n, and the first step is the hardest: what is irrelevant shrinks.
    The dead zone is a tenth of k!, the size of the relevant entries, if none is given.

    >>> [examples_for_signs(n, 3) for n in (50, 100)]
    [2537247, 11234008]
    """
    check_whole("k", k, 1)
    check_whole("n", n, k)
    check_number("failures", failures, 0)
    zone = 0.1 * math.factorial(k) if dead_zone is None else dead_zone
    check_number("dead_zone", zone, 0)
    if not 0 < zone < math.factorial(k) or not 0 < failures < n:
        raise ValueError(
            f"Signs can be told for a dead zone between 0 and the relevant entries, k! = {math.factorial(k)}, and "
            f"failures between 0 and n = {n}, got dead_zone={zone} and failures={failures}."
        )
    step = sign_step(np.ones(n), range(k))
    # Entries are alike: one of each kind, as often as there are.
    one = SignStep(step.mean[[0, -1]], step.deviation[[0, -1]])
    often = np.array([k, n - k], float)
    excess = lambda log_batch: math.log(max(one.wrong(math.exp(log_batch), zone) @ often, 1e-300)) - math.log(failures)
    if excess(0.0) <= 0:
        return 1
    return math.ceil(math.exp(brentq(excess, 0.0, 200.0, xtol=1e-12)))


def exponent_of_examples(
    n: int, k: int, dead_zone: int | float | None = None, *, failures: int | float = 0.01
) -> float:
    """The slope of log examples in log n between n and 2n: k - 1, and what the tails of n coordinates add.

    >>> [round(exponent_of_examples(10**3, k), 2) for k in (2, 3, 4)]
    [1.09, 2.1, 3.1]
    """
    pair = [examples_for_signs(each, k, dead_zone, failures=failures) for each in (n, 2 * n)]
    return math.log2(pair[1] / pair[0])
