"""The relevant gradient of a sign-initialized ReLU unit on biased inputs, exactly at any n, and its limit.

On coordinates of mean mu a unit with sign weights w has E[y x_i 1(w . x > 0)] for i in S. It depends on w_i, on how
many of the other k - 1 relevant weights are +1 and on how many of the n - k irrelevant ones are, so that its mean
square over all w is a sum of some n terms. At mu = h / sqrt(n), times n**((k-1)/2), it has a limit that depends on h
alone: x_j is mu plus a fluctuation, the fluctuations of a set T of t relevant coordinates correlate with the unit's
slope as the t-th Hermite coefficient c_t of a step, prod over T of w_j times n**(-t/2), and terms of different T are
uncorrelated over w.
"""

import math

import numpy as np
from jaxtyping import Float
from scipy.stats import binom

from ...demands import check_number, check_whole
from ...networks.activations import relu
from ..gradients.blocks import frequencies

FAR = 7.0
"""Standard deviations of the number of irrelevant +1s that count; beyond is a mass of 3e-12."""


def biased_sign_gradient(n: int, k: int, mean: float) -> float:
    """The root mean square of E[y x_i 1(w . x > 0)], i in S, over sign weights w; y the parity of k of n biased bits.

    >>> round(biased_sign_gradient(101, 4, 0.0) * 101**1.5, 3)  # half of |xi_3|, scaled
    0.408
    """
    _check(n, k)
    check_number("mean", mean)
    if not -1 <= mean <= 1:
        raise ValueError(f"Signs have a mean between -1 and 1, got mean={mean}.")
    angles, pull = frequencies(np.ones(n), relu, 0.0, 1.0)
    rest = n - k
    spread = FAR * math.sqrt(rest) / 2
    ups = np.arange(max(0, math.floor(rest / 2 - spread)), min(rest, math.ceil(rest / 2 + spread)) + 1)
    up, down = (np.cos(angles) + 1j * sign * mean * np.sin(angles) for sign in (1, -1))
    up_labelled, down_labelled = (mean * np.cos(angles) + 1j * sign * np.sin(angles) for sign in (1, -1))
    # All have one size: the product over irrelevant weights turns by the difference of their numbers.
    turned = np.abs(up) ** rest * np.exp(1j * np.angle(up) * (2 * ups - rest)[:, None])
    total = 0.0
    for plus in range(k):
        labelled = up_labelled**plus * down_labelled ** (k - 1 - plus)
        for own in (up, down):
            gradient = np.real(turned @ (labelled * own * pull))
            share = math.comb(k - 1, plus) / 2**k
            total += share * float(binom.pmf(ups, rest, 0.5) @ gradient**2)
    return math.sqrt(total)


def scaled_sign_gradient(k: int, h: int | float | Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """The limit of n**((k-1)/2) times `biased_sign_gradient` at a mean of h / sqrt(n), as n grows.

    The square is the sum over t of C(k-1, t) c_t**2 h**(2 (k-1-t)), with c_0 = 1/2 and c_t = E[1(g > 0) He_t(g)] of a
    normal g, which is He_(t-1)(0) / sqrt(2 pi) and vanishes at even t.

    >>> scaled_sign_gradient(2, np.array([0.0, 1.0])).round(4).tolist()
    [0.3989, 0.6397]
    """
    check_whole("k", k, 2)
    bias = np.asarray(h, float)
    squares = [0.25, *(hermite_at_zero(t - 1) ** 2 / (2 * math.pi) for t in range(1, k))]
    square = sum(math.comb(k - 1, t) * squares[t] * bias ** (2 * (k - 1 - t)) for t in range(k))
    return np.asarray(np.sqrt(square))


def hermite_at_zero(t: int) -> int:
    """He_t(0): (-1)**(t/2) (t-1)!! at even t, 0 at odd t.

    >>> [hermite_at_zero(t) for t in range(5)]
    [1, 0, -1, 0, 3]
    """
    return 0 if t % 2 else (-1) ** (t // 2) * math.prod(range(1, t, 2))


def _check(n: int, k: int) -> None:
    check_whole("n", n, 1)
    check_whole("k", k, 2)
    if n % 2 == 0 or k > n:
        raise ValueError(
            f"Sign weights need an odd n, so that no sum is 0, and at least k coordinates, got n={n} and k={k}."
        )
