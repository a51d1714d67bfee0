"""Algorithm 1: three forms of one computation, jumping against stepping, and what is recovered."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.circuits import gate_tables
from paritylab.circuits.gate_training import default_rate
from paritylab.circuits.patterns import PackedPatterns, SamplePatterns, TreePatterns
from paritylab.networks.neural_gates import first_gates, first_levels, hard_tanh
from paritylab.targets.gates import PATTERNS

WIDTH, POINTS, STEPS = 12, 96, 500
CIRCUIT = pl.targets.circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")


def exact(circuit, distribution):
    tables = gate_tables(circuit, distribution)
    return TreePatterns(circuit, tables.probability, tables.signal)


def support_of(circuit, distribution):
    x, y, mass = distribution.support()
    return SamplePatterns(np.asarray(x, float), np.asarray(y, float), np.asarray(mass, float))


@pytest.mark.parametrize("towards", [-1, pytest.param(1, marks=pytest.mark.acceptance)])
def test_autodiff_through_the_engine_and_sample_tables_agree(towards):
    """Full-batch gradient descent on the pooled lowest level, then on the level above what became of it."""
    sample = pl.distributions.draw(pl.distributions.Generative(CIRCUIT), POINTS, key=pl.root_key(3))
    rate, weight = default_rate(WIDTH), 0.15
    (tables,) = pl.circuits.learn_circuits(
        [SamplePatterns(np.asarray(sample.x), np.asarray(sample.y))],
        width=WIDTH,
        regularizer=weight,
        towards=towards,
        seeds=[7],
        steps=STEPS,
        method="step",
    )
    # With the printed sign some gates are not saturated after 500 steps, and hand on no signs yet.
    for height in (0, 1) if towards == -1 else (0,):
        # The level below is the tables' own: it is saturated, so both see the same signs.
        below = tuple(trained.level for trained in tables.trained[:height])
        runs = pl.train(
            sample,
            pl.networks.PooledGates(WIDTH, below),
            rate=rate * (2 >> height),
            batch=POINTS,
            sample=POINTS,
            seeds=[7],
            steps=STEPS,
            loss=pl.training.RegularizedHinge(weight, towards),
            validation=0,
            keep=True,
            float64=True,
            lanes=1,
        )
        trained = runs.network(0).level.weights
        np.testing.assert_allclose(trained, tables.trained[height].level.weights, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["generative", "product"])
def test_three_forms_agree_on_the_whole_weighted_support(kind):
    """n = 16: autodiff, counted tables and the recursion give one gradient, and both tables one trained network."""
    circuit = pl.targets.random_circuit(16, key=pl.root_key(2))
    product = pl.Product(circuit, np.linspace(-0.5, 0.6, 16))
    distribution = pl.distributions.Generative(circuit) if kind == "generative" else product
    counted, recursive = support_of(circuit, distribution), exact(circuit, distribution)
    for one, other in zip(counted.tables(), recursive.tables(), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-8)  # the support's probabilities are float32
    level, weight = first_gates(8, WIDTH, key=pl.root_key(0)), 0.1
    with jax.enable_x64(True):
        weights = jnp.asarray(np.asarray(level.weights, float))
        x, y = jnp.asarray(counted.x), jnp.asarray(counted.y)
        mass = jnp.asarray(counted.mass / counted.mass.sum())

        def loss(weights):
            out = jax.vmap(lambda point: jnp.mean(pl.networks.GateLevel(weights, level.signs)(point)))(x)
            return jnp.sum(mass * jax.vmap(pl.training.RegularizedHinge(weight))(y, out))

        gradient = np.asarray(jax.jit(jax.grad(loss))(weights))
    step = pl.circuits.gate_history(level, pl.circuits.drift(*recursive.tables(), weight), rate=1.0, steps=1)
    np.testing.assert_allclose((step[0] - step[1]) / 8, gradient, atol=2e-8)
    learned = [
        pl.circuits.learn_circuits([each], width=24, regularizer=weight, seeds=[1], steps=STEPS)[0].network
        for each in (counted, recursive)
    ]
    for one, other in zip(learned[0].levels, learned[1].levels, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-4)


def test_jumping_is_stepping():
    """Random drifts of either sign: units that cross zero, swing around it, saturate, and free a saturated side."""
    rng = np.random.default_rng(0)
    level = first_gates(60, WIDTH, scale=0.1, key=pl.root_key(1))
    drifts = rng.uniform(-0.3, 0.3, (60, 4)) * rng.choice([1.0, 0.05, 0.0], (60, 4))
    for steps in (10, 3000):
        jumped, stepped = (
            pl.circuits.train_gates(level, drifts, rate=0.003, steps=steps, method=method)
            for method in ("jump", "step")
        )
        np.testing.assert_allclose(jumped.level.weights, stepped.level.weights, atol=1e-11)
        np.testing.assert_array_equal(jumped.saturated_at, stepped.saturated_at)
    assert np.isfinite(jumped.saturated_at).any() and np.isinf(jumped.saturated_at).any()


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_population_form_recovers_generative_circuits(depth):
    circuit = pl.targets.random_circuit(2**depth, key=pl.root_key(depth))
    patterns = exact(circuit, pl.distributions.Generative(circuit))
    (learned,) = pl.circuits.learn_circuits([patterns], width=48, regularizer=(2 / 3) ** (depth - 1) / 4)
    mistakes, recovered = pl.circuits.follow(patterns, learned.circuit)
    assert learned.saturated and recovered.all() and mistakes[0] == 0
    points = np.random.default_rng(0).choice([-1.0, 1.0], (500, circuit.n))
    values = jax.vmap(learned.network)(jnp.asarray(points, jnp.float32))
    np.testing.assert_allclose(values, jax.vmap(circuit)(jnp.asarray(points, jnp.float32)), atol=1e-5)


def test_followed_errors_are_those_of_enumeration():
    """A circuit learned wrong, under distributions with a recursion: its error by summing over the cube."""
    truth, wrong = (pl.targets.random_circuit(8, tuple(pl.targets.GATES), key=pl.root_key(seed)) for seed in (4, 5))
    for distribution in (
        pl.Product(truth, np.linspace(-0.7, 0.4, 8)),
        pl.distributions.Generative(pl.targets.random_circuit(8, key=pl.root_key(6))),
    ):
        circuit = distribution.target
        x, y, mass = distribution.support()
        values = np.asarray(jax.vmap(wrong)(x))
        mistakes, _ = pl.circuits.follow(exact(circuit, distribution), wrong)
        assert mistakes[0] == pytest.approx(float(np.asarray(mass, float)[values != np.asarray(y)].sum()), abs=1e-6)


def test_the_printed_regularizer_fails_where_labels_are_mostly_positive():
    """The printed sign and the corrected one: error 0.3607 against 0."""
    circuit = pl.targets.circuit_from_formula("OR(AND(x0,x1),AND(x2,x3))")
    distribution = pl.Product(circuit, 2 * 0.632 - 1)
    patterns = exact(circuit, distribution)
    errors = {}
    for towards in (-1, 1):
        found = pl.circuits.learn_circuits([patterns] * 5, width=32, regularizer=0.316, towards=towards)
        errors[towards] = [pl.circuits.follow(patterns, each.circuit)[0][0] for each in found]
    assert errors[-1] == [0.0] * 5
    assert errors[1] == pytest.approx([0.3607] * 5, abs=1e-4)


def test_width_four_is_enough_for_every_gate():
    corners = PATTERNS / 2
    for outputs in itertools.product([1, -1], repeat=4):
        level = pl.networks.GateLevel(corners[None], np.array([outputs]))
        assert jax.vmap(level)(jnp.asarray(PATTERNS, jnp.float32))[:, 0].tolist() == list(outputs)


def test_packed_samples_are_counted_as_plain_ones_at_every_level():
    chance = np.random.default_rng(5)
    x, y = chance.choice([-1.0, 1.0], (200, 8)), chance.choice([-1.0, 1.0], 200)
    packed = PackedPatterns.joined([PackedPatterns.of(x[:128], y[:128]), PackedPatterns.of(x[128:], y[128:])])
    for size in (200, 128, 67):
        one, other = SamplePatterns(x[:size], y[:size]), packed.first(size)
        while one.gates:
            for counted, bits in zip(one.tables(), other.tables(), strict=True):
                np.testing.assert_allclose(bits, counted, atol=1e-15)
            outputs = chance.choice([-1.0, 1.0], (one.gates, 4))
            one, other = one.above(outputs), other.above(outputs)
        signs = 1 - 2 * np.unpackbits(other.inputs.view(np.uint8), count=size, bitorder="little").astype(float)
        np.testing.assert_array_equal(signs, one.x[:, 0])


def test_hard_tanh_is_flat_from_one_on():
    slope = jax.vmap(jax.grad(lambda z: hard_tanh(z)))(jnp.array([-2.0, -1.0, 0.3, 1.0]))
    assert slope.tolist() == [0, 0, 1, 0]


def test_end_to_end_and_layerwise_start_from_the_same_network():
    network = pl.networks.NeuralGates(6)(8, key=pl.root_key(9))
    for one, other in zip(network.levels, first_levels(8, 6, key=pl.root_key(9)), strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
    assert optax.tree.size(jax.tree.leaves(network)) == 3 * 6 * 7


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SamplePatterns(np.ones((3, 5)), np.ones(3)), "an even number of signs"),
        (lambda: PackedPatterns.of(np.ones((3, 4)), np.ones(2)), "one label each"),
        (lambda: PackedPatterns.of(np.ones((3, 4)), np.ones(3)).first(4), "1 to 3 examples"),
        (lambda: PackedPatterns.joined([PackedPatterns.of(np.ones((3, 4)), np.ones(3))] * 2), "Only the last"),
        (
            lambda: pl.circuits.train_gates(first_gates(2, 3, key=pl.root_key(0)), np.ones((3, 4))),
            "need a table of 2 x 4",
        ),
        (
            lambda: pl.circuits.train_gates(first_gates(1, 3, key=pl.root_key(0)), np.ones((1, 4)), rate=0.0),
            "a rate > 0",
        ),
        (lambda: pl.circuits.learn_circuits([], width=3, regularizer=0.1), "circuits of one size"),
        (lambda: pl.networks.NeuralGates(4)(12, key=pl.root_key(0)), "Use n=16"),
        (lambda: first_gates(2, 0, key=pl.root_key(0)), "width of at least 1"),
        (lambda: first_gates(2, 3, scale=-1.0, key=pl.root_key(0)), "a scale > 0"),
        (lambda: pl.training.RegularizedHinge(-1.0), "weight >= 0"),
    ],
)
def test_wrong_input_is_said(make, words):
    with pytest.raises(ValueError, match=words):
        make()
