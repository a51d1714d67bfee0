"""Population gradients by enumeration, by autodiff over the support, by sums and closed forms, and by sampling."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import paritylab as pl
from paritylab.analysis.fourier.majority import exact_majority_coefficient, majority_coefficients
from paritylab.analysis.gradients.enumeration import blocks
from paritylab.analysis.gradients.population import (
    gradient_of_polynomial,
    gradient_of_sinusoid,
    population_gradient,
    slope_polynomial,
    turns_of,
)
from paritylab.analysis.gradients.sums import exact_gradient_by_sums, gradient_by_sums, signed_masses
from paritylab.cube import random_signs
from paritylab.networks.base import outputs
from paritylab.networks.mlp import Layer, OneNeuron


def rng():
    return np.random.default_rng(0)


def neuron(weights, bias, activation):
    return OneNeuron(Layer(jnp.asarray(weights, jnp.float32), jnp.asarray(bias, jnp.float32)), activation)


def exactly(values):
    """Numbers that float32 holds, so that all routes see the same ones."""
    return np.asarray(values, np.float32).astype(float)


def by_autodiff(network, distribution, loss):
    """The gradient of the mean loss over the support, by reverse-mode differentiation of the whole sum."""
    x, y, probability = (np.concatenate(part) for part in zip(*blocks(distribution), strict=True))
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        exact = jax.tree.map(lambda leaf: jnp.asarray(leaf, float) if eqx.is_inexact_array(leaf) else leaf, network)
        gradient = whole_gradient(exact, loss, jnp.asarray(x), jnp.asarray(y), jnp.asarray(probability))
        return jax.tree.map(np.asarray, gradient)


@eqx.filter_jit
def whole_gradient(network, loss, x, y, probability):
    mean = lambda net: jnp.sum(probability * jax.vmap(loss)(y, outputs(net, x)))
    return eqx.filter_grad(mean)(network)


def assert_same(first, second, atol=1e-12):
    assert jax.tree.structure(first) == jax.tree.structure(second)
    for one, other in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        assert one.dtype == np.float64 and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=atol)


PARITY = pl.Parity(8, (0, 3, 5))
DISTRIBUTIONS = {
    "uniform": pl.Uniform(PARITY),
    "product": pl.Product(PARITY, mean=np.linspace(-0.7, 0.9, 8)),
    "flipped": pl.FlippedLabels(pl.Uniform(PARITY), 0.1),
    "unit": pl.distributions.Encoded(pl.Uniform(PARITY), "unit"),
    "bits": pl.distributions.Encoded(pl.Product(PARITY, mean=0.3), "bits"),
    "mixture": pl.Mixture([pl.Uniform(PARITY), pl.Product(PARITY, 0.5)], [0.3, 0.7]),
    "points": pl.distributions.draw(pl.Uniform(PARITY), 50, key=pl.root_key(0)),
    "symmetric": pl.Uniform(pl.targets.random_symmetric(8, key=pl.root_key(1))),
}
LOSSES = {
    "hinge": pl.Hinge(),
    "square": pl.training.square_loss,
    "logistic": pl.training.logistic,
    "correlation": pl.training.correlation,
}
NETWORKS = {
    "relu": pl.MLP(5),
    "relu6": pl.MLP(5, pl.networks.relu6),
    "sigmoid": pl.MLP(5, pl.networks.sigmoid),
    "power": pl.MLP(5, pl.networks.Power(3)),
    "zigzag": pl.MLP(2, pl.networks.Zigzag(3)),
    "paired": pl.MLP(6, initialization=pl.networks.SignInitialization(4), paired=True),
    "neuron": pl.Neuron(pl.networks.Sinusoid(3)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_enumeration_and_autodiff_agree_under_every_distribution(name):
    network, distribution = NETWORKS["relu"](8, key=pl.root_key(3)), DISTRIBUTIONS[name]
    assert_same(population_gradient(network, distribution), by_autodiff(network, distribution, pl.Hinge()))


@pytest.mark.parametrize(
    ("name", "loss"),
    [("relu", "square"), ("relu6", "logistic"), ("sigmoid", "correlation"), ("power", "hinge"), ("zigzag", "square"),
     ("paired", "hinge"), ("neuron", "hinge"), ("neuron", "square")],
)  # fmt: skip
def test_enumeration_and_autodiff_agree_for_every_network_and_loss(name, loss):
    network, distribution = NETWORKS[name](8, key=pl.root_key(4)), DISTRIBUTIONS["uniform"]
    gradient = population_gradient(network, distribution, LOSSES[loss])
    assert_same(gradient, by_autodiff(network, distribution, LOSSES[loss]))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_blocks_are_the_support(name):
    x, y, probability = (np.concatenate(part) for part in zip(*blocks(DISTRIBUTIONS[name]), strict=True))
    assert probability.sum() == pytest.approx(1, abs=1e-14)
    listed = np.column_stack([np.asarray(part, float) for part in DISTRIBUTIONS[name].support()])
    found = np.column_stack([x, y, probability])
    order = lambda rows: rows[np.lexsort(np.round(rows, 4).T)]
    np.testing.assert_allclose(order(found), order(listed), atol=1e-6)


def test_blocks_go_through_the_cube_in_order():
    """15 coordinates are two blocks."""
    x = np.concatenate([block.x for block in blocks(pl.Uniform(pl.Parity(15, (0,))))])
    np.testing.assert_array_equal(x, pl.cube.cube(15))


# Routes without enumeration, each against enumeration and autodiff at n <= 16, where all three are exact.

SUPPORTS = {16: (0, 3, 7, 15), 13: (1, 2)}
WHOLE = {
    "signs": lambda n: rng().choice([-1, 1], n),
    "ternary": lambda n: rng().integers(-1, 2, n),
    "small": lambda n: rng().integers(-5, 6, n),
}


def assert_three_routes(gradient, weights, bias, activation, support):
    n = len(weights)
    task, net = pl.Uniform(pl.Parity(n, support)), neuron(weights, bias, activation)
    for route in (
        population_gradient(net, task, pl.training.correlation),
        by_autodiff(net, task, pl.training.correlation),
    ):
        np.testing.assert_allclose(gradient.weight, -route.hidden.weight, rtol=0, atol=1e-12)
        np.testing.assert_allclose(gradient.bias, -route.hidden.bias, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize(
    ("n", "activation"),
    [(16, pl.relu), (16, pl.networks.relu6), (13, pl.networks.relu6), (13, pl.networks.sigmoid)],
    ids=["16-relu", "16-relu6", "13-relu6", "13-sigmoid"],
)
def test_sums_enumeration_and_autodiff_agree(n, kind, activation):
    weights, bias = WHOLE[kind](n), 0.25
    gradient = gradient_by_sums(weights, SUPPORTS[n], activation, bias=bias)
    assert_three_routes(gradient, weights, bias, activation, SUPPORTS[n])


@pytest.mark.parametrize("n", SUPPORTS)
@pytest.mark.parametrize("k", [2, 3])
def test_sinusoid_enumeration_and_autodiff_agree(n, k):
    weights, bias, activation = exactly(rng().normal(size=n)), 0.375, pl.networks.Sinusoid(k, scale=0.75)
    frequency, phase = turns_of(activation)
    gradient = gradient_of_sinusoid(weights, SUPPORTS[n], bias=bias, frequency=frequency, phase=phase)
    assert_three_routes(gradient, weights, bias, activation, SUPPORTS[n])


@pytest.mark.parametrize("n", SUPPORTS)
@pytest.mark.parametrize(
    "activation",
    [pl.networks.Power(3), pl.networks.Power(5), pl.networks.OscillatingPolynomial(4)],
    ids=["3", "5", "oscillating"],
)
def test_polynomial_enumeration_and_autodiff_agree(n, activation):
    weights, bias = exactly(rng().uniform(-0.5, 0.5, n)), 0.375
    gradient = gradient_of_polynomial(weights, SUPPORTS[n], slope_polynomial(activation), bias=bias)
    assert_three_routes(gradient, weights, bias, activation, SUPPORTS[n])


def test_a_factor_of_zero_is_no_trouble():
    weights = np.array([0.0, 1.0, 0.0, 0.5, 0.25])
    gradient = gradient_of_sinusoid(weights, (0, 1), phase=-np.pi / 2)
    assert_three_routes(
        gradient_of_sinusoid(weights, (0, 1), frequency=np.pi / 2, phase=-np.pi / 2),
        weights,
        0.0,
        pl.networks.Sinusoid(2),
        (0, 1),
    )
    assert gradient.weight[0] != 0 and not gradient.weight[1:].any()


def test_a_batch_of_sinusoids_is_each_of_them():
    weights, bias = rng().normal(size=(3, 4, 20)), rng().normal(size=(3, 4))
    together = gradient_of_sinusoid(weights, (1, 2, 3), bias=bias)
    alone = gradient_of_sinusoid(weights[2, 1], (1, 2, 3), bias=bias[2, 1])
    np.testing.assert_allclose(together.weight[2, 1], alone.weight, rtol=1e-14)
    np.testing.assert_allclose(together.bias[2, 1], alone.bias, rtol=1e-14)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=9).flatmap(
        lambda w: st.tuples(st.just(w), st.sets(st.integers(0, len(w) - 1)))
    )
)
def test_the_signed_masses_are_the_definition(drawn):
    weights, support = np.array(drawn[0]), tuple(drawn[1])
    sums, masses = signed_masses(weights, support)
    x = np.asarray(pl.cube.cube(len(weights)), float)
    characters = np.prod(x[:, list(support)], axis=1)
    expected = [np.mean(characters * (x @ weights == s)) for s in sums]
    np.testing.assert_allclose(masses, expected, atol=1e-15)


# Beyond enumeration.


@pytest.mark.parametrize(("n", "k"), [(101, 2), (101, 4), (1001, 2), (1001, 4), (1001, 10), (3001, 2)])
def test_sign_weights_and_relu_give_majority(n, k):
    """hidden-progress, Lemma 2: the gradient of any neuron with sign weights, and 0 for the bias."""
    signs, support = rng().choice([-1, 1], n), tuple(range(k))
    character = np.prod(signs[list(support)])
    xi = majority_coefficients(n)
    expected = 0.5 * character * signs * np.where(np.arange(n) < k, xi[k - 1], xi[k + 1])
    gradient = gradient_by_sums(signs, support, pl.relu, bias=0.5)
    np.testing.assert_allclose(gradient.weight, expected, rtol=0, atol=1e-15)
    assert abs(gradient.bias) < 1e-15


@pytest.mark.parametrize(("n", "k"), [(9, 2), (11, 4)])
def test_lemma_2_for_a_whole_network(n, k):
    """hidden-progress, Lemma 2, for the start of its Theorem 4 and the hinge loss: a paired network is 0 everywhere."""
    network = pl.MLP(6, initialization=pl.networks.SignInitialization(k), paired=True)(n, key=pl.root_key(5))
    gradient = population_gradient(network, pl.Uniform(pl.Parity(n, range(k))))
    signs, outputs_ = np.asarray(network.hidden[0].weight, float), np.asarray(network.output.weight, float)
    xi = majority_coefficients(n)
    level = np.where(np.arange(n) < k, xi[k - 1], xi[k + 1])
    characters = np.prod(signs[:, :k], axis=1, keepdims=True) * signs
    expected = -0.5 * outputs_[:, None] * level * characters
    np.testing.assert_allclose(gradient.hidden[0].weight, expected, rtol=0, atol=1e-15)
    assert not gradient.hidden[0].bias.any()


def test_flipped_labels_shrink_the_gradient_of_the_zero_function():
    """E[y f] with labels flipped with probability p is 1 - 2p times the clean one (hidden-progress, as corrected)."""
    network, clean = pl.MLP(6, paired=True)(8, key=pl.root_key(6)), pl.Uniform(PARITY)
    noisy = population_gradient(network, pl.FlippedLabels(clean, 0.3))
    np.testing.assert_allclose(
        noisy.hidden[0].weight, 0.4 * population_gradient(network, clean).hidden[0].weight, rtol=0, atol=1e-15
    )


@pytest.mark.parametrize(("n", "k"), [(101, 4), (501, 20)])
def test_exact_sums_are_exact_fractions(n, k):
    signs = rng().choice([-1, 1], n)
    weight, bias = exact_gradient_by_sums(signs, tuple(range(k)), pl.relu)
    character = int(np.prod(signs[:k]))
    assert bias == 0
    for i in (0, k - 1, k, n - 1):
        expected = exact_majority_coefficient(n, k - 1 if i < k else k + 1) / 2
        assert weight[i] == character * int(signs[i]) * expected


def test_exact_sums_and_floats_agree_for_small_whole_weights():
    weights = rng().integers(-3, 4, 150)
    exact, bias = exact_gradient_by_sums(weights, (0, 1, 2), pl.networks.relu6, bias=1.5)
    gradient = gradient_by_sums(weights, (0, 1, 2), pl.networks.relu6, bias=1.5)
    np.testing.assert_allclose(gradient.weight, [float(each) for each in exact], rtol=0, atol=1e-16)
    assert float(gradient.bias) == pytest.approx(float(bias), abs=1e-16)


POINTS, N = 100_000, 200


@pytest.fixture(scope="module")
def sampled():
    """Uniform points of 200 coordinates."""
    return np.asarray(random_signs(pl.root_key(7), POINTS, N))


def assert_within_four_sigma(gradient, weights, bias, slope, support, x):
    """Each entry is a mean of independent terms whose variance is at most the mean square of sigma'."""
    slopes = slope(x @ weights.astype(np.float32) + np.float32(bias))
    labelled = np.prod(x[:, list(support)], axis=1) * slopes
    sigma = np.sqrt(np.mean(slopes.astype(float) ** 2) / POINTS)
    assert np.max(np.abs(gradient.weight)) > 8 * sigma  # there is something to see
    np.testing.assert_allclose(gradient.weight, labelled @ x / POINTS, rtol=0, atol=4 * sigma)
    np.testing.assert_allclose(gradient.bias, labelled.mean(), rtol=0, atol=4 * sigma)


def test_sampling_agrees_with_sums(sampled):
    weights = rng().integers(-3, 4, N)
    weights[[0, 9]] = 3, -3
    gradient = gradient_by_sums(weights, (0, 9), pl.relu, bias=0.5)
    assert_within_four_sigma(gradient, weights, 0.5, lambda z: (z > 0).astype(np.float32), (0, 9), sampled)


def test_sampling_agrees_with_the_sinusoid(sampled):
    weights = rng().normal(size=N) / np.sqrt(N)
    weights[[0, 9]] = 0.2, -0.1
    gradient = gradient_of_sinusoid(weights, (0, 9), bias=0.5)
    assert_within_four_sigma(gradient, weights, 0.5, np.cos, (0, 9), sampled)


def test_sampling_agrees_with_the_polynomial(sampled):
    weights = rng().normal(size=N) / np.sqrt(N)
    weights[[0, 9]] = 0.2, -0.1
    gradient = gradient_of_polynomial(weights, (0, 9), [1.0, -1.0, 0.5, 1.0], bias=0.5)
    slope = lambda z: 1 - z + z**2 / 2 + z**3
    assert_within_four_sigma(gradient, weights, 0.5, slope, (0, 9), sampled)


# Wrong input.


def test_too_many_coordinates_name_the_other_routes():
    with pytest.raises(ValueError, match=r"n <= 26, got n=40.*GiB.*`gradient_by_sums`.*`gradient_of_threshold`"):
        population_gradient(pl.MLP(3)(40, key=pl.root_key(0)), pl.Uniform(pl.Parity(40, (0,))))


def test_deeper_networks_are_refused():
    with pytest.raises(ValueError, match="one hidden layer, got 2"):
        population_gradient(pl.MLP((3, 3))(4, key=pl.root_key(0)), pl.Uniform(pl.Parity(4, (0,))))


def test_wrong_supports_and_slopes_say_so():
    with pytest.raises(ValueError, match=r"distinct ones in 0..3, got support=\(0, 4\)"):
        gradient_of_sinusoid(np.ones(4), (0, 4))
    with pytest.raises(ValueError, match="slopes are integers"):
        exact_gradient_by_sums(np.ones(4, int), (0, 1), pl.networks.sigmoid)
    with pytest.raises(ValueError, match=r"need .* GiB .*`gradient_of_threshold`"):
        gradient_by_sums(np.full(4, 2**26), (0, 1), pl.relu)
    with pytest.raises(ValueError, match="no polynomial for the activation"):
        slope_polynomial(pl.relu)
