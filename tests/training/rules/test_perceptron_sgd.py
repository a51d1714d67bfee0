"""Training by jumps: the same updates as plain SGD, one example after the other."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.training.engine.lanes import data_key
from paritylab.training.rules.gradient_descent import ORDER_STREAM
from paritylab.training.rules.shuffle import shuffled

N, M, EPOCHS = 6, 12, 20
TASK = pl.distributions.Encoded(pl.Uniform(pl.targets.full_parity(N)), "bits")
COMMON = {"batch": 1, "sample": M, "seeds": 5, "steps": M * EPOCHS, "every": M * EPOCHS, "validation": 0}
COMMON |= {"float64": True, "lanes": 8, "keep": True}


def trained(network, rate, beta, block, **options):
    return pl.train(TASK, network, rate=rate, loss=pl.training.Confidence(beta, block=block), **COMMON | options)


def weights(runs, run):
    return [
        np.asarray(leaf) for leaf in jax.tree.leaves(runs.network(run)) if isinstance(leaf, np.ndarray | np.generic)
    ]


def updates(runs):
    return runs._parts[0].collected.state[-2]


def sample_and_order(rule, seed):
    """What the engine trains a seed on, and in which order."""
    key = data_key(np.uint32(seed))
    x, y = rule._examples(TASK, key, jnp.arange(M, dtype=jnp.int32))
    one = lambda place: shuffled(jr.fold_in(key, ORDER_STREAM), place // M, place % M, M)
    order = jax.jit(jax.vmap(one))(jnp.arange(M * EPOCHS, dtype=jnp.int32))
    return np.asarray(x, float), np.asarray(y, float), np.asarray(order)


def plainly(x, y, order, rate, beta, units):
    """The updates (2) to (5) of symmetry, in numpy, one example after the other."""
    w, b, m, c, count = np.ones((units, N)), 1.0 - np.arange(units), np.zeros(units), 0.0, 0
    for i in order:
        z = w @ x[i] + b
        v, fires = np.maximum(z, 0), z > 0
        if y[i] * (v @ m + c) <= beta:
            dw = rate * y[i] * m * fires
            w, b, m, c, count = w + np.outer(dw, x[i]), b + dw, m + rate * y[i] * v, c + rate * y[i], count + 1
    return [w, b, m, c], count


@pytest.fixture(scope="module")
def jumped():
    return trained(pl.networks.Staircase(), 1e-3, 0.1, block=4)


def test_jumps_are_plain_sgd(jumped):
    """Against an independent loop: the same number of updates, weights that differ by rounding."""
    for seed in (0, 3):
        expected, count = plainly(*sample_and_order(jumped._parts[0].ensemble.program.rule, seed), 1e-3, 0.1, N + 3)
        assert updates(jumped)[seed] == count > 100
        for ours, theirs in zip(weights(jumped, seed), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_the_block_changes_nothing(jumped):
    single = trained(pl.networks.Staircase(), 1e-3, 0.1, block=1)
    np.testing.assert_array_equal(updates(single), updates(jumped))
    for run in range(5):
        for ours, theirs in zip(weights(single, run), weights(jumped, run), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


def test_silent_units_change_nothing(jumped):
    whole = trained(pl.networks.Staircase(4 * N + 3, silent=True), 1e-3, 0.1, block=4)
    np.testing.assert_array_equal(updates(whole), updates(jumped))
    for run in range(5):
        w, b, m, c = weights(whole, run)
        assert np.all(w[N + 3 :] == 1) and np.all(m[N + 3 :] == 0)
        for ours, theirs in zip([w[: N + 3], b[: N + 3], m[: N + 3], c], weights(jumped, run), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize("rate", [1.0, 2.0**-10])
def test_a_frozen_layer_is_a_perceptron_exactly(rate):
    """In units of h, or with a power of two, every number is exact: the same updates and the same weights."""
    shortcut = trained(pl.networks.Staircase(trained="output"), rate, N**3 * rate, block=8)
    plain = trained(pl.networks.Staircase(), {"output": rate}, N**3 * rate, block=1)
    np.testing.assert_array_equal(updates(shortcut), updates(plain))
    assert updates(shortcut).min() > 100
    for run in range(5):
        w, _, *output = weights(plain, run)
        assert np.all(w == 1)
        for ours, theirs in zip(weights(shortcut, run), output, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_run_ends_when_no_example_asks(jumped):
    runs = trained(pl.networks.Staircase(trained="output"), 1.0, 0.0, block=8, steps=M * 2000, every=M * EPOCHS)
    assert set(runs.table().outcome) == {"settled"} and runs.steps.max() < M * 2000
    x, y, _ = sample_and_order(runs._parts[0].ensemble.program.rule, 0)
    m, c = weights(runs, 0)
    embedded = np.maximum(x.sum(axis=1)[:, None] + 1 - np.arange(N + 3), 0)
    np.testing.assert_array_less(0, y * (embedded @ m + c))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch": 2}, "got batch=2 and sample=12"),
        ({"sample": None}, "got batch=1 and sample=None"),
        ({"optimizer": optax.adam}, "got adam"),
        ({"decay": 0.1}, "without decay"),
        ({"every": 8}, "every=8 with sample=12"),
    ],
)
def test_what_jumps_need_is_said(options, words):
    with pytest.raises(ValueError, match=words):
        pl.plan(TASK, pl.networks.Staircase(), loss=pl.training.Confidence(0.0, block=4), **COMMON | options)


def test_the_slope_of_a_confidence_at_its_corner():
    slope = lambda y, output: jax.grad(pl.training.Confidence(0.0), argnums=1)(jnp.float32(y), jnp.float32(output))
    assert slope(1, 0) == -1 and slope(-1, 0) == 1 and slope(1, 1e-6) == 0
    for wrong in ({"beta": -1.0}, {"block": 0}):
        with pytest.raises(ValueError, match="at least"):
            pl.training.Confidence(**wrong)
