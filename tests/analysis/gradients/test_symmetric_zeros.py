"""Coefficients that are exactly zero by symmetry, against all coefficients of small neurons."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import paritylab as pl
from paritylab.analysis import walsh_hadamard, zero_by_symmetry
from paritylab.analysis.gradients.population import slope_at
from paritylab.analysis.gradients.symmetric_zeros import least_sum
from paritylab.brief import brief
from paritylab.cube import cube

N = 7
GENERIC = np.random.default_rng(0).uniform(-0.5, 0.5, N)
"""No coefficient is 0 by chance, and relu6 never reaches its upper corner."""


def largest_by_size(weights, activation, bias: float = 0.0) -> np.ndarray:
    """The largest coefficient of sigma'(w . x + b) at sets of size 0, ..., n."""
    slope = slope_at(activation, np.asarray(cube(len(weights)), float) @ weights + bias)
    found = np.abs(walsh_hadamard(slope)) / len(slope)
    sizes = np.bitwise_count(np.arange(len(found)))
    return np.array([found[sizes == size].max() for size in range(len(weights) + 1)])


@pytest.mark.parametrize(
    "activation",
    [
        pl.relu,
        pl.networks.relu6,
        pl.networks.sigmoid,
        pl.networks.Power(8),
        pl.networks.Power(7),
        pl.networks.Sinusoid(2),
        pl.networks.Sinusoid(3),
    ],
    ids=brief,
)
@pytest.mark.parametrize("bias", [0.0, 0.25])
def test_zero_by_symmetry_is_what_enumeration_finds(activation, bias):
    """Up to rounding: n times in w . x, some 16 times in the slope, n times in the transform."""
    largest, reach = largest_by_size(GENERIC, activation, bias), np.abs(GENERIC).sum() + abs(bias)
    grid = np.linspace(-reach, reach, 999)
    slope = slope_at(activation, grid)
    steepest = 0.0 if activation in (pl.relu, pl.networks.relu6) else np.abs(np.gradient(slope, grid)).max()
    rounding = np.finfo(float).eps * (N * reach * steepest + (16 + N) * np.abs(slope).max())
    degree = (
        int(activation.k) if isinstance(activation, pl.networks.Power) else N + 1
    )  # beyond a polynomial's all are 0
    claimed = [zero_by_symmetry(GENERIC, activation, size, bias=bias) for size in range(N + 1)]
    assert claimed[:degree] == (largest <= rounding).tolist()[:degree]
    assert any(claimed) == (bias == 0)


def test_a_bias_below_all_sums_changes_nothing():
    """Majority with any threshold between -1 and 1."""
    weights = np.ones(N)
    for bias, zero in ((0.0, True), (0.5, True), (-0.99, True), (-1.0, False), (1.5, False)):
        assert zero_by_symmetry(weights, pl.relu, 2, bias=bias) is zero
        assert bool(largest_by_size(weights, pl.relu, bias)[2] == 0) is zero


@pytest.mark.parametrize("weights", [np.ones(4), np.array([2.0, 1.0, 1.0, 4.0]), np.array([1.0, 2.0, 3.0])])
def test_where_points_tie_a_relu_has_even_levels(weights):
    assert largest_by_size(weights, pl.relu)[2] > 0.01 and not zero_by_symmetry(weights, pl.relu, 2)


def test_a_corner_that_is_reached_breaks_the_symmetry():
    weights = np.array([3.0, 2.0, 2.0])
    assert largest_by_size(weights, pl.networks.relu6)[2] > 0.01 and not zero_by_symmetry(weights, pl.networks.relu6, 2)
    assert zero_by_symmetry(weights, pl.relu, 2)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=6), st.integers(-60, 60))
def test_the_least_sum_is_below_all_sums(weights, power):
    """And is 0 only where one of them is; scaled by any power of two, which floats know exactly."""
    signs = itertools.product((-1, 1), repeat=len(weights))
    least = min(abs(sum(x * w for x, w in zip(each, weights, strict=True))) for each in signs)
    found = least_sum(np.array(weights) * 2.0**power)
    assert found <= least * Fraction(2) ** power and (found == 0) == (least == 0)


def test_beyond_enumeration_only_what_is_sure():
    assert least_sum(np.ones(101)) == 1 and least_sum(np.ones(100)) == 0
    assert least_sum(np.array([*np.ones(99), 1000.0])) == 1
    assert least_sum(np.array([*np.ones(99), 1000.0, 1.0])) == 0  # it is at least 900, but that is not found out
    assert least_sum(np.zeros(30)) == 0
