"""Forster's bounds where the sign-rank is known, and the ranks of networks by enumeration."""

import itertools
import math

import numpy as np
import pytest

from paritylab import bounds
from paritylab.cube import cube


def half_cube(n: int) -> np.ndarray:
    return np.asarray(cube(n), float)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
def test_products_of_gates_have_the_exact_forster_number(n):
    for seed in range(3):
        gates = np.random.default_rng(seed).choice([-1, 1], n)
        matrix = bounds.gate_product_matrix(gates)
        x = half_cube(n)
        # By definition: OR is (1 + x + z - xz) / 2, AND is (-1 + x + z + xz) / 2.
        direct = np.ones_like(matrix)
        for i, gate in enumerate(gates):
            left, right = x[:, [i]], x[:, [i]].T
            direct *= (gate + left + right - gate * left * right) / 2
        np.testing.assert_array_equal(matrix, direct)
        np.testing.assert_array_equal(matrix @ matrix.T, 2**n * np.eye(2**n))
        assert bounds.forster(matrix).value == pytest.approx(2 ** (n / 2), rel=1e-12)


def test_inner_product_is_the_product_of_or_gates():
    bits = (1 - half_cube(4)) / 2
    np.testing.assert_array_equal(bounds.gate_product_matrix(np.ones(4, int)), (-1) ** (bits @ bits.T))


@pytest.mark.parametrize(("m", "rank"), [(1, 2), (2, 226)])
def test_razborov_sherstov(m, rank):
    matrix = bounds.razborov_sherstov_matrix(m)
    true = half_cube(m**3) > 0
    rng = np.random.default_rng(0)
    for x, y in rng.integers(0, len(matrix), (200, 2)):
        both = (true[x] & true[y]).reshape(m, m**2)
        assert matrix[x, y] == (1 if both.any(axis=1).all() else -1)
    assert np.linalg.matrix_rank(matrix) == rank
    plain = bounds.forster(matrix)
    weights = bounds.search_weights(matrix)
    weighted = bounds.forster_weighted(matrix, weights)
    assert weighted.applies and np.abs(weights).min() >= 1
    assert plain.value <= weighted.value and weighted.allows(rank)
    if m == 2:
        assert plain.value < 1.9 < 2.4 < weighted.value  # so the sign-rank is at least 3


def staircase(size: int) -> np.ndarray:
    """Signs of j - i + 1/2, which have rank 2: every proven bound must stay below 2."""
    place = np.arange(size)
    return np.sign(place[None, :] - place[:, None] + 0.5)


@pytest.mark.parametrize(
    ("signs", "sign_rank"),
    [(staircase(5), 2), (staircase(40), 2), (np.ones((4, 7)), 1), (2 * np.eye(9) - 1, 3), (2 * np.eye(30) - 1, 3)],
    ids=["staircase 5", "staircase 40", "constant", "equality 9", "equality 30"],
)
def test_no_bound_exceeds_a_known_sign_rank(signs, sign_rank):
    """Equality has sign-rank 3 (points on a circle, separated one by one from the others)."""
    plain = bounds.forster(signs)
    weighted = bounds.forster_weighted(signs, bounds.search_weights(signs))
    assert plain.value <= weighted.value + 1e-12
    assert plain.allows(sign_rank) and weighted.allows(sign_rank)


def test_equality_reaches_the_best_weights():
    """For 2I - J the best weights are known: a diagonal of n/2 - 1 gives the norm n/2 and the bound 2."""
    signs = 2 * np.eye(10) - 1
    best = signs + np.diag(np.full(10, 3.0))
    assert bounds.forster_weighted(signs, best).value == pytest.approx(2)
    assert 1.9 < bounds.forster_weighted(signs, bounds.search_weights(signs, steps=200)).value <= 2 + 1e-9


def test_random_factorizations_respect_forster():
    rng = np.random.default_rng(2)
    for rank, size in itertools.product((1, 2, 3, 5), (8, 24)):
        signs = np.sign(rng.normal(size=(size, rank)) @ rng.normal(size=(rank, size)))
        assert bounds.forster_weighted(signs, bounds.search_weights(signs)).allows(rank)


@pytest.mark.parametrize("activation", [lambda t: np.maximum(t, 0), np.sign, np.sin, np.exp])
def test_the_rank_of_integer_networks(activation):
    rng = np.random.default_rng(3)
    half = 5
    x = half_cube(half)
    for width, weight in itertools.product((1, 2, 3), (1, 2)):
        left, right = rng.integers(-weight, weight + 1, (2, width, half)).astype(float)
        inputs = (x @ left.T)[:, None] + (x @ right.T)[None] + rng.integers(-weight, weight + 1, width)
        values = activation(inputs)
        ranks = [np.linalg.matrix_rank(values[..., unit]) for unit in range(width)]
        assert np.all(ranks <= bounds.rank_of_units(left, right))
        rank = int(np.linalg.matrix_rank(values @ rng.normal(size=width) + rng.normal()))
        assert bounds.integer_network_rank(width, half, weight=weight).allows(rank)
        assert rank <= 1 + bounds.rank_of_units(left, right).sum()


def test_the_rank_is_attained():
    """w = (1, ..., 1) and an activation in general position: n + 1 values of each half, all independent."""
    x, half = half_cube(5), 5
    sums = x.sum(axis=1)
    values = np.cos(sums[:, None] * sums[None] + sums[:, None] + sums[None])  # more than a unit can do
    unit = np.maximum(sums[:, None] + sums[None], 0)
    assert np.linalg.matrix_rank(values) == np.linalg.matrix_rank(unit) + 1 == half + 1
    ones = np.ones((1, half))
    assert bounds.rank_of_units(ones, ones).tolist() == [half + 1]


def test_rounding_a_network_moves_it_by_less_than_half_its_margin():
    """The step of Theorem 12: |g^ - g| <= B k (2n' + 1) / N, and so the sign stays."""
    rng = np.random.default_rng(4)
    half, width, weight = 4, 6, 1.5
    x, tried = half_cube(half), 0
    for _ in range(20):
        left, right = rng.uniform(-weight, weight, (2, width, half))
        bias, output = rng.uniform(-weight, weight, (2, width))
        network = lambda a, b, c, u=output: np.maximum((x @ a.T)[:, None] + (x @ b.T)[None] + c, 0) @ u
        values = network(left, right, bias)
        margin = np.abs(values).min()
        if margin == 0:  # all units are off somewhere
            continue
        tried += 1
        pieces = math.ceil(2 * weight * width * (2 * half + 1) / margin)
        whole = network(*(np.ceil(part * pieces) for part in (left, right, bias))) / pieces
        moved = np.abs(whole - values).max()
        assert moved <= weight * width * (2 * half + 1) / pieces <= margin / 2
        np.testing.assert_array_equal(np.sign(whole), np.sign(values))
        bound = bounds.margin_network_rank(width, half, weight=weight, margin=float(margin))
        assert bound.applies and bound.allows(int(np.linalg.matrix_rank(whole)))
        assert bound.value <= 28 * (weight * width * half) ** 2 / margin
    assert tried >= 5


def test_widths_are_the_least_that_the_ranks_allow():
    for half, weight, target in itertools.product((4, 9, 20), (1, 3), (2.0, 100.0, 2.0**20)):
        width = int(bounds.integer_width(half, weight=weight, sign_rank=target).value)
        assert bounds.integer_network_rank(width, half, weight=weight).value >= target
        assert width == 1 or bounds.integer_network_rank(width - 1, half, weight=weight).value < target
        width = int(bounds.margin_width(half, weight=weight, margin=0.5, sign_rank=target).value)
        assert bounds.margin_network_rank(width, half, weight=weight, margin=0.5).value >= target
        assert width == 1 or bounds.margin_network_rank(width - 1, half, weight=weight, margin=0.5).value < target


def test_wrong_input_says_so():
    with pytest.raises(ValueError, match="two halves of 27 bits"):
        bounds.razborov_sherstov_matrix(3)
    with pytest.raises(ValueError, match="entries -1 and"):
        bounds.forster(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"got 2\."):
        bounds.gate_product_matrix(np.array([2]))
    assert not bounds.forster_weighted(np.ones((2, 2)), -np.ones((2, 2))).applies
    assert not bounds.margin_network_rank(1, 2, weight=1, margin=100).applies
