"""The kernels of infinitely wide ReLU networks on the cube, and their eigenvalue per Fourier level.

All points of the cube have the same length, so a kernel of a rotation-invariant network depends on
two points through rho = x . x' / n alone. Such a kernel has the characters as eigenfunctions under the
uniform distribution, with one eigenvalue per level.

The eigenvalues are sums of non-negative terms here. With c = (rho + bias) / (1 + bias), the kernels
are power series in c with non-negative coefficients, and the coefficient of chi_S in c^d is the
probability that a walk, which stays where it is with probability bias / (1 + bias) and else flips
a random coordinate, is at S after d steps. So nothing cancels, small eigenvalues keep all their
digits, and an eigenvalue that is 0 comes out as exactly 0.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from ...demands import check_whole

LARGEST_N = 1000
"""2**-1000 is near the smallest number of float64, and the eigenvalues of high levels are that small."""

BIAS = 1.0
"""The variance of the hidden biases if none is given, here and in `paritylab analyze kernel`."""

Numbers = Float[np.ndarray, "..."]


def arc_cosine_0(cosine: Numbers) -> Numbers:
    """2 E[1{z > 0} 1{z' > 0}] for Gaussian z, z' of correlation `cosine`: 1/2 + arcsin(cosine) / pi.

    (Cho and Saul 2009: the arc-cosine kernel of degree 0.)

    >>> arc_cosine_0(np.array([-1.0, 0.0, 1.0]))
    array([0. , 0.5, 1. ])
    """
    return np.asarray(0.5 + np.arcsin(np.clip(cosine, -1, 1)) / np.pi)


def arc_cosine_1(cosine: Numbers) -> Numbers:
    """2 E[relu(z) relu(z')] for Gaussian z, z' of variance 1 and correlation `cosine` (degree 1).

    >>> arc_cosine_1(np.array([-1.0, 0.0, 1.0])).round(4)
    array([0.    , 0.3183, 1.    ])
    """
    cosine = np.clip(cosine, -1, 1)
    return np.asarray((np.sqrt(1 - cosine**2) + cosine * np.arcsin(cosine)) / np.pi + cosine / 2)


@dataclass(frozen=True)
class ReluKernel:
    """K(rho) = features * arc_cosine_1(c) + (gates * rho + gate_bias) * arc_cosine_0(c) + constant.

    `features` is what training the output weights contributes, `gates` and `gate_bias` what training
    the hidden weights and hidden biases contributes, `constant` the output bias.
    c = (rho + bias) / (1 + bias), where `bias` is the variance of a hidden bias over that of w . x.

    >>> kernel = relu_ntk(3, bias=0)
    >>> kernel(np.array([-1.0, 0.0, 1.0])).round(4)
    array([0.    , 0.3183, 2.    ])
    >>> kernel.eigenvalues().round(4)
    array([0.5292, 0.3333, 0.1569, 0.    ])
    """

    n: int
    bias: float
    features: float
    gates: float
    gate_bias: float
    constant: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LARGEST_N:
            raise ValueError(
                f"A kernel on the cube is for 1 <= n <= {LARGEST_N} (eigenvalues of high levels underflow beyond), "
                f"got n={self.n}."
            )
        if not 0 <= self.bias < math.inf:
            raise ValueError(f"The variance of a bias is a finite number >= 0, got bias={self.bias}.")

    def __call__(self, rho: Numbers) -> Numbers:
        """The kernel of two points with inner product n * rho."""
        cosine = np.asarray((rho + self.bias) / (1 + self.bias))
        gates = (self.gates * rho + self.gate_bias) * arc_cosine_0(cosine)
        return np.asarray(self.features * arc_cosine_1(cosine) + gates + self.constant)

    def matrix(
        self, x: Float[np.ndarray, "points {self.n}"], other: Float[np.ndarray, "others {self.n}"]
    ) -> Float[np.ndarray, "points others"]:
        """The kernel between two sets of points of the cube (+-1)."""
        return self(np.asarray(x, np.float64) @ np.asarray(other, np.float64).T / self.n)

    @property
    def diagonal(self) -> float:
        """K(x, x), the squared length of the features."""
        return self.features + self.gates + self.gate_bias + self.constant

    def normalized(self) -> "ReluKernel":
        """The same kernel with features of length one."""
        names = ("features", "gates", "gate_bias", "constant")
        return replace(self, **{name: getattr(self, name) / self.diagonal for name in names})

    def eigenvalues(self) -> Float[np.ndarray, "{self.n+1}"]:
        """The eigenvalue of level k = 0, ..., n under the uniform distribution; C(n, k) characters share it.

        (gates * rho + gate_bias) is a multiple of c plus a rest that is 0 in the usual
        parametrizations; without biases only even powers of c and c itself are left then.
        """
        degree_1, c_degree_0, degree_0 = _level_series(self.n, self.bias)
        slope, rest = self.gates * (1 + self.bias), self.gate_bias - self.gates * self.bias
        values = self.features * degree_1 + slope * c_degree_0 + rest * degree_0
        values[0] += self.constant
        return values


def relu_ntk(n: int, bias: int | float = BIAS, *, output_bias: bool = False) -> ReluKernel:
    """The neural tangent kernel of sqrt(2/m) sum_i u_i relu(w_i . x / sqrt(n) + sqrt(bias) b_i), m to infinity.

    All of u, w, b are N(0, 1) and trained (Jacot et al. 2018, in their parametrization, with the factor
    of He et al. 2015). `bias` is 1 if it is not given, and 0 is the network without biases; `output_bias`
    adds a trained one.

    >>> relu_ntk(10).diagonal, relu_ntk(10, bias=0).diagonal
    (4.0, 2.0)
    """
    check_whole("n", n)
    bias = float(bias)
    return ReluKernel(n, bias, features=1 + bias, gates=1.0, gate_bias=bias, constant=float(output_bias))


def relu_conjugate_kernel(n: int, bias: int | float = BIAS) -> ReluKernel:
    """The kernel of ReLU random features, in the parametrization of `relu_ntk`, `bias` too: only u is trained.

    >>> relu_conjugate_kernel(10).diagonal, relu_conjugate_kernel(10, bias=0).diagonal
    (2.0, 1.0)
    """
    check_whole("n", n)
    return ReluKernel(n, float(bias), features=1 + float(bias), gates=0.0, gate_bias=0.0)


def mlp_ntk(n: int, width: int, weight_variance: float, bias_variance: float, output_variance: float) -> ReluKernel:
    """The mean neural tangent kernel of this package's two-layer ReLU `MLP` with Gaussian weights, at any width.

    That is sum_i u_i relu(w_i . x + b_i) + c without factors, all trained: the part of the output
    weights grows with the width. `GaussianInitialization` has variances 2/n, 2/n and 2/width.

    >>> round(mlp_ntk(10, 100, 0.2, 0.2, 0.02).diagonal, 9)
    122.0
    """
    spread = n * weight_variance
    gates = width * output_variance / 2
    return ReluKernel(n, bias_variance / spread, width * (spread + bias_variance) / 2, gates * n, gates, constant=1.0)


def _coefficients(terms: int) -> Float[np.ndarray, "3 {terms}"]:
    """Taylor coefficients in c of arc_cosine_1(c), c * arc_cosine_0(c) and arc_cosine_0(c).

    With t_m = binom(2m, m) / 4^m: arcsin c = sum of t_m c^(2m+1) / (2m + 1), and sqrt(1 - c^2) + c arcsin c
    = 1 + sum of t_(m-1) c^(2m) / (2m (2m - 1)).
    """
    half = terms // 2 + 1
    m = np.arange(1, half + 1)
    t = np.concatenate([[1.0], np.cumprod((2 * m - 1) / (2 * m))])[:half]  # t_0, ..., t_(half-1)
    found = np.zeros((3, 2 * half + 2))
    found[0, 0], found[:2, 1], found[2, 0] = 1 / np.pi, 0.5, 0.5
    found[0, 2 : 2 * half + 1 : 2] = t / (2 * m * (2 * m - 1)) / np.pi
    found[1, 2 : 2 * half + 1 : 2] = t / (2 * m - 1) / np.pi
    found[2, 1 : 2 * half : 2] = t / (2 * m - 1) / np.pi
    return found[:, :terms]


def _level_series(n: int, bias: float) -> Float[np.ndarray, "3 {n+1}"]:
    """Eigenvalues per level of these three: the walk until it has mixed, then the rest of the series in one piece.

    After d steps the probability of a set of size k is 2^-n times the sum over j of binom(n, j) terms
    with factors c_j^d, c_j = (1 - 2j/n + bias) / (1 + bias). All but j = 0 and j = n (where the walk
    alternates between even and odd sets) are below rounding once n exp(-2d / (n (1 + bias))) is.
    """
    steps = math.ceil(n * (1 + bias) / 2 * (math.log(n) + 40)) + 2
    taylor = _coefficients(steps)
    level = np.arange(n + 1)
    stay, down, up = bias / (1 + bias), level / n / (1 + bias), (n - level) / n / (1 + bias)
    at = np.zeros(n + 3)  # the probability of one set of each size, with a 0 on either side
    at[1] = 1
    total = np.zeros((3, n + 1))
    for d in range(steps):
        total += taylor[:, d, None] * at[1:-1]
        at[1:-1] = stay * at[1:-1] + down * at[:-2] + up * at[2:]
    last = (bias - 1) / (bias + 1)
    at_one, at_last = _tails(taylor, 1.0), _tails(taylor, abs(last))
    sign = np.where(level % 2 == 0, 1.0, -1.0)
    # Only even powers of c are left in the first two, only odd ones in the third.
    for row, of_last in ((0, 1.0), (1, 1.0), (2, math.copysign(1.0, last))):
        total[row] += 2.0**-n * (at_one[row] + of_last * sign * at_last[row])
    return total


def _tails(taylor: Float[np.ndarray, "3 terms"], c: float) -> Float[np.ndarray, " 3"]:
    """What the series at c >= 0 still lack: the functions less the terms that were taken."""
    if c ** taylor.shape[1] < 1e-18:
        return np.zeros(3)
    at = np.asarray(c)
    whole = np.array([arc_cosine_1(at), at * arc_cosine_0(at), arc_cosine_0(at)])
    powers = c ** np.arange(taylor.shape[1])
    return np.maximum(whole - (taylor * powers)[:, ::-1].sum(axis=1), 0)


def gaussian_eigenvalues(n: int, bandwidth: int | float) -> Float[np.ndarray, "{n+1}"]:
    """The eigenvalue per level of exp(-|x - x'|^2 / (2 bandwidth^2)), a product over coordinates.

    Each coordinate has 1 and q = exp(-2 / bandwidth^2) on and off the diagonal, hence eigenvalues
    (1 + q)/2 and (1 - q)/2, and level k takes the second k times.

    >>> gaussian_eigenvalues(2, bandwidth=1.0).round(4)
    array([0.3222, 0.2454, 0.1869])
    """
    if not bandwidth > 0:
        raise ValueError(f"A bandwidth is a number above 0, got bandwidth={bandwidth}.")
    q, level = math.exp(-2 / bandwidth**2), np.arange(n + 1)
    return ((1 + q) / 2) ** (n - level) * (-math.expm1(-2 / bandwidth**2) / 2) ** level


def best_hinge(eigenvalue: int | float, radius: int | float) -> float:
    """The least hinge loss over the ball of radius R of a parity on uniform points: max(0, 1 - R sqrt(lambda)).

    `eigenvalue` is that of the parity's level. Flipping coordinates by z maps h to chi_S(z) h(x z), which
    changes neither the loss nor the norm of h; averaged over z it is a multiple of chi_S, which by
    convexity is no worse. The multiple a chi_S has norm |a| / sqrt(lambda) and hinge loss 1 - a, a <= 1.

    With features of length one, C(n, k) lambda_k <= 1, so that this is at least 1 - R / sqrt(C(n, k))
    (hidden-progress, Theorem 6 and learning-parities, Theorem 2, in their elementary form).

    >>> best_hinge(0.01, radius=3)
    0.7
    """
    if eigenvalue < 0 or radius < 0:
        raise ValueError(f"Eigenvalues and radii are at least 0, got eigenvalue={eigenvalue} and radius={radius}.")
    return max(0.0, 1 - radius * math.sqrt(eigenvalue))
