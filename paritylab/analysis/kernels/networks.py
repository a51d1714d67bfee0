"""Tangent and conjugate kernels of networks, and predictors from a kernel matrix.

The neural tangent kernel of a network is the matrix of inner products of its gradients, the
conjugate kernel that of its last hidden features. Both are computed for any network of this package in
float64. A kernel matrix is all that ridge regression, the support vector machine and linearized
training need. The kernels of infinitely wide ReLU networks are in `relu`.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Num

from ...networks.base import Network
from ..margins import maximal_margin

Points = Num[Any, "points n"]
Kernel = Num[np.ndarray, "points points"]
Each = Num[np.ndarray, " points"]
"""A number for each point."""

BLOCK_BYTES, LARGEST_BYTES = 2**28, 2**33
"""Bytes of gradients computed per call, and held in all."""


def tangent_kernel(
    network: Network, x: Points, other: Num[Any, "others n"] | None = None, part: Callable[[Any], Any] | None = None
) -> Float[np.ndarray, "points others"]:
    """The empirical neural tangent kernel: inner products of gradients in all trained arrays, in float64.

    `part` chooses some of the arrays, as `lambda network: network.hidden` does. (Jacot et al. 2018.)

    >>> from paritylab import MLP, root_key
    >>> from paritylab.cube import cube
    >>> network = MLP(4)(3, key=root_key(0))
    >>> kernel = tangent_kernel(network, cube(3))
    >>> kernel.shape, bool(np.allclose(kernel, kernel.T))
    ((8, 8), True)
    """
    left = _gradients(network, x, part)
    right = left if other is None else _gradients(network, other, part)
    return left @ right.T


def conjugate_kernel(
    network: Network, x: Points, other: Num[Any, "others n"] | None = None
) -> Float[np.ndarray, "points others"]:
    """Inner products of the last hidden features, which are the gradients in the output weights.

    For networks with a layer `output`, as MLPs and random features have. (Daniely et al. 2016.)

    >>> from paritylab import root_key
    >>> from paritylab.networks import RandomFeatures
    >>> from paritylab.cube import cube
    >>> conjugate_kernel(RandomFeatures(4)(3, key=root_key(0)), cube(3)).shape
    (8, 8)
    """
    if getattr(getattr(network, "output", None), "weight", None) is None:
        raise ValueError(
            f"A conjugate kernel needs a network with a layer `output`, got {type(network).__name__}; "
            "choose arrays with `tangent_kernel(..., part=...)`."
        )
    return tangent_kernel(network, x, other, part=lambda each: each.output.weight)


def _gradients(
    network: Network, x: Points, part: Callable[[Any], Any] | None
) -> Float[np.ndarray, "points parameters"]:
    """One gradient a row, in blocks of points, so that little is needed beside the result."""
    chosen = network if part is None else part(network)
    leaves = [leaf for leaf in jax.tree.leaves(chosen) if eqx.is_inexact_array(leaf)]
    size = sum(leaf.size for leaf in leaves)
    if not size:
        raise ValueError("A tangent kernel needs arrays of floating point, got a network or a part without any.")
    if (needed := 8 * size * len(x)) > LARGEST_BYTES:
        raise ValueError(
            f"The gradients of {len(x)} points in {size} numbers would take {needed / 2**30:.3g} GiB, and at most "
            f"{LARGEST_BYTES / 2**30:.3g} are held; pass fewer points at a time, or a part of the network."
        )
    block = max(1, BLOCK_BYTES // (8 * size))
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        double = lambda leaf: jnp.asarray(leaf, jnp.float64) if eqx.is_inexact_array(leaf) else leaf
        network = jax.tree.map(double, network)
        points = jnp.asarray(np.asarray(x), jnp.float64)
        rows = [np.asarray(_block(network, points[i : i + block], part)) for i in range(0, len(points), block)]
    return np.concatenate(rows)


@eqx.filter_jit
def _block(network: Network, x: Any, part: Callable[[Any], Any] | None) -> Any:
    params, rest = eqx.partition(network, eqx.is_inexact_array)
    some = params if part is None else part(params)

    def value(some: Any, x: Any) -> Any:
        whole = some if part is None else eqx.tree_at(part, params, some)
        return eqx.combine(whole, rest)(x)

    gradients = jax.vmap(jax.grad(value), in_axes=(None, 0))(some, x)
    return jnp.concatenate([leaf.reshape(len(x), -1) for leaf in jax.tree.leaves(gradients)], axis=1)


def level_eigenvalues(kernel: Num[np.ndarray, " inner_products"]) -> Float[np.ndarray, " levels"]:
    """The eigenvalue per Fourier level, under the uniform distribution, of any kernel of the inner product.

    Entry j of `kernel` is its value for points that differ in j of the n coordinates, j = 0, ..., n.
    lambda_k is the mean of the kernel times the Krawtchouk polynomial K_k(j) / C(n, k), the mean of a
    character of level k over points of weight j. Exact to rounding relative to the largest value of
    the kernel; where eigenvalues far below that matter, `ReluKernel.eigenvalues` keeps their digits.

    >>> level_eigenvalues(np.array([2.0, 0.0, -2.0]))  # x . x' on two coordinates
    array([0., 1., 0.])
    """
    kernel = np.asarray(kernel, np.float64)
    n = len(kernel) - 1
    if not 1 <= n <= 1000:
        raise ValueError(f"Eigenvalues per level are for 1 <= n <= 1000, got {n + 1} values, so n={n}.")
    j = np.arange(n + 1)
    binomial = np.array([math.comb(n, each) / 2**n for each in j])
    before, character, values = np.zeros(n + 1), np.ones(n + 1), []
    for k in range(n + 1):
        values.append(float(binomial * character @ kernel))
        # (n - k) p_(k+1) = (n - 2j) p_k - k p_(k-1), for p_k = K_k / C(n, k)
        before, character = character, ((n - 2 * j) * character - k * before) / max(n - k, 1)
    return np.array(values)


def ridge_regression(kernel: Kernel, labels: Each, ridge: int | float = 0.0) -> Float[np.ndarray, " points"]:
    """Dual coefficients a of kernel ridge regression: f(x) = sum_i a_i K(x, x_i), (K + ridge) a = y.

    With ridge = 0 the interpolation of least norm, also where the kernel is singular.

    >>> ridge_regression(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1, -1]), ridge=1.0).round(4)
    array([ 0.3333, -0.5   ])
    """
    if not ridge >= 0:
        raise ValueError(f"A ridge is a number >= 0, got ridge={ridge}.")
    kernel, labels = np.asarray(kernel, np.float64), np.asarray(labels, np.float64)
    if ridge == 0:
        return np.linalg.lstsq(kernel, labels, rcond=1e-13)[0]
    return np.linalg.solve(kernel + ridge * np.eye(len(kernel)), labels)


class SupportVectorMachine(NamedTuple):
    """A soft-margin classifier, and a certificate of its optimality."""

    coefficients: Float[np.ndarray, " points"]
    """f(x) = sum_i coefficients_i K(x, x_i)."""
    primal: float
    """|f|^2 / 2 + penalty * sum of hinge losses: no less than the optimum."""
    dual: float
    """The value of the dual program: no more than the optimum."""

    @property
    def gap(self) -> float:
        """The duality gap."""
        return self.primal - self.dual


def support_vector_machine(
    kernel: Kernel, labels: Each, penalty: int | float = math.inf, *, tolerance: float = 1e-8, sweeps: int = 20_000
) -> SupportVectorMachine:
    """Least |f|^2 / 2 + penalty * sum_i max(0, 1 - y_i f(x_i)), without a bias, from a kernel matrix.

    By coordinate ascent on the dual (Hsieh et al. 2008) until the gap is below `tolerance` times the
    primal value. The infinite penalty is the hard margin, solved by `maximal_margin`.

    >>> found = support_vector_machine(np.array([[1.0, 0.0], [0.0, 4.0]]), np.array([1, -1]), penalty=0.5)
    >>> found.coefficients.tolist(), found.primal
    ([0.5, -0.25], 0.5)
    """
    kernel, labels = np.asarray(kernel, np.float64), np.asarray(labels, np.float64)
    if not np.all(np.abs(labels) == 1):
        raise ValueError(f"Labels are -1 or +1, got {labels[np.abs(labels) != 1][0]}. Pass the signs of the targets.")
    if not penalty > 0:
        raise ValueError(f"A penalty is a number above 0, or infinity for the hard margin, got penalty={penalty}.")
    signed = kernel * np.outer(labels, labels)
    if penalty == math.inf:
        return _hard_margin(kernel, labels)
    curvature = np.maximum(np.diag(signed), 1e-300)
    alpha, margins = np.zeros(len(labels)), np.zeros(len(labels))
    for sweep in range(sweeps):
        for i in range(len(labels)):
            moved = min(max(alpha[i] + (1 - margins[i]) / curvature[i], 0.0), float(penalty)) - alpha[i]
            if moved:
                alpha[i] += moved
                margins += moved * signed[i]
        norm = alpha @ margins
        primal = norm / 2 + penalty * np.maximum(0, 1 - margins).sum()
        dual = alpha.sum() - norm / 2
        if primal - dual <= tolerance * primal:
            break
        if sweep % 100 == 99:
            margins = signed @ alpha  # rounding does not add up
    return SupportVectorMachine(alpha * labels, float(primal), float(dual))


def _hard_margin(kernel: Kernel, labels: Each) -> SupportVectorMachine:
    """|f| = 1 / margin in the kernel's feature space; the features are the square root of the matrix."""
    values, vectors = np.linalg.eigh(kernel)
    kept = values > 1e-13 * values.max()
    found = maximal_margin(vectors[:, kept] * np.sqrt(values[kept]), labels)
    if not found.separable:
        raise ValueError(
            "The kernel does not separate the labels, so there is no hard margin; use a finite penalty "
            "(`maximal_margin` on features gives a certificate)."
        )
    coefficients = found.multipliers * labels / (found.dual * found.margin)
    return SupportVectorMachine(coefficients, 0.5 / found.primal**2, 0.5 / found.dual**2)


def linearized_training(
    kernel: Kernel, start: Each, labels: Each, *, steps: int | float, rate: int | float
) -> Float[np.ndarray, " points"]:
    """Dual coefficients a of a linear model after gradient descent on the mean square loss.

    f_t(x) = f_0(x) + sum_i a_i K(x, x_i), with K its tangent kernel, which does not change: what frozen
    gates, random features and linearized networks do. A step of rate r multiplies the errors f - y by
    I - (2r/m) K for m points (the loss is (y - f)^2). Infinitely many give kernel regression of y - f_0.
    (Jacot et al. 2018; Lee et al. 2019.)

    >>> kernel = np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> linearized_training(kernel, np.zeros(2), np.array([1, -1]), steps=1, rate=0.5)
    array([ 0.5, -0.5])
    """
    kernel, missing = np.asarray(kernel, np.float64), np.asarray(labels, np.float64) - np.asarray(start, np.float64)
    values, vectors = np.linalg.eigh(kernel)
    shrink = 2 * rate / len(kernel) * np.maximum(values, 0)
    if shrink.max() >= 2:
        limit = len(kernel) / values.max()
        raise ValueError(f"Gradient descent diverges at rate={rate}; it needs a rate below {limit:.4g}.")
    if steps == math.inf:
        return ridge_regression(kernel, missing)
    # (1 - (1 - s)^t) / s = the sum of (1 - s)^i over i < t, which is t where s = 0
    done = 1 - (1 - shrink) ** steps
    progress = np.where(shrink > 1e-14, done / np.where(shrink > 1e-14, shrink, 1.0), float(steps))
    return 2 * rate / len(kernel) * vectors @ (progress * (vectors.T @ missing))
