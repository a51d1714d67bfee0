"""The network of symmetry: its embedding at the start, and the explicit symmetric functions of Lemmas 1 and 2."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis import symmetric_embedding
from paritylab.cube import cube, encode
from paritylab.networks.base import outputs
from paritylab.networks.mlp import Layer


def test_the_start_embeds_each_weight_in_one_point():
    network = pl.networks.Staircase()(5, key=pl.root_key(0))
    bits = encode(cube(5), "bits")
    embedded = np.asarray(jax.nn.relu(network.hidden[0](bits.T))).T
    np.testing.assert_array_equal(embedded, symmetric_embedding(5)[np.asarray(bits.sum(axis=1), int), :-1])
    assert not np.any(outputs(network, bits))


@pytest.mark.parametrize("activation", [pl.relu, pl.networks.sigmoid], ids=["relu", "sigmoid"])
def test_the_start_has_the_hidden_layer_of_the_explicit_functions(activation):
    start = pl.networks.Staircase(None, activation)(4, key=pl.root_key(0))
    explicit = pl.networks.indicator_network(pl.targets.full_parity(4), activation)
    units = len(explicit.hidden[0].bias)
    np.testing.assert_array_equal(start.hidden[0].weight[:units], explicit.hidden[0].weight)
    np.testing.assert_array_equal(start.hidden[0].bias[:units], explicit.hidden[0].bias)


def test_silent_units_are_left_out_and_nothing_else():
    assert pl.networks.Staircase(4 * 5 + 3)(5, key=pl.root_key(0)).hidden[0].weight.shape == (8, 5)
    assert pl.networks.Staircase(4 * 5 + 3, silent=True)(5, key=pl.root_key(0)).hidden[0].weight.shape == (23, 5)
    assert pl.networks.Staircase(23, pl.networks.sigmoid)(5, key=pl.root_key(0)).hidden[0].weight.shape == (23, 5)
    assert pl.networks.Staircase(4)(5, key=pl.root_key(0)).hidden[0].weight.shape == (4, 5)


def test_the_perceptron_sees_what_the_frozen_network_sees():
    key, bits = pl.root_key(1), encode(cube(4), "bits")
    weight, bias = jax.random.normal(key, (7,), jnp.float32), jnp.float32(0.3)
    both, second = (pl.networks.Staircase(trained=way)(4, key=key) for way in ("both", "output"))
    with_output = [eqx.tree_at(lambda network: network.output, each, Layer(weight, bias)) for each in (both, second)]
    np.testing.assert_allclose(*(outputs(each, bits) for each in with_output), rtol=1e-6)


@pytest.mark.parametrize("activation", [pl.relu, pl.networks.sigmoid], ids=["relu", "sigmoid"])
def test_every_symmetric_function_of_three_bits_is_a_sum_of_indicators(activation):
    bits = encode(cube(3), "bits")
    for values in itertools.product((-1, 1), repeat=4):
        target = pl.Symmetric(3, values)
        network = pl.networks.indicator_network(target, activation)
        np.testing.assert_array_equal(np.sign(outputs(network, bits)), jax.vmap(target)(cube(3)))
    assert network.hidden[0].bias.shape == ((6,) if activation is pl.relu else (5,))


def test_other_units_are_refused():
    with pytest.raises(ValueError, match="relu and sigmoid"):
        pl.networks.indicator_network(pl.targets.full_parity(3), pl.networks.square)
    with pytest.raises(ValueError, match="An exception needs at least one"):
        pl.targets.NearlySymmetric(pl.targets.full_parity(3), (3,))
