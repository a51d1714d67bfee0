"""Closed-form ReLU kernels on the cube: against integrals, wide networks, dense eigenvalues and optimization."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize

import paritylab as pl
from paritylab.analysis import (
    ReluKernel,
    arc_cosine_0,
    arc_cosine_1,
    best_hinge,
    gaussian_eigenvalues,
    level_eigenvalues,
    mlp_ntk,
    relu_conjugate_kernel,
    relu_ntk,
    tangent_kernel,
)
from paritylab.cube import cube, root_key

KERNELS = {
    "NTK": relu_ntk(8, bias=0),
    "NTK with biases": relu_ntk(8, bias=1.0),
    "NTK with small biases": relu_ntk(8, bias=0.01, output_bias=True),
    "conjugate": relu_conjugate_kernel(8, bias=0),
    "conjugate with biases": relu_conjugate_kernel(8, bias=0.5),
    "MLP": mlp_ntk(8, 100, 0.25, 0.25, 0.02),
    "MLP with wide biases": mlp_ntk(8, 100, 0.1, 1.0, 0.02),
    "frozen random biases": ReluKernel(8, 0.7, 0.0, 1.0, 0.0),
    "gates alone, no biases": ReluKernel(8, 0.0, 0.0, 0.0, 1.0),
}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def points(n):
    return np.asarray(cube(n), float)


def sizes(n):
    return np.bitwise_count(np.arange(2**n))


def characters(n):
    """Column S is chi_S on all points."""
    masks = np.arange(2**n)
    return 1 - 2 * (np.bitwise_count(masks[:, None] & masks) % 2).astype(float)


@pytest.mark.parametrize("cosine", [-0.999, -0.6, 0.0, 0.3, 0.95])
def test_arc_cosine_kernels_are_their_integrals(cosine):
    """z = r cos t, z' = r cos(t - angle): both above 0 for t in an interval of length pi - angle."""
    angle = math.acos(cosine)
    low, high = angle - math.pi / 2, math.pi / 2
    gates = 2 * (high - low) / (2 * math.pi)
    # E[r^2] = 2
    relus, _ = quad(lambda t: 2 * 2 * math.cos(t) * math.cos(t - angle) / (2 * math.pi), low, high)
    assert float(arc_cosine_0(np.array(cosine))) == pytest.approx(gates, abs=1e-12)
    assert float(arc_cosine_1(np.array(cosine))) == pytest.approx(relus, abs=1e-12)


@kernels
def test_eigenvalues_per_level_against_a_dense_eigendecomposition(kernel):
    """All 256 eigenvalues of the matrix on the cube of 8 coordinates, and the characters as eigenvectors."""
    n, x = kernel.n, points(kernel.n)
    matrix, eigenvalues = kernel.matrix(x, x) / 2**n, kernel.eigenvalues()
    np.testing.assert_allclose(
        matrix @ characters(n), characters(n) * eigenvalues[sizes(n)], atol=1e-13 * kernel.diagonal
    )
    dense = np.linalg.eigvalsh(matrix)
    np.testing.assert_allclose(np.sort(eigenvalues[sizes(n)]), dense, atol=1e-13 * kernel.diagonal)
    assert np.diag(matrix) * 2**n == pytest.approx(kernel.diagonal)


@kernels
def test_eigenvalues_by_krawtchouk_polynomials(kernel):
    rho = (kernel.n - 2 * np.arange(kernel.n + 1)) / kernel.n
    np.testing.assert_allclose(kernel.eigenvalues(), level_eigenvalues(kernel(rho)), atol=1e-14 * kernel.diagonal)


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("bias", [0.0, 0.1, 1.0])
def test_eigenvalues_beyond_enumeration(n, bias):
    """By Krawtchouk sums to rounding, and with C(n, k) of each they add up to K(x, x)."""
    kernel = relu_ntk(n, bias)
    eigenvalues = kernel.eigenvalues()
    rho = (n - 2 * np.arange(n + 1)) / n
    np.testing.assert_allclose(eigenvalues, level_eigenvalues(kernel(rho)), atol=2e-14)
    trace = math.fsum(math.comb(n, k) * value for k, value in enumerate(eigenvalues))
    assert trace == pytest.approx(kernel.diagonal, rel=1e-13)
    assert np.all(eigenvalues >= 0)


def test_small_eigenvalues_keep_their_digits():
    """Level 20 of n = 30 in exact rational arithmetic of the series, where float sums would have lost all digits."""
    from fractions import Fraction

    n, k, terms = 30, 20, 400
    kernel = relu_conjugate_kernel(n, bias=0)
    # Coefficient of chi_S in rho^d by the walk, exactly; a float tail as in the closed form.
    at, total, coefficient = [Fraction(0)] * (n + 3), Fraction(0), Fraction(1)
    at[1] = Fraction(1)
    for d in range(terms):
        if d % 2 == 0:
            if d > 0:
                m = d // 2
                t = Fraction(math.comb(2 * m - 2, m - 1), 4 ** (m - 1))
                coefficient = t / (2 * m * (2 * m - 1))
            total += coefficient * at[k + 1]
        at = [
            Fraction(0),
            *(Fraction(j, n) * at[j] + Fraction(n - j, n) * at[j + 2] for j in range(n + 1)),
            Fraction(0),
        ]
    taken = math.fsum(math.comb(2 * m - 2, m - 1) / 4 ** (m - 1) / (2 * m * (2 * m - 1)) for m in range(1, terms // 2))
    tail = 2.0 ** (1 - n) * (math.pi / 2 - 1 - taken)
    value = kernel.eigenvalues()[k]
    assert 1e-13 < value < 1e-9
    # After 400 steps the walk is within 30 exp(-2 * 400 / 30) = 1e-10 of its limit.
    assert value == pytest.approx((float(total) + tail) / math.pi, rel=1e-9)


@pytest.mark.parametrize("n", [3, 8, 9, 30, 101])
def test_without_biases_odd_levels_from_three_on_are_exactly_zero(n):
    level = np.arange(n + 1)
    for kernel in (relu_ntk(n, 0), relu_ntk(n, 0, output_bias=True), relu_conjugate_kernel(n, 0)):
        eigenvalues = kernel.eigenvalues()
        zero = (level % 2 == 1) & (level >= 3)
        assert np.all(eigenvalues[zero] == 0)
        assert np.all(eigenvalues[~zero] > 0)
    for kernel in (relu_ntk(n, bias=1e-6), relu_ntk(n, bias=1.0), relu_conjugate_kernel(n, bias=1.0)):
        assert np.all(kernel.eigenvalues() > 0)


def unit_terms(network, x, other):
    """What each hidden unit adds to the tangent kernel, from the formulas of the gradients, in numpy."""
    layer, u = network.hidden[0], np.asarray(network.output.weight, float)
    weight, bias = np.asarray(layer.weight, float), np.asarray(layer.bias, float)
    z, others = weight @ x + bias, weight @ other + bias
    return np.maximum(z, 0) * np.maximum(others, 0) + u**2 * (z > 0) * (others > 0) * (x @ other + 1)


@pytest.mark.parametrize("n", [5, 10])
def test_a_network_of_width_4096_has_the_closed_form_within_5_sigma(n):
    """One network; the standard error comes from its 4,096 independent units. All distances."""
    width = 4096
    network = pl.MLP(width, initialization=pl.networks.GaussianInitialization())(n, key=root_key(1))
    x = 1.0 - 2 * np.tri(n + 1, n, -1)  # j coordinates at -1
    found = tangent_kernel(network, x)
    closed = mlp_ntk(n, width, 2 / n, 2 / n, 2 / width)
    worst = 0.0
    for j, other in enumerate(x):
        terms = unit_terms(network, x[0], other)
        assert terms.sum() + 1 == pytest.approx(found[0, j], rel=1e-5)
        sigma = terms.std(ddof=1) * math.sqrt(width)
        expected = float(closed(np.array((n - 2 * j) / n)))
        worst = max(worst, abs(found[0, j] - expected) / sigma) if sigma > 0 else worst
        assert abs(found[0, j] - expected) <= 5 * sigma + 1e-9
    assert 0.01 < worst < 5


def test_the_parametrization_of_jacot_is_the_mlp_rescaled():
    """sqrt(2/m) u relu(w x / sqrt(n) + sqrt(bias) b): the factors of each part, by hand."""
    n, width, bias = 6, 50, 0.4
    # In an MLP with u' = sqrt(2/m) u, w' = w / sqrt(n), b' = sqrt(bias) b, gradients are those in u, w, b
    # divided by these factors.
    mlp = mlp_ntk(n, width, 1 / n, bias / n * n, 2 / width)
    rho = np.linspace(-1, 1, 7)
    cosine = (rho + bias) / (1 + bias)
    features = mlp.features * arc_cosine_1(cosine) * 2 / width
    gates = (mlp.gates * rho / n + mlp.gate_bias * bias) * arc_cosine_0(cosine)
    np.testing.assert_allclose(relu_ntk(n, bias)(rho), features + gates, rtol=1e-12)


def test_the_gaussian_kernel():
    n, bandwidth = 8, 2.5
    j = np.arange(n + 1)
    np.testing.assert_allclose(
        gaussian_eigenvalues(n, bandwidth), level_eigenvalues(np.exp(-4 * j / (2 * bandwidth**2))), atol=1e-16
    )


# The best hinge loss over a ball.


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("n", [8, 20, 50])
@pytest.mark.parametrize("bias", [0.1, 1.0])
def test_the_best_hinge_loss_with_biases_is_above_the_bound(k, n, bias):
    eigenvalue = relu_ntk(n, bias).normalized().eigenvalues()[k]
    for radius in (0.1, 1.0, 0.9 * math.sqrt(math.comb(n, k))):
        assert best_hinge(eigenvalue, radius) > 1 - radius / math.sqrt(math.comb(n, k))
    assert best_hinge(eigenvalue, 1e9) == 0


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_best_hinge_loss_by_two_sides(k):
    """At n = 8 with biases: from below by 1 - |E[chi Psi]| R, from above by a function, both from the matrix."""
    n, kernel = 8, relu_ntk(8, bias=1.0).normalized()
    x = points(n)
    matrix, parity = kernel.matrix(x, x), x[:, :k].prod(axis=1)
    assert np.allclose(np.diag(matrix), 1)
    mean_feature = math.sqrt(parity @ matrix @ parity) / 2**n
    for radius in (0.5, 3.0):
        below = 1 - radius * mean_feature
        coefficients = parity * radius / (mean_feature * 2**n)
        assert coefficients @ matrix @ coefficients == pytest.approx(radius**2)
        above = np.maximum(0, 1 - parity * (matrix @ coefficients)).mean()
        found = best_hinge(kernel.eigenvalues()[k], radius)
        assert found == pytest.approx(below, abs=1e-12) and found == pytest.approx(above, abs=1e-12)


@pytest.mark.parametrize(("radius", "least"), [(2.0, 0.1), (30.0, 0.0)])
def test_an_optimizer_finds_no_better_function(radius, least):
    """n = 4, k = 2, all functions in the ball: f = F v with |v| <= R and F a square root of the kernel."""
    n, kernel = 4, relu_ntk(4, bias=1.0).normalized()
    x = points(n)
    values, vectors = np.linalg.eigh(kernel.matrix(x, x))
    features, parity = vectors * np.sqrt(values), x[:, 0] * x[:, 1]
    found = best_hinge(kernel.eigenvalues()[2], radius)
    assert found >= least
    hinge = lambda v: np.maximum(0, 1 - parity * (features @ v)).mean()
    random = np.random.default_rng(0)
    for _ in range(3):
        # A smooth program: slack variables s >= 0, s >= 1 - y f.
        start = np.concatenate([0.1 * random.normal(size=16), np.ones(16)])
        done = minimize(
            lambda z: z[16:].mean(),
            start,
            jac=lambda z: np.concatenate([np.zeros(16), np.full(16, 1 / 16)]),
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
            bounds=[(None, None)] * 16 + [(0, None)] * 16,
            constraints=[
                {"type": "ineq", "fun": lambda z: radius**2 - z[:16] @ z[:16],
                 "jac": lambda z: np.concatenate([-2 * z[:16], np.zeros(16)])},
                {"type": "ineq", "fun": lambda z: z[16:] - 1 + parity * (features @ z[:16]),
                 "jac": lambda z: np.hstack([parity[:, None] * features, np.eye(16)])},
            ],
        )  # fmt: skip
        assert done.success
        assert hinge(done.x[:16]) == pytest.approx(found, abs=1e-6)


def test_wrong_input_is_one_sentence():
    with pytest.raises(ValueError, match="got n=1001"):
        relu_ntk(1001)
    with pytest.raises(ValueError, match="got bias=-1"):
        relu_ntk(4, bias=-1)
    with pytest.raises(ValueError, match="bandwidth=0"):
        gaussian_eigenvalues(4, 0)
    with pytest.raises(ValueError, match="radius=-1"):
        best_hinge(0.1, -1)
