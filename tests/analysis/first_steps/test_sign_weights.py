"""The first step of Theorem 4 by its closed form, by enumeration and from samples; what it leaves can be trained."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis.first_steps.sign_weights import (
    BLOCK,
    OneStepMLP,
    first_rate,
    parity_outputs,
    presence_probability,
    sampled_correlations,
    sign_correlations,
)
from paritylab.analysis.gradients.population import population_gradient
from paritylab.analysis.gradients.sums import exact_gradient_by_sums
from paritylab.networks.mlp import MLP, FeedForward, Layer

SUPPORT = (1, 3, 4, 7)


def start(n=9, width=16, k=4, seed=0):
    return MLP(width, pl.relu, pl.networks.SignInitialization(k), paired=True)(n, key=pl.root_key(seed))


def test_lemma_2_is_the_population_gradient_of_the_start():
    network, parity = start(), pl.Parity(9, SUPPORT)
    gradient = population_gradient(network, pl.Uniform(parity))
    hidden = network.hidden[0]
    expected = -np.asarray(network.output.weight)[:, None] * np.asarray(
        sign_correlations(hidden.weight, parity.mask, 4)
    )
    np.testing.assert_allclose(gradient.hidden[0].weight, expected, atol=1e-7)
    np.testing.assert_allclose(gradient.hidden[0].bias, 0, atol=1e-12)


def test_lemma_2_by_sums_at_n_101():
    weights = np.random.default_rng(0).choice([-1, 1], 101)
    found = sign_correlations(jnp.asarray(weights[None], jnp.float32), np.isin(np.arange(101), SUPPORT), 4)[0]
    exact = np.array([float(each) for each in exact_gradient_by_sums(weights, SUPPORT, pl.relu)[0]])
    np.testing.assert_allclose(found, exact, rtol=1e-5)


def test_sampled_correlations_are_means_of_fresh_examples():
    network, parity, blocks = start(), pl.Parity(9, SUPPORT), 16
    layer = network.hidden[0]
    weight, bias = sampled_correlations(layer, pl.Uniform(parity), blocks, key=pl.root_key(1))
    exact = sign_correlations(layer.weight, parity.mask, 4)
    five_sigma = 5 * np.sqrt(0.5 / (blocks * BLOCK))  # a neuron is active half of the time
    assert 0 < np.abs(weight - exact).max() < five_sigma
    assert 0 < np.abs(bias).max() < five_sigma
    again, _ = jax.jit(sampled_correlations)(layer, pl.Uniform(parity), jnp.int32(blocks), key=pl.root_key(1))
    np.testing.assert_array_equal(again, weight)  # whole numbers: every program has the same


def test_the_network_after_the_first_step():
    n, k, parity = 31, 4, pl.Parity(31, SUPPORT)
    network = OneStepMLP(parity, width=64)(n, key=pl.root_key(0))
    size = np.abs(network.hidden[0].weight)
    member = np.asarray(parity.mask)
    np.testing.assert_allclose(size[:, member], 1 / (2 * k), rtol=1e-6)
    np.testing.assert_allclose(size[:, ~member], (k - 1) / (n - k) / (2 * k), rtol=1e-5)
    np.testing.assert_array_equal(network.hidden[0].bias, start(n, 64).hidden[0].bias)
    assert not np.any(network.output.weight) and not np.any(network.output.bias)
    sampled = OneStepMLP(parity, width=64, batch=BLOCK * 100)(n, key=pl.root_key(0))
    noise = first_rate(n, k) * np.sqrt(0.5 / (BLOCK * 100))
    assert np.abs(sampled.hidden[0].weight - network.hidden[0].weight).max() < 6 * noise
    np.testing.assert_array_equal(sampled.hidden[0].weight[:32], -sampled.hidden[0].weight[32:])


@pytest.mark.parametrize("k", [4, 6, 8, 10])
def test_lemma_3_has_twice_the_parity(k):
    biases, outputs = parity_outputs(k)
    weight = np.zeros((k + 1, k + 1))
    weight[:, :k] = 1 / (2 * k)
    network = FeedForward(
        (Layer(jnp.asarray(weight, jnp.float32), jnp.asarray(biases, jnp.float32)),),
        Layer(jnp.asarray(outputs, jnp.float32), jnp.zeros(())),
        pl.relu,
    )
    x, y, _ = pl.Uniform(pl.Parity(k + 1, range(k))).support()
    np.testing.assert_allclose(network.columns(x.T), 2 * y, atol=1e-3)
    assert np.abs(outputs).sum() == 8 * k * k and np.abs(biases).max() < 1


@pytest.mark.acceptance
def test_the_second_layer_learns_after_the_first_step_and_not_without_it():
    parity = pl.Parity(31, range(4))
    settings = dict(rate={"output.weight": 0.03}, seeds=2, lanes=2, steps=1500)
    assert all(pl.train(pl.Uniform(parity), OneStepMLP(parity, 512), **settings).outcome == pl.Outcome.LEARNED)
    features = pl.train(
        pl.Uniform(parity), pl.MLP(512, pl.relu, pl.networks.SignInitialization(4), paired=True), **settings
    )
    assert not any(features.outcome == pl.Outcome.LEARNED)


def test_presence_by_drawing_starts():
    width, k, draws = 200, 4, 20_000
    rng = np.random.default_rng(0)
    useful = rng.random((draws, width // 2)) < 2.0 ** (1 - k)
    place = np.where(useful, rng.integers(0, 2 * k - 1, (draws, width // 2)), -1)
    wanted = np.round((parity_outputs(k)[0] + 1) * k).astype(int) - 1  # their places on the grid of biases
    present = np.all([(place == each).any(axis=1) for each in wanted], axis=0).mean()
    exact = presence_probability(width, k)
    assert abs(present - exact) < 5 * np.sqrt(exact * (1 - exact) / draws)


def test_wrong_input_says_so():
    for n, support in ((30, range(4)), (31, range(5)), (31, range(2))):
        with pytest.raises(ValueError, match="needs an odd n and an even k"):
            OneStepMLP(pl.Parity(n, support), 8)
    with pytest.raises(ValueError, match="got batch=100"):
        OneStepMLP(pl.Parity(31, range(4)), 8, batch=100)
    with pytest.raises(ValueError, match="n=31 coordinates, got n=33"):
        OneStepMLP(pl.Parity(31, range(4)), 8)(33, key=pl.root_key(0))
    with pytest.raises(ValueError, match="got width=7"):
        presence_probability(7, 4)
