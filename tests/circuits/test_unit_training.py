"""Hard-tanh units in the place of gates: tables against autodiff, the sign test, the whole network of depth three."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.circuits import (
    CountDistribution,
    count_distribution,
    gate_tables,
    hidden_outputs,
    least_squares_output,
    nested_signals,
    one_step_layer,
    sharp_embedding,
    sign_parity,
    with_output,
)
from paritylab.cube import cube
from paritylab.networks.gate_units import AboveGates, UnitGates, sharp_staircase
from paritylab.networks.mlp import FeedForward, Layer
from paritylab.networks.neural_gates import first_gates, hard_tanh
from paritylab.targets.gates import PATTERNS, by_pattern
from paritylab.training import streamed_perceptron

THREE = pl.GateProduct(("OR", "AND", "AND"))
RIGHT = np.asarray(by_pattern(THREE.tables))


def test_a_step_on_tables_is_a_step_by_autodiff():
    """The pooled hinge loss of Algorithm 1 on a sample, differentiated, against the table; with lambda."""
    distribution, steps, rate, weight = pl.distributions.separation(pl.distributions.equal_gates(THREE)), 30, 0.2, 0.05
    with jax.enable_x64(True):
        x, y = (jnp.asarray(np.asarray(part), float) for part in distribution.sample(pl.root_key(1), 64))

        def loss(units):
            outputs = jnp.mean(jax.vmap(units)(x), axis=1)
            return 3 * jnp.mean(jnp.maximum(0, 1 - y * outputs) + weight * outputs)  # each gate's own: 3 times the mean

        step = jax.jit(jax.grad(loss))
        units = UnitGates(jnp.zeros((3, 2)), jnp.zeros(3))
        for _ in range(steps):
            units = jax.tree.map(lambda value, slope: value - rate * slope, units, step(units))
        bits = np.asarray(x) < 0
        patterns = bits[:, :3] + 2 * bits[:, 3:]
        seen = np.stack([patterns == p for p in range(4)], axis=2)
        signal, chance = np.mean(np.asarray(y)[:, None, None] * seen, axis=0), np.mean(seen, axis=0)
        trained = pl.circuits.train_units(pl.circuits.drift(chance, signal, weight), rate=rate, steps=steps)
        np.testing.assert_allclose(trained.gates.weights, units.weights, atol=1e-12)
        np.testing.assert_allclose(trained.gates.biases, units.biases, atol=1e-12)


def test_units_and_neural_gates_recover_what_the_sign_test_says():
    """Random tables near the signs of OR and AND: neural gates learn the gate exactly where all four signs are right;
    units do there, and at times elsewhere, since no unit is a gate that is not a threshold of its inputs."""
    rng = np.random.default_rng(0)
    wanted = np.array([[1.0, 1, 1, -1], [1, -1, -1, -1]])[rng.integers(0, 2, 400)]
    drifts = 0.1 * wanted * rng.uniform(-0.15, 1.0, (400, 4))
    right = np.all(drifts * wanted > 0, axis=1)
    assert 100 < right.sum() < 300
    units = pl.circuits.train_units(drifts)
    found = np.all(np.sign(units.outputs) == wanted, axis=1)
    assert np.all(found[right & units.saturated]) and 0 < found[~right].mean() < 0.5
    assert np.mean(units.saturated[right]) > 0.95 and np.all(
        units.steps[~units.saturated] == 20_000
    )  # tiny drifts take longer
    gates = pl.circuits.train_gates(first_gates(400, 60, key=pl.root_key(0)), drifts)
    np.testing.assert_array_equal(np.all(gates.outputs == wanted, axis=1), right)


def test_the_population_takes_the_steps_that_theory_says():
    """w grows at 4a to 1/2, then b at 4a/3 to 1 while (-,-) is held at saturation, with a = 1/12 (E1, large n)."""
    a, rate = 1 / 12, 0.01
    trained = pl.circuits.train_units(np.array([[a, a, a, -3 * a]]), rate=rate)
    expected = (0.5 / (4 * a) + 1 / (4 * a / 3)) / rate
    assert trained.saturated.all() and trained.steps[0] == pytest.approx(expected, rel=0.02)


def test_a_unit_may_need_more_than_right_signs():
    """Signs that differ by many orders of magnitude can drive a pattern to the wrong side before its own drift acts."""
    rng = np.random.default_rng(3)
    drifts = np.array([1.0, 1, 1, -1]) * 10.0 ** rng.uniform(-5, -1, (2000, 4))
    units = pl.circuits.train_units(drifts, steps=3000)
    wrong = np.any(units.outputs * np.sign(drifts) == -1, axis=1)
    assert 0 < wrong.mean() < 0.1


def test_counts_are_those_of_the_whole_cube():
    wrong = RIGHT.copy()
    wrong[1] = PATTERNS[:, 0]  # the second gate has learned its first input
    points = np.asarray(cube(6), float)
    bits = points < 0
    patterns = (bits[:, :3] + 2 * bits[:, 3:]).astype(int)
    y = np.asarray(jax.vmap(THREE)(cube(6)), float)
    halves = [pl.Uniform(THREE), pl.distributions.noisy_equal(THREE, 0.1), pl.distributions.sparse_pairs(THREE, 0.4)]
    for distribution in [*halves, pl.distributions.separation(pl.distributions.stealth(THREE), 0.3)]:
        x, labels, chance = (np.asarray(part, float) for part in distribution.support())
        rows = ((x < 0) @ (1 << np.arange(6))).astype(int)
        for learned in (RIGHT, wrong):
            counts = np.sum(np.take_along_axis(learned.T, patterns, axis=0) > 0, axis=1)[rows]
            found = count_distribution(THREE, distribution, learned)
            np.testing.assert_allclose(found.probability, np.bincount(counts, chance, 4), atol=1e-6)
            np.testing.assert_allclose(found.signal, np.bincount(counts, chance * labels, 4), atol=1e-6)
            positive = np.array([False, True, False, True])
            error = np.sum(chance[np.where(positive[counts], 1, -1) != labels])
            assert found.error(positive) == pytest.approx(error, abs=1e-6)
    assert set(y) == {-1.0, 1.0}
    with pytest.raises(ValueError, match="got RandomSubset"):
        count_distribution(THREE, pl.distributions.random_subset(THREE, 1))


def test_nested_signals_are_means_over_prefixes():
    distribution = pl.distributions.separation(pl.distributions.stealth(THREE))
    small, large = (nested_signals(THREE, distribution, sizes, key=pl.root_key(5)) for sizes in ((7,), (7, 5000)))
    np.testing.assert_array_equal(small[0], large[0])
    exact = gate_tables(THREE, distribution)
    five_sigma = 5 * np.sqrt(exact.probability / 5000)
    assert np.all(np.abs(large[1] - exact.signal) <= five_sigma)


def staircase_network(outputs):
    return FeedForward((sharp_staircase(3),), Layer(jnp.asarray(outputs[:-1]), jnp.asarray(outputs[-1])), hard_tanh)


def test_depth_three_is_learned_from_nothing_on_the_whole_cube():
    """Gates from a table, then both ways above them, against every point of the cube."""
    distribution = pl.distributions.separation(pl.distributions.equal_gates(THREE))
    gates = pl.circuits.train_units(nested_signals(THREE, distribution, (1000,), key=pl.root_key(0))[0]).gates
    x, y = eqx.filter_jit(lambda distribution, key: distribution.sample(key, 1000))(distribution, pl.root_key(1))
    s = np.asarray(jax.vmap(gates)(x), float)
    np.testing.assert_array_equal(s, jax.vmap(THREE.gate_outputs)(x))
    counts = np.bincount(np.sum(s > 0, axis=1).astype(int), minlength=4)
    trace = streamed_perceptron(
        sharp_embedding(3), sign_parity(3), counts / 1000, until=lambda wrong: not wrong.any(),
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert trace.updates <= 3 * 4 and trace.examples >= trace.updates
    layer = one_step_layer(s, np.asarray(y, float), 24, rng=np.random.default_rng(0))
    output = least_squares_output(hidden_outputs(layer, s), np.asarray(y, float))
    truth = np.asarray(jax.vmap(THREE)(cube(6)))
    for above in (staircase_network(trace.weights), with_output(layer, output)):
        answers = np.asarray(jax.vmap(AboveGates(gates, above))(cube(6)))
        np.testing.assert_array_equal(np.sign(answers), truth)


def test_the_staircase_is_its_embedding():
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=3)), np.float32)
    hidden = np.asarray(hard_tanh(sharp_staircase(3)(jnp.asarray(signs.T)))).T
    counts = np.sum(signs > 0, axis=1)
    np.testing.assert_array_equal(hidden, sharp_embedding(3)[counts, :-1])
    np.testing.assert_array_equal(np.prod(signs, axis=1), sign_parity(3)[counts])
    alternating = np.array([1.0, -1.0, 1.0, 0.0])  # the parity of an odd number, of length sqrt(n)
    np.testing.assert_array_equal(sharp_embedding(3) @ alternating, sign_parity(3))


def test_one_step_is_a_gradient_step():
    """The closed form against autodiff of the hinge loss at the start, where the network is zero."""
    rng = np.random.default_rng(1)
    s = rng.choice([-1.0, 1.0], (50, 4)).astype(np.float32)
    y = np.prod(s, axis=1)
    layer = one_step_layer(s.astype(float), y.astype(float), 6, rng=np.random.default_rng(2), rate=0.5)
    u = jnp.repeat(jnp.array([1.0, -1.0]), 3)
    b = jnp.asarray(np.tile(np.random.default_rng(2).uniform(0, 4, 3), 2), jnp.float32)
    network = lambda w, b: jax.nn.relu(s @ w.T + b[None]) @ u
    loss = lambda w, b: jnp.mean(jax.nn.relu(1 - y * network(w, b)))
    weight, bias = jax.grad(loss, argnums=(0, 1))(jnp.zeros((6, 4)), b)
    np.testing.assert_allclose(layer.weight, -0.5 * weight, atol=1e-6)
    np.testing.assert_allclose(layer.bias, b - 0.5 * bias, atol=1e-5)


def test_wrong_numbers_say_so():
    with pytest.raises(ValueError, match="a rate > 0 and steps >= 0, got rate=0"):
        pl.circuits.train_units(np.zeros((1, 4)), rate=0.0)
    with pytest.raises(ValueError, match="Units come in pairs, got units=3"):
        one_step_layer(np.ones((2, 2)), np.ones(2), 3, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="at least one example each, got sizes="):
        nested_signals(THREE, pl.Uniform(THREE), (), key=pl.root_key(0))
    with pytest.raises(ValueError, match="No example that is classified wrongly ever comes"):
        streamed_perceptron(
            np.eye(2), np.ones(2), np.array([1.0, 0.0]), until=lambda wrong: not wrong.any(),
            rng=np.random.default_rng(0),
        )  # fmt: skip
    assert CountDistribution(np.array([0.5, 0.5]), np.array([-0.5, 0.5])).error(np.array([False, True])) == 0
