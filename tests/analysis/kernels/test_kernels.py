"""Empirical kernels of networks, and what is learned from a kernel matrix."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

import paritylab as pl
from paritylab.analysis import (
    conjugate_kernel,
    level_eigenvalues,
    linearized_training,
    maximal_margin,
    ridge_regression,
    support_vector_machine,
    tangent_kernel,
)
from paritylab.analysis.kernels import networks as module
from paritylab.cube import cube, root_key
from paritylab.networks.base import outputs


def test_the_tangent_kernel_of_an_mlp_by_its_formula():
    network = pl.MLP(9)(4, key=root_key(0))
    x, other = np.asarray(cube(4), float), np.asarray(cube(4), float)[3:7]
    weight, bias = (np.asarray(each, float) for each in (network.hidden[0].weight, network.hidden[0].bias))
    u = np.asarray(network.output.weight, float)
    z, zs = x @ weight.T + bias, other @ weight.T + bias
    features = np.maximum(z, 0) @ np.maximum(zs, 0).T
    gates = ((z > 0) * u**2) @ (zs > 0).T * (x @ other.T + 1)
    np.testing.assert_allclose(tangent_kernel(network, x, other), features + gates + 1, rtol=1e-13)
    np.testing.assert_allclose(conjugate_kernel(network, x, other), features, rtol=1e-13, atol=1e-16)
    hidden = tangent_kernel(network, cube(4), other, part=lambda net: net.hidden)
    np.testing.assert_allclose(hidden, gates, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize(
    "recipe",
    [
        pl.PolyNet(3),
        pl.MLP((4, 3), pl.networks.sigmoid),
        pl.Neuron(pl.networks.Sinusoid(3)),
        pl.Transformer(embedding=4, attention=2, heads=2),
        pl.networks.FourierFeatures(6),
        pl.networks.FrozenGates(5),
    ],
    ids=lambda recipe: type(recipe).__name__,
)
def test_the_tangent_kernel_of_any_network_by_finite_differences(recipe):
    """The kernel times a direction of functions: f moved along its own gradients at a point."""
    network = recipe(3, key=root_key(0))
    x = cube(3)
    kernel = tangent_kernel(network, x)
    assert kernel.dtype == np.float64
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-12, atol=1e-14)
    with jax.enable_x64(True):
        double = jax.tree.map(
            lambda leaf: jnp.asarray(leaf, jnp.float64) if eqx.is_inexact_array(leaf) else leaf, network
        )
        params, rest = eqx.partition(double, eqx.is_inexact_array)
        at = lambda params: outputs(eqx.combine(params, rest), jnp.asarray(x, jnp.float64))
        gradient = eqx.filter_jit(jax.grad(lambda params: at(params)[5]))(params)
        moved = eqx.filter_jit(lambda t: at(jax.tree.map(lambda p, g: p + t * g, params, gradient)))
        t = 1e-5
        slope = np.asarray((moved(t) - moved(-t)) / (2 * t))
    # Central differences: t^2 times a third derivative, and 1e-16 / t of rounding.
    np.testing.assert_allclose(kernel[5], slope, rtol=1e-7, atol=1e-8)


def test_what_is_frozen_has_no_part_in_the_tangent_kernel():
    """Of random features all gradients are the features and the 1 of the bias."""
    network = pl.networks.RandomFeatures(6)(4, key=root_key(0))
    np.testing.assert_allclose(tangent_kernel(network, cube(4)), conjugate_kernel(network, cube(4)) + 1, rtol=1e-13)


def test_blocks_change_nothing(monkeypatch):
    network, x = pl.MLP(5)(4, key=root_key(0)), cube(4)
    whole = tangent_kernel(network, x)
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * 31 * 3)  # three points at a time
    np.testing.assert_allclose(tangent_kernel(network, x), whole, rtol=1e-13)


def test_wrong_input_is_one_sentence(monkeypatch):
    with pytest.raises(ValueError, match="got PolyNetwork"):
        conjugate_kernel(pl.PolyNet(2)(3, key=root_key(0)), cube(3))
    with pytest.raises(ValueError, match="without any"):
        tangent_kernel(pl.networks.RandomFeatures(3)(3, key=root_key(0)), cube(3), part=lambda net: net.features)
    monkeypatch.setattr(module, "LARGEST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"8 points in 16 numbers would take .* GiB"):
        tangent_kernel(pl.MLP(3)(3, key=root_key(0)), cube(3))
    kernel, labels = np.eye(2), np.array([1, -1])
    with pytest.raises(ValueError, match="ridge=-1"):
        ridge_regression(kernel, labels, ridge=-1)
    with pytest.raises(ValueError, match="penalty=0"):
        support_vector_machine(kernel, labels, penalty=0)
    with pytest.raises(ValueError, match=r"Labels are -1 or \+1, got 2.0"):
        support_vector_machine(kernel, np.array([1, 2]))
    with pytest.raises(ValueError, match="does not separate"):
        support_vector_machine(np.ones((2, 2)), labels)
    with pytest.raises(ValueError, match="needs a rate below 2"):
        linearized_training(kernel, np.zeros(2), labels, steps=3, rate=2)
    with pytest.raises(ValueError, match="n=0"):
        level_eigenvalues(np.ones(1))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_level_eigenvalues_of_random_kernels(n):
    """Against the mean of kernel times character over the cube, for characters of every size."""
    values = np.random.default_rng(n).normal(size=n + 1)
    distance = np.bitwise_count(np.arange(2**n))
    found = level_eigenvalues(values)
    for k in range(n + 1):
        character = 1 - 2 * (np.bitwise_count(np.arange(2**n) & (2**k - 1)) % 2).astype(float)
        assert found[k] == pytest.approx((values[distance] * character).mean(), abs=1e-14)


@pytest.fixture(scope="module")
def problem():
    """Forty points of a cube of 8, a smooth kernel, labels that are a threshold with some flips."""
    random = np.random.default_rng(0)
    x = np.asarray(cube(8), float)[random.permutation(256)[:40]]
    features = np.hstack([x, (x[:, :, None] * x[:, None]).reshape(40, -1)]) / 8
    labels = np.where((x[:, :5].sum(axis=1) > 0) ^ (random.random(40) < 0.1), 1, -1)
    return features, features @ features.T, labels


def test_ridge_regression_is_the_minimum_of_its_loss(problem):
    features, kernel, labels = problem
    ridge = 0.3
    coefficients = ridge_regression(kernel, labels, ridge)
    primal = np.linalg.solve(features.T @ features + ridge * np.eye(features.shape[1]), features.T @ labels)
    np.testing.assert_allclose(kernel @ coefficients, features @ primal, atol=1e-10)


def test_ridge_zero_is_the_interpolation_of_least_norm_also_for_a_singular_kernel():
    features = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [1.0, 1.0, 3.0]])  # the third is the sum
    labels = features @ np.array([1.0, -2.0, 0.5])
    coefficients = ridge_regression(features @ features.T, labels)
    np.testing.assert_allclose(features.T @ coefficients, np.linalg.pinv(features) @ labels, atol=1e-10)


@pytest.mark.parametrize("penalty", [0.05, 1.0, 20.0])
def test_the_support_vector_machine_is_optimal_by_its_gap_and_by_another_solver(problem, penalty):
    _, kernel, labels = problem
    found = support_vector_machine(kernel, labels, penalty)
    margins = labels * (kernel @ found.coefficients)
    norm = found.coefficients @ kernel @ found.coefficients
    assert found.primal == pytest.approx(norm / 2 + penalty * np.maximum(0, 1 - margins).sum(), rel=1e-9)
    alpha = found.coefficients * labels
    assert np.all(alpha >= 0) and np.all(alpha <= penalty)
    assert found.dual == pytest.approx(alpha.sum() - norm / 2, rel=1e-9)
    assert -1e-12 <= found.gap <= 1e-8 * found.primal
    signed = kernel * np.outer(labels, labels)
    other = minimize(
        lambda a: a @ signed @ a / 2 - a.sum(),
        np.zeros(40),
        jac=lambda a: signed @ a - 1,
        bounds=[(0, penalty)] * 40,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-14},
    )
    assert -other.fun == pytest.approx(found.primal, rel=1e-5)


def test_the_hard_margin_is_the_limit_of_soft_ones(problem):
    features, kernel, labels = problem
    hard, soft = support_vector_machine(kernel, labels), support_vector_machine(kernel, labels, 1e4)
    assert hard.primal == pytest.approx(0.5 / maximal_margin(features, labels).margin ** 2, rel=1e-8)
    assert abs(hard.gap) < 1e-8 * hard.primal
    assert soft.primal == pytest.approx(hard.primal, rel=1e-6)
    np.testing.assert_allclose((labels * (kernel @ hard.coefficients)).min(), 1, rtol=1e-8)


@pytest.mark.parametrize(
    "recipe",
    [pl.networks.FrozenGates(12), pl.networks.Linearized(pl.MLP(12, pl.networks.sigmoid))],
    ids=["gates", "taylor"],
)
def test_linearized_training_is_gradient_descent_on_the_network(recipe):
    """Full-batch gradient descent on the square loss in float64, step by step, against the closed form."""
    network = recipe(4, key=root_key(0))
    x, unseen = np.asarray(cube(4), float)[:10], np.asarray(cube(4), float)[10:]
    labels, rate, steps = x[:, 0] * x[:, 1], 0.05, 300
    kernel = tangent_kernel(network, x)
    with jax.enable_x64(True):
        double = jax.tree.map(
            lambda leaf: jnp.asarray(leaf, jnp.float64) if eqx.is_inexact_array(leaf) else leaf, network
        )
        params, rest = eqx.partition(double, eqx.is_inexact_array)
        value = lambda params, x: outputs(eqx.combine(params, rest), jnp.asarray(x))
        loss = lambda params: jnp.mean((value(params, x) - labels) ** 2)
        step = lambda _, params: jax.tree.map(lambda p, g: p - rate * g, params, jax.grad(loss)(params))
        end = eqx.filter_jit(lambda params: jax.lax.fori_loop(0, steps, step, params))(params)
        start, trained, start_unseen, trained_unseen = (
            np.asarray(value(p, at)) for at in (x, unseen) for p in (params, end)
        )
    coefficients = linearized_training(kernel, start, labels, steps=steps, rate=rate)
    np.testing.assert_allclose(start + kernel @ coefficients, trained, atol=1e-9)
    across = tangent_kernel(network, unseen, x)
    np.testing.assert_allclose(start_unseen + across @ coefficients, trained_unseen, atol=1e-9)
    assert np.abs(trained - start).max() > 0.1


def test_long_linearized_training_is_kernel_regression(problem):
    _, kernel, labels = problem
    start = np.linspace(-1, 1, 40)
    regression = linearized_training(kernel, start, labels, steps=math.inf, rate=0.1)
    np.testing.assert_allclose(regression, ridge_regression(kernel, labels - start))
    long = linearized_training(kernel, start, labels, steps=10**7, rate=0.1)
    np.testing.assert_allclose(kernel @ long, kernel @ regression, atol=1e-6)
    none = linearized_training(np.zeros((2, 2)), np.zeros(2), np.array([1, -1]), steps=5, rate=0.5)
    np.testing.assert_allclose(none, [2.5, -2.5])
