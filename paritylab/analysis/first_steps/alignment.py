"""How much the first gradient of a ReLU unit knows of a parity: exactly, for signs, perturbed signs and Gaussians.

The initial gradient alignment (arXiv 2412.04910) of a unit relu(w . x + b) is the mean square over its random weights
of the population gradient on the correlation loss. By symmetry all of it is made of one kind of numbers: the mean
square over w of the coefficient of a set of m coordinates in 1(w . x > 0), or in relu(w . x).

Signs w, +-1, make these functions symmetric, with coefficients in whole numbers. Gaussian w make them the eigenvalues
of the arc-cosine kernels. For signs plus sigma times a Gaussian, 1(z > 0) = 1/2 + (1/pi) int sin(t z) / t dt and
relu(z) = z/2 + (1/pi) int (1 - cos(t z)) / t^2 dt over t > 0 turn the coefficient into an integral over t of a product
of m factors sin(t w_i) and n - m factors cos(t w_i), and its mean square into one over t and t' in which a factor is

    A = E[sin(t w) sin(t' w)] = (c(t - t') - c(t + t')) / 2,   B = E[cos(t w) cos(t' w)] = (c(t - t') + c(t + t')) / 2

with c(x) = cos(x) exp(-sigma^2 x^2 / 2). Nothing cancels that is not as small as the result, so that numbers like
1e-60 come out with all their digits.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from ...demands import check_number, check_whole
from ..fourier.krawtchouk import exact_symmetric_spectrum
from ..kernels.relu import ReluKernel

LARGEST = 1000
"""Coordinates; beyond, powers of A underflow."""
LEAST = 0.01
"""The smallest perturbation of signs that is integrated: the grid grows as its inverse."""
NODES, WIDTH, FAR, NEGLIGIBLE = 10, 3.0, 9.0, 1e-12
"""Gauss-Legendre points of a panel, its width times sqrt(n), where c is 0, and a share of the largest that is none."""
AT_ONCE = 2**21


class Alignment(NamedTuple):
    """Mean squares over the random weights of one unit's population gradient, on the loss -y f."""

    weights: float
    """The squared length of the gradient of all hidden weights, for an output weight of +-1."""
    bias: float
    """The square of that of the hidden bias."""
    output: float
    """The square of that of the output weight."""

    @property
    def total(self) -> float:
        """The squared length of the whole gradient of the unit."""
        return self.weights + self.bias + self.output


def initial_alignment(n: int, k: int, sigma: int | float, *, bias: bool = True) -> Alignment:
    """The initial gradient alignment of one ReLU unit with the parity of k of n uniform coordinates.

    Each weight is (r + sigma g) / sqrt(n (1 + sigma^2)) with r = +-1 and g Gaussian: `sigma` is 0 for signs, and
    `math.inf` for Gaussians of variance 1 / n. The bias is drawn in the same way, or is 0. The slope of a ReLU at 0
    is 0, which counts for signs: their sum is 0 with a probability of order 1 / sqrt(n).

    >>> initial_alignment(50, 50, 0).total > 1e-3, initial_alignment(50, 50, math.inf).total < 1e-15
    (True, True)
    """
    check_whole("n", n, 1, LARGEST)
    check_whole("k", k, 1, n)
    if sigma != math.inf:
        check_number("sigma", sigma, 0)
        if 0 < sigma < LEAST:
            raise ValueError(
                f"A perturbation of signs is integrated from sigma={LEAST} on, got sigma={sigma}. Use 0, or raise it."
            )
    size = n + bias  # the bias is the weight of a coordinate that is always 1
    step, relu = _means(size, float(sigma), k, bias)
    spread = 1.0 if sigma == math.inf else 1.0 + sigma**2
    weights = k * step[k - 1] + ((n - k) * step[k + 1] if k < n else 0.0)
    return Alignment(weights, step[k], relu[k] / (n * spread))


def alignment_rate(sigma: int | float) -> float:
    """The limit of the n-th root of the alignment with almost full parities: 1 for signs, 1/2 for Gaussians.

    It is the largest |A| over all t and t', which is (1 - min c) / 2: below 1 for every sigma > 0, so that any constant
    perturbation makes the alignment exponentially small, and 1 - O(1/n) for sigma of order 1 / sqrt(n).

    >>> [round(alignment_rate(sigma), 4) for sigma in (0, 0.1, 0.4, 1, math.inf)]
    [1.0, 0.9762, 0.7524, 0.5282, 0.5]
    """
    if sigma == math.inf:
        return 0.5
    check_number("sigma", sigma, 0)
    if sigma == 0:
        return 1.0
    # c' = 0 where tan(x) = -sigma^2 x, between pi / 2 and pi.
    lowest = brentq(lambda x: math.sin(x) + sigma**2 * x * math.cos(x), math.pi / 2, math.pi, xtol=1e-14)
    return (1 - math.cos(lowest) * math.exp(-((sigma * lowest) ** 2) / 2)) / 2


def _means(size: int, sigma: float, k: int, bias: bool) -> tuple[dict[int, float], dict[int, float]]:
    """For sets of k - 1, k and k + 1 coordinates the mean square coefficients of a step and of a ReLU.

    With a bias, a set and the set with the constant coordinate are one.
    """
    levels = range(k - 1, min(k + 2 + bias, size + 1))
    if sigma == 0:
        step, relu = _of_signs(size)
    elif sigma == math.inf:
        step, relu = _of_gaussians(size)
    else:
        step = {m: _step(size, m, sigma) for m in levels}
        relu = {m: _relu(size, m, sigma) for m in levels if m >= k}
    if not bias:
        return {m: step[m] for m in levels}, {k: relu[k]}
    return {m: step[m] + step.get(m + 1, 0.0) for m in levels}, {k: relu[k] + relu[k + 1]}


def _of_signs(size: int) -> tuple[dict[int, float], dict[int, float]]:
    """All weights may be +1: another sign of one changes the sign of coefficients."""
    sums = [size - 2 * w for w in range(size + 1)]
    found = [exact_symmetric_spectrum(values) for values in ([int(s > 0) for s in sums], [max(s, 0) for s in sums])]
    step, relu = (dict(enumerate((each.coefficients**2).tolist())) for each in found)
    return step, relu


def _of_gaussians(size: int) -> tuple[dict[int, float], dict[int, float]]:
    """Weights of variance 1, where a ReLU's are `size` times those of a kernel of points of length 1."""
    steps = ReluKernel(size, 0.0, features=0.0, gates=0.0, gate_bias=1.0).eigenvalues() / 2
    relus = ReluKernel(size, 0.0, features=1.0, gates=0.0, gate_bias=0.0).eigenvalues() / 2 * size
    return dict(enumerate(steps.tolist())), dict(enumerate(relus.tolist()))


def _step(size: int, m: int, sigma: float) -> float:
    """1/2 + sign(z) / 2: no coefficients at even levels but the constant."""
    if m % 2 == 0:
        return 0.25 if m == 0 else 0.0
    return _integral(size, m, sigma, 1)


def _relu(size: int, m: int, sigma: float) -> float:
    """z / 2 + |z| / 2: of the odd levels the first alone."""
    if m % 2:
        return (1 + sigma**2) / 4 if m == 1 else 0.0
    return _integral(size, m, sigma, 2)


def _integral(size: int, m: int, sigma: float, power: int) -> float:
    """pi^-2 times the integral of A^m B^(size - m) / (t t')^power over t, t' > 0, for m and power both odd or even.

    In u = t - t' and v = t + t' it is symmetric, so that its triangle is half of a square; from some v on, c(v) is 0
    and the integral over v is one of a rational function.
    """
    far = FAR / sigma
    panels = math.ceil(far * math.sqrt(size) * max(1.0, sigma) / WIDTH)
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(0, far, panels + 1)
    x = (edges[:-1, None] + (nodes[None] + 1) * (far / panels / 2)).ravel()
    share = np.tile(shares * (far / panels / 2), panels)
    envelope = np.exp(-((sigma * x) ** 2) / 2)
    c = np.cos(x) * envelope
    slope = -np.sin(x) * envelope - sigma**2 * x * c
    # Where even the envelopes give nothing that counts: they fall, so that each row has a last column.
    least = 2 * alignment_rate(sigma) * NEGLIGIBLE ** (1 / size) if size > 1 else 0.0
    last = np.searchsorted(-envelope, -(least - envelope), side="right")
    total, first = 0.0, 0
    while first < len(x) and last[first] > 0:
        stop = first + max(1, AT_ONCE // int(last[first]))
        rows, columns = slice(first, stop), slice(0, int(last[first]))
        total += share[rows] @ _integrand(rows, columns, x, c, slope, size, m, power) @ share[columns]
        first = stop
    # v = 1 / s beyond: 4^p / (v^2 - u^2)^p dv = 4^p s^(2p-2) / (1 - u^2 s^2)^p ds.
    s = (nodes + 1) / (2 * far)
    beyond = (4.0**power * s ** (2 * power - 2) / (1 - np.outer(x, s) ** 2) ** power) @ (shares / (2 * far))
    near = x < far / 2  # c^size is 0 long before
    tail = np.sum((share * (c / 2) ** size * beyond)[near])
    return float(total / 2 + tail) / math.pi**2


def _integrand(
    rows: slice,
    columns: slice,
    x: Float[np.ndarray, " nodes"],
    c: Float[np.ndarray, " nodes"],
    slope: Float[np.ndarray, " nodes"],
    size: int,
    m: int,
    power: int,
) -> Float[np.ndarray, "rows columns"]:
    """(4 / (v^2 - u^2))^power A^m B^(size - m) at some v and u."""
    v, u = x[rows, None], x[None, columns]
    minus, plus = (c[None, columns] - c[rows, None]) / 2, (c[None, columns] + c[rows, None]) / 2
    gap = (v - u) * (v + u)
    same = gap == 0
    quotient = np.where(same, -slope[rows, None] / (4 * v), minus / np.where(same, 1.0, gap))
    return (4 * quotient) ** power * minus ** (m - power) * plus ** (size - m)
