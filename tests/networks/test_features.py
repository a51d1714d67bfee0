"""Random features, frozen gates and linearized networks: what is frozen, what they compute, that they train."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.cube import cube, root_key
from paritylab.networks import Frozen
from paritylab.networks.base import outputs
from paritylab.training.engine.loop import init_key
from paritylab.training.rules.gradient_descent import GradientDescent, Problem
from paritylab.training.rules.leaves import split

RECIPES = {
    "random features": pl.networks.RandomFeatures(7),
    "sigmoid random features": pl.networks.RandomFeatures(7, pl.networks.sigmoid, pl.networks.GaussianInitialization()),
    "Fourier features": pl.networks.FourierFeatures(7, bandwidth=3.0),
    "frozen gates": pl.networks.FrozenGates(7),
    "linearized MLP": pl.networks.Linearized(pl.MLP(7)),
    "linearized PolyNet": pl.networks.Linearized(pl.PolyNet(3)),
    "linearized random features": pl.networks.Linearized(pl.networks.RandomFeatures(7)),
    "linearized frozen gates": pl.networks.Linearized(pl.networks.FrozenGates(7)),
    "linearized neuron of degree 3": pl.networks.Linearized(pl.Neuron(pl.networks.Sinusoid(3))),
}
recipes = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)


def trainable(network):
    return eqx.partition(network, eqx.is_inexact_array)


@recipes
def test_every_recipe_keeps_the_contract(recipe):
    make = eqx.filter_jit(lambda key: recipe(6, key=key))
    network, same, other = make(root_key(0)), make(root_key(0)), make(root_key(1))
    assert eqx.tree_equal(network, same) and not eqx.tree_equal(network, other)
    x = cube(6)
    plain = network(x[5])
    assert plain.shape == () and plain.dtype == jnp.float32
    values = eqx.filter_jit(outputs)(network, x)
    np.testing.assert_allclose(values[5], plain, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(eqx.filter_jit(eqx.filter_vmap(network))(x), values, rtol=1e-5, atol=1e-6)


@recipes
def test_the_output_is_linear_in_what_is_trained(recipe):
    """f((1 - t) a + t b) is on the straight line through f(a) and f(b), also far outside."""
    a, rest = trainable(recipe(6, key=root_key(0)))
    b, _ = trainable(recipe(6, key=root_key(1)))
    at = lambda t: outputs(eqx.combine(jax.tree.map(lambda p, q: (1 - t) * p + t * q, a, b), rest), cube(6))
    np.testing.assert_allclose(at(4.0), -3 * at(0.0) + 4 * at(1.0), atol=2e-4)


@recipes
def test_training_leaves_the_frozen_part_alone(recipe):
    """Even with Adam and weight decay, which act on every array that is trained."""
    optimizer = pl.training.Optimizer(optax.adam, rate=0.01, decay=0.01)
    problem = Problem(pl.Uniform(pl.Parity(6, (0, 1, 2))), recipe, pl.training.square_loss, optimizer)
    rule = GradientDescent.of(problem, batch=4, validation=64, sample=None, float64=False)
    numbers, _ = split(problem)
    first = jax.jit(rule.init)(root_key(0), numbers)
    last = jax.jit(rule.step)(first, root_key(1), jnp.asarray(0), numbers)
    (start, frozen), (end, still) = (trainable(rule.network_of(state)) for state in (first, last))
    assert eqx.tree_equal(frozen, still)
    assert all(np.any(left != right) for left, right in zip(*map(jax.tree.leaves, (start, end)), strict=True))


def test_the_engine_trains_random_features_also_in_float64():
    """Width 100 on 32 points: the parity of two is linear in the features."""
    runs = pl.train(
        pl.Uniform(pl.Parity(5, (0, 1))), pl.networks.RandomFeatures(100), rate=0.3, seeds=2, steps=3000, lanes=2,
        validation=64,
        keep=True, float64=True,
    )  # fmt: skip
    assert (runs.table().outcome == "learned").all()
    network, start = runs.network(0), pl.networks.RandomFeatures(100)(5, key=init_key(np.uint32(0)))
    assert network.output.weight.dtype == np.float64
    np.testing.assert_array_equal(network.features.bits.weight, start.features.bits.weight)


def test_frozen_gates_start_as_the_relu_network():
    network = pl.networks.FrozenGates(9)(6, key=root_key(0))
    hidden, u, x = network.hidden, np.asarray(network.outputs.thaw(jnp.float32)), np.asarray(cube(6))
    expected = np.maximum(x @ np.asarray(hidden.weight).T + np.asarray(hidden.bias), 0) @ u + float(network.bias)
    np.testing.assert_allclose(outputs(network, cube(6)), expected, atol=1e-6)
    # The gates stay: with w = 0 and b = 1 the output is the sum of u over open gates.
    flat = eqx.tree_at(lambda net: (net.hidden.weight, net.hidden.bias), network, (jnp.zeros((9, 6)), jnp.ones(9)))
    gates = x @ np.asarray(hidden.weight).T + np.asarray(hidden.bias) > 0
    np.testing.assert_allclose(outputs(flat, cube(6)), gates @ u + float(network.bias), atol=1e-6)


def test_fourier_features_approximate_the_gaussian_kernel():
    """Products of cosines lie in [-2, 2] / width: their mean over 4,096 features within 5 sigma of the kernel."""
    bandwidth, width = 1.7, 4096
    network = pl.networks.FourierFeatures(width, bandwidth)(6, key=root_key(0))
    x = cube(6)
    layer = network.features.thaw(jnp.float32)
    features = np.asarray(network.scale * jnp.cos(layer(x.T))).T
    distances = ((np.asarray(x)[:, None] - np.asarray(x)) ** 2).sum(axis=-1)
    kernel = np.exp(-distances / (2 * bandwidth**2))
    # 2 cos a cos b = cos(a - b) + cos(a + b): a variance of at most 1/2 + 1/2 (and 64 * 65 / 2 pairs: 5 sigma).
    np.testing.assert_allclose(features @ features.T, kernel, atol=5 / width**0.5)


def test_a_linearized_network_is_the_expansion_of_its_recipe():
    recipe = pl.MLP(8, pl.networks.sigmoid)
    linear, network = pl.networks.Linearized(recipe)(5, key=root_key(3)), recipe(5, key=root_key(3))
    np.testing.assert_allclose(outputs(linear, cube(5)), outputs(network, cube(5)), atol=1e-6)
    direction, _ = trainable(recipe(5, key=root_key(4)))
    moved = lambda net, t: jax.tree.map(lambda leaf, d: leaf + t * d, net, direction)
    params, rest = trainable(network)
    at = lambda t: np.asarray(outputs(eqx.combine(moved(params, t), rest), cube(5)), float)
    far = eqx.tree_at(lambda net: net.weights, linear, eqx.combine(moved(params, 1.0), rest))
    # Central differences: an error of t^2 / 6 times a third derivative of order 1, and rounding of 1e-7 / t.
    t = 0.02
    np.testing.assert_allclose(outputs(far, cube(5)), at(0) + (at(t) - at(-t)) / (2 * t), atol=1e-3)
    assert np.abs(at(1.0) - np.asarray(outputs(far, cube(5)))).max() > 0.01


def test_what_is_frozen_comes_back_to_the_bit():
    words = jnp.arange(3, dtype=jnp.uint32)  # of the type that bits have
    tree = {"a": jnp.array([0.1, -jnp.inf, jnp.nan]), "b": words, "c": "word", "d": Frozen(jnp.ones(2))}
    frozen = Frozen(tree)
    assert not any(eqx.is_inexact_array(leaf) for leaf in jax.tree.leaves(frozen))
    thawed = frozen.thaw(jnp.float32)
    assert np.asarray(thawed["a"]).tobytes() == np.asarray(tree["a"]).tobytes()
    assert thawed["b"].tolist() == [0, 1, 2] and thawed["c"] == "word"
    assert thawed["d"].thaw(jnp.float32).tolist() == [1, 1]


@pytest.mark.parametrize("make", [pl.networks.RandomFeatures, pl.networks.FourierFeatures, pl.networks.FrozenGates])
def test_what_cannot_be_says_so(make):
    with pytest.raises(ValueError, match="width of at least 1, got width=0"):
        make(0)
    with pytest.raises(ValueError, match="bandwidth=0"):
        pl.networks.FourierFeatures(3, bandwidth=0)
