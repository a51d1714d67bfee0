import itertools
import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from paritylab import root_key
from paritylab.training.rules.shuffle import shuffled


def orders(size, epochs, seed=0):
    """One order of the sample per row."""
    places = jnp.arange(size, dtype=jnp.int32)
    order = lambda epoch: jax.vmap(lambda place: shuffled(root_key(seed), epoch, place, size))(places)
    return np.asarray(jax.jit(jax.vmap(order))(jnp.arange(epochs, dtype=jnp.int32)))


def chi_square(counts, expected):
    """Whether counts are within five sigma of equal shares: chi-square of f degrees has mean f and variance 2 f."""
    freedom = counts.size - 1
    statistic = np.sum((counts - expected) ** 2 / expected)
    return statistic <= freedom + 5 * math.sqrt(2 * freedom)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_every_order_is_a_permutation(size):
    made = orders(size, epochs=5)
    assert made.dtype == np.int32
    np.testing.assert_array_equal(np.sort(made, axis=1), np.tile(np.arange(size), (5, 1)))


def test_other_epochs_and_other_keys_have_other_orders():
    made = np.concatenate([orders(64, epochs=20, seed=0), orders(64, epochs=20, seed=1)])
    assert len({tuple(row) for row in made.tolist()}) == 40
    # Two random orders agree at one place on average, with variance 1: over 780 pairs the mean has sigma 1/sqrt(780).
    agreements = [np.sum(one == other) for one, other in itertools.combinations(made, 2)]
    assert abs(np.mean(agreements) - 1) <= 5 / math.sqrt(len(agreements))


def test_an_order_is_a_function_of_key_and_epoch():
    np.testing.assert_array_equal(orders(64, epochs=3), orders(64, epochs=3))
    alone = shuffled(root_key(0), jnp.int32(2), jnp.int32(5), 64)
    assert int(alone) == orders(64, epochs=3)[2, 5]


@pytest.mark.parametrize("size", [2, 3, 7, 10])
def test_every_member_is_equally_likely_at_every_place(size):
    epochs = 6000
    made = orders(size, epochs)
    for place in range(size):
        assert chi_square(np.bincount(made[:, place], minlength=size), epochs / size), place


@pytest.mark.parametrize("size", [3, 4])
def test_every_permutation_is_equally_likely(size):
    epochs = 6000
    numbers = {order: i for i, order in enumerate(itertools.permutations(range(size)))}
    found = np.bincount([numbers[tuple(row)] for row in orders(size, epochs).tolist()], minlength=len(numbers))
    assert chi_square(found, epochs / len(numbers))


def test_neighbours_in_a_large_sample_are_scattered():
    size, epochs = 1000, 40
    made = orders(size, epochs)
    # Gaps of neighbours in a random order, modulo the size, are uniform on 1..size-1: ten equal ranges of gaps.
    gaps = np.diff(made, axis=1) % size
    counts = np.histogram(gaps, bins=np.linspace(0.5, size - 0.5, 10 + 1))[0]
    assert chi_square(counts, gaps.size / 10)


def test_a_sample_of_nearly_two_to_the_31_does_not_overflow():
    size = 2**31 - 1
    places = jnp.array([0, 1, size // 2, size - 2, size - 1], jnp.int32)
    keys = jr.split(root_key(0), 50)
    made = jax.vmap(lambda key: jax.vmap(lambda place: shuffled(key, jnp.int32(0), place, size))(places))(keys)
    assert np.all((np.asarray(made) >= 0) & (np.asarray(made) < size))
    assert all(len(set(row)) == 5 for row in made.tolist())
    # Uniform numbers below 2**31 have mean 2**30 and sigma 2**31/sqrt(12).
    assert abs(np.mean(made, dtype=float) - 2**30) <= 5 * 2**31 / math.sqrt(12 * made.size)


def test_rows_looked_up_in_a_random_order_compile_as_users_compile_them():
    """In a loop over steps, with the optimizations that `make test` leaves out: the compiler once did not end here."""
    size, table = 64, jnp.arange(640.0).reshape(64, 10)

    def step(key, count):
        places = 16 * count + jnp.arange(16, dtype=jnp.int32)
        members = jax.vmap(lambda place: shuffled(key, place // size, place % size, size))(places)
        return jnp.sum(table[members], axis=0)

    add = lambda keys, steps: jax.lax.fori_loop(
        0, steps, lambda i, total: total + jax.vmap(step, (0, None))(keys, i), jnp.zeros((len(keys), 10))
    )
    fully = {"xla_backend_optimization_level": 3, "xla_llvm_disable_expensive_passes": False}
    epoch = jax.jit(add, compiler_options=fully)(jr.split(root_key(0), 8), jnp.int32(4))
    np.testing.assert_array_equal(epoch, np.tile(table.sum(axis=0), (8, 1)))  # whole numbers: in any order
