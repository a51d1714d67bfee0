"""The exact error of a disjoint PolyNet by other routes, and the path of its relevant weights."""

import math

import jax
import numpy as np
import pytest

from paritylab.analysis import disjoint_error, relevant_path
from paritylab.analysis.polynet.errors import long_sign_mean
from paritylab.cube import cube
from paritylab.networks.polynet import DisjointPolyNetwork


@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1), (-1, -1, 1)])
@pytest.mark.parametrize("whole", [True, False])
def test_error_by_enumeration_of_the_cube(signs, whole):
    """Whole numbers have ties, where an output of 0 is a mistake."""
    rng = np.random.default_rng(3)
    weights = (rng.integers(-2, 3, (3, 4)) if whole else rng.normal(size=(3, 4))).astype(np.float32)
    weights[:, 0] = np.array(signs) * np.abs(weights[:, 0] + 0.5).round(0 if whole else 8)
    x = cube(12)
    outputs = np.asarray(jax.vmap(DisjointPolyNetwork(jax.numpy.asarray(weights)))(x))
    parity = np.prod(np.asarray(x)[:, ::4], axis=1)
    assert disjoint_error(weights.astype(float)) == pytest.approx(np.mean(~(outputs * parity > 0)), abs=1e-12)


def test_large_blocks_are_integrated():
    """37 other coordinates: two halves of 2**18 and 2**19 sums, sorted, count every point."""
    weights, level = np.random.default_rng(0).normal(size=37), 4.0

    def sums(some):
        every = np.zeros(1)
        for weight in some:
            every = np.concatenate([every + weight, every - weight])
        return np.sort(every)

    left, right = sums(weights[:18]), sums(weights[18:])
    exact = (len(right) - np.searchsorted(right, level - left, side="right")).sum() / 2.0**37
    assert (1 + long_sign_mean(-level, weights)) / 2 == pytest.approx(exact, abs=1e-6)


def test_a_gaussian_limit_and_certain_ends():
    weights = np.ones((1, 401)) + 1e-3 * np.random.default_rng(1).normal(size=(1, 401))
    weights[0, 0] = 20.5  # close to one standard deviation of the others
    # Berry-Esseen's bound, as the atoms of 400 near-equal weights are 2 apart and 0.04 high.
    assert disjoint_error(weights) == pytest.approx(math.erfc(20.5 / 20 / math.sqrt(2)) / 2, abs=0.56 / 20)
    weights[0, 0] = 1e6
    assert disjoint_error(weights) == 0.0
    assert disjoint_error(-weights) == 1.0


@pytest.mark.parametrize("k", [3, 4])
def test_the_path_from_equal_weights_is_the_flow(k):
    """v = (1 - (k-2) t)**(-1 / (k-2)); Euler's steps are behind it by the order of the rate."""
    rate = 1e-4
    path = relevant_path(np.ones(k), rate)
    step = round(0.4 / (k - 2) / rate)
    exact = (1 - (k - 2) * rate * step) ** (-1 / (k - 2))
    np.testing.assert_allclose(path[step], exact, rtol=10 * rate)
    assert np.min(path[-1]) > 1e6


def test_squares_keep_their_distance_and_the_product_grows():
    start = np.array([0.7, -1.2, -0.4])
    path = relevant_path(start, 1e-4)[:5000]
    squares = path**2 - path[:, :1] ** 2
    # Each step adds rate**2 (q_i**2 - q_j**2), with products q of order 1 on this stretch.
    np.testing.assert_allclose(squares, np.broadcast_to(squares[0], squares.shape), atol=5000 * 1e-8 * 4)
    assert np.all(np.diff(np.prod(path, axis=1)) > 0)


def test_wrong_input_is_said():
    with pytest.raises(ValueError, match="got rate=0"):
        relevant_path(np.ones(3), 0.0)
    with pytest.raises(ValueError, match="got shape"):
        disjoint_error(np.ones((2, 0)))
