"""Errors of disjoint PolyNets: by blocks, by the whole cube, by counting, and between the bounds of Lemma 6."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis.gradients.thresholds import sign_coefficients
from paritylab.analysis.polynet.errors import last_place, lemma6, long_sign_mean, polynet_error, sign_error, sign_means
from paritylab.networks.polynet import DisjointPolyNetwork

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", ["ties", "real"])
def test_the_error_of_blocks_is_that_of_the_network(k, kind):
    """Also where outputs are 0 and where the product of the relevant weights is negative."""
    block = 4
    weights = RNG.integers(-2, 3, (10, k, block)) if kind == "ties" else RNG.normal(size=(10, k, block))
    x, y, _ = pl.Uniform(pl.Parity(k * block, range(0, k * block, block))).support()
    for each in weights:
        network = DisjointPolyNetwork(jnp.asarray(each, jnp.float32))
        wrong = np.mean(~(np.asarray(jax.vmap(network)(x) * y) > 0))
        assert float(polynet_error(each.astype(float))) == pytest.approx(wrong, abs=1e-12)


def test_many_weights_by_quadrature():
    others = RNG.normal(size=15)
    for v in (0.3, 1.0, 4.0):
        off = abs(long_sign_mean(v, others) - float(sign_means(np.array(v), others).signed))
        assert off <= sign_coefficients(others, (), bias=v).error < 1e-2


def test_sign_weights_by_counting():
    for block, k in itertools.product((5, 8), (2, 3)):
        v = np.array([0.5, 1.5, 2.5, 5.5, 9.5])
        weights = np.ones((len(v), k, block))
        weights[..., 0] = v[:, None]
        np.testing.assert_allclose(sign_error(block, k, v), polynet_error(weights), atol=1e-12)


@pytest.mark.parametrize(("block", "k", "level"), [(16, 3, 0.4), (257, 3, 0.49), (1000, 5, 0.49), (64, 4, 0.2)])
def test_the_error_falls_below_the_level_at_the_last_place(block, k, level):
    place = last_place(block, k, level)
    before, after = sign_error(block, k, np.array([place - 0.5, place + 0.0]))
    assert after < level <= before


def test_lemma_6_corrected_holds_and_as_printed_does_not():
    weights = np.abs(RNG.normal(size=(500, 3, 8)))
    weights[..., 0] *= RNG.uniform(0, 6, (500, 1))
    assert np.all(lemma6(weights).holds)
    flat = np.ones((3, 9))
    flat[:, 0] = 2.01  # sums of 2 lie just inside
    assert lemma6(flat, printed=True).error < lemma6(flat, printed=True).low
    large = np.ones((3, 5))
    large[:, 0] = 3.9  # as large as the other four together, but for a little
    assert lemma6(large, printed=True).error > lemma6(large, printed=True).high
    assert lemma6(flat).holds and lemma6(large).holds
    with pytest.raises(ValueError, match="positive product"):
        lemma6(np.array([[-1.0, 1.0], [1.0, 1.0]]))


def test_long_blocks_are_not_enumerated():
    with pytest.raises(ValueError, match="got 31"):
        sign_means(np.array(1.0), np.ones(30))
