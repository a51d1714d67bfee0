import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy.linalg import hadamard

from paritylab.cube import bit_mask, character, cube, encode, random_signs, root_key, sign_of_parity, weight


def test_order_of_the_cube():
    assert cube(2).tolist() == [[1, 1], [-1, 1], [1, -1], [-1, -1]]
    assert cube(3)[:5].tolist() == [[1, 1, 1], [-1, 1, 1], [1, -1, 1], [-1, -1, 1], [1, 1, -1]]
    assert cube(0).shape == (1, 0)
    assert cube(3).dtype == jnp.float32


@pytest.mark.parametrize("n", [-1, 27])
def test_a_cube_that_is_not_enumerated_says_so(n):
    with pytest.raises(ValueError, match=rf"cube of n={n} .* 0 <= n <= 26.* Sample from a distribution"):
        cube(n)


@pytest.mark.parametrize(("support", "mask"), [((), 0), ((0,), 1), ((0, 2), 5), ((2, 0), 5), ((40,), 2**40)])
def test_bit_mask(support, mask):
    assert bit_mask(support) == mask


@pytest.mark.parametrize("n", range(1, 7))
def test_characters_are_the_columns_of_the_hadamard_matrix(n):
    subsets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    values = jax.vmap(jax.vmap(character, in_axes=(None, 0)), in_axes=(0, None))(subsets, cube(n))
    np.testing.assert_array_equal(np.asarray(values).T, hadamard(2**n))
    for row, subset in enumerate(subsets):
        assert bit_mask(np.flatnonzero(subset).tolist()) == row


def test_character_of_many_coordinates_does_not_round():
    x = random_signs(root_key(0), 4, 1001)
    everything = jax.vmap(character, in_axes=(None, 0))(np.ones(1001, bool), x)
    np.testing.assert_array_equal(everything, np.prod(np.asarray(x), axis=1))


def test_weight_counts_minus_ones_and_gives_the_full_parity():
    weights = jax.vmap(weight)(cube(5))
    assert weights.tolist() == np.bitwise_count(np.arange(32)).tolist()
    np.testing.assert_array_equal(sign_of_parity(weights, jnp.float32), np.prod(np.asarray(cube(5)), axis=1))


@pytest.mark.parametrize(("batch", "n"), [(1, 1), (5, 7), (8, 32), (3, 33), (100, 50)])
def test_random_signs_are_the_bits_of_random_words(batch, n):
    key = root_key(batch)
    words = np.asarray(jr.bits(key, (math.ceil(batch * n / 32),), jnp.uint32))
    bits = [(int(words[i // 32]) >> (i % 32)) & 1 for i in range(batch * n)]
    signs = random_signs(key, batch, n)
    assert signs.dtype == jnp.float32
    assert ((1 - np.asarray(signs)) / 2).tolist() == np.reshape(bits, (batch, n)).tolist()


def test_random_signs_are_fair_and_uncorrelated():
    batch, n = 40_000, 12
    x = np.asarray(random_signs(root_key(0), batch, n), float)
    # x_i and x_i x_j have mean 0 and variance 1, so their means over the batch have sigma 1/sqrt(batch).
    five_sigma = 5 / math.sqrt(batch)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=five_sigma)
    np.testing.assert_allclose(x.T @ x / batch, np.eye(n), atol=five_sigma)
    # Neighbouring rows share random words; their products have the same mean and variance.
    np.testing.assert_allclose(x[1:].T @ x[:-1] / (batch - 1), 0, atol=1.001 * five_sigma)


def test_encodings():
    x = cube(4)
    np.testing.assert_array_equal(encode(x, "signs"), x)
    np.testing.assert_array_equal(encode(x, "bits"), (np.arange(16)[:, None] >> np.arange(4)) & 1)
    np.testing.assert_array_equal(encode(x, "unit"), np.asarray(x) / 2)
    np.testing.assert_allclose(np.linalg.norm(encode(cube(3), "unit"), axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(encode(x[3], "bits"), [1, 1, 0, 0])


def test_an_unknown_encoding_is_named(said_to_users):
    (said,) = said_to_users("encode(np.ones(2), 'hex')").values()
    assert said == "ValueError: There is no encoding 'hex'; choose one of signs, unit, bits."


def test_a_root_key_does_not_follow_the_default_of_jax():
    assert str(jr.key_impl(root_key(3))) == "threefry2x32"
    with jax.default_prng_impl("rbg"):
        assert jr.key_data(root_key(3)).tolist() == [0, 3]
