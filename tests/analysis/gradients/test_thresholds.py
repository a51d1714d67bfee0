"""Gradients of threshold neurons with real weights: the integral against enumeration, sums, majority and sampling."""

import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis.fourier.majority import majority_coefficients
from paritylab.analysis.gradients.sums import gradient_by_sums
from paritylab.analysis.gradients.thresholds import gradient_of_threshold, sign_coefficients
from paritylab.cube import random_signs

DISTRIBUTIONS = {"uniform": lambda rng, n: rng.uniform(-1, 1, n), "gaussian": lambda rng, n: rng.normal(size=n)}
RELU6 = ((0.0, 1.0), (6.0, -1.0))


def drawn(distribution, n, seed=0):
    return DISTRIBUTIONS[distribution](np.random.default_rng(seed), n)


def by_enumeration(weights, bias, support, slope):
    x = np.asarray(pl.cube.cube(len(weights)), float)
    labelled = np.prod(x[:, list(support)], axis=1) * slope(x @ weights + bias)
    return labelled @ x / len(x), labelled.mean()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize(
    ("n", "support", "bias"),
    [(10, (0, 1), 0.0), (10, (4, 7, 9), 0.3), (14, (0, 1, 2, 3), 0.0), (14, (2, 5, 7), 0.4), (20, (3, 11), 0.0)],
)
def test_the_integral_is_the_enumeration_within_the_error_it_says(distribution, n, support, bias):
    """Points with w . x near 0 make the sum end slowly at small n, and it says so."""
    weights = drawn(distribution, n)
    found = sign_coefficients(weights, support, bias=bias, most_terms=2**14)
    weight, constant = by_enumeration(weights, bias, support, np.sign)
    off = max(np.max(np.abs(found.weight - weight)), abs(found.bias - constant))
    assert off <= found.error < 5e-3 and off < 5e-4


@pytest.mark.parametrize("n", [11, 19])
@pytest.mark.parametrize("support", [(0, 1), (2, 3, 5, 8)], ids=["k2", "k4"])
def test_the_integral_is_the_enumeration_to_the_last_digits_where_no_sum_is_near_zero(n, support):
    """An odd number of weights near +-1: sums are near odd numbers."""
    rng = np.random.default_rng(1)
    weights = rng.choice([-1, 1], n) * (1 + 0.02 * rng.normal(size=n))
    found = sign_coefficients(weights, support, most_terms=2**14)
    weight, _ = by_enumeration(weights, 0.0, support, np.sign)
    assert found.error < 1e-12
    np.testing.assert_allclose(found.weight, weight, rtol=0, atol=1e-14)


def test_kinks_are_relu6():
    weights = drawn("gaussian", 14) * 1.5
    found = gradient_of_threshold(weights, (0, 5), bias=0.3, kinks=RELU6)
    weight, constant = by_enumeration(weights, 0.3, (0, 5), lambda z: (z > 0) * (z < 6.0))
    assert np.max(np.abs(found.weight - weight)) < 1e-4 and abs(found.bias - constant) < 1e-4


def test_sets_of_one_and_none_see_the_constant():
    weights = drawn("gaussian", 12)
    for support in ((3,), ()):
        found = gradient_of_threshold(weights, support, bias=0.2)
        weight, constant = by_enumeration(weights, 0.2, support, lambda z: z > 0)
        assert np.max(np.abs(found.weight - weight)) < 1e-4 and abs(found.bias - constant) < 1e-4


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("support", [(0, 1), (0, 1, 2, 3)], ids=["k2", "k4"])
def test_the_integral_is_the_dynamic_program_on_rounded_weights(distribution, support):
    """Rounded to multiples of 1/500, with an odd sum so that there is no tie.

    On whole numbers with an odd sum the integrand F changes its sign after every pi, so that 1/t becomes 1/sin t:
    the integral that ends before pi misses F(t) t / 6, which is m / (6 |w|**2) of a coefficient at a set of size m,
    because F(t) / t is near t**(m-1) exp(-|w|**2 t**2 / 2). The next order is 1/n of that. Floats in the dynamic
    program err by some 1e-16.
    """
    whole = np.round(500 * drawn(distribution, 81)).astype(int)
    whole[-1] += whole.sum() % 2 == 0
    by_sums = gradient_by_sums(whole, support, pl.relu)
    by_integral = gradient_of_threshold(whole.astype(float), support)
    assert by_integral.error < 1e-13
    sizes = len(support) + np.where(np.isin(np.arange(81), support), -1, 1)
    missed = sizes / (6 * np.sum(whole.astype(float) ** 2))
    assert missed.max() < 2e-7
    np.testing.assert_allclose(by_integral.weight * (1 + missed), by_sums.weight, rtol=1e-8, atol=3e-16)


@pytest.mark.parametrize(("n", "k"), [(1001, 2), (1001, 4), (1001, 8)])
def test_equal_weights_give_majority_up_to_their_recurrences(n, k):
    """Whole numbers with an odd sum as above: the integral misses m / (6 n) of xi_m, up to the next order."""
    found = sign_coefficients(np.ones(n), tuple(range(k)))
    xi = majority_coefficients(n)
    for m, value in ((k - 1, found.weight[0]), (k + 1, found.weight[-1])):
        assert value * (1 + m / (6 * n)) == pytest.approx(xi[m], rel=(m / n) ** 2)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_sampling_agrees_at_n_200(distribution):
    points, weights, support = 100_000, drawn(distribution, 200), (0, 1)
    weights[:2] = 2.0, -1.5
    found = gradient_of_threshold(weights, support, bias=0.5)
    assert found.error < 1e-13
    x = np.asarray(random_signs(pl.root_key(3), points, 200))
    slopes = (x @ weights.astype(np.float32) + np.float32(0.5) > 0).astype(np.float32)
    labelled = x[:, 0] * x[:, 1] * slopes
    sigma = np.sqrt(np.mean(slopes) / points)
    assert np.max(np.abs(found.weight)) > 10 * sigma
    np.testing.assert_allclose(found.weight, labelled @ x / points, rtol=0, atol=4 * sigma)
    np.testing.assert_allclose(found.bias, labelled.mean(), rtol=0, atol=4 * sigma)


def test_more_terms_change_nothing_at_n_1001():
    weights = drawn("gaussian", 1001)
    short, long = (
        sign_coefficients(weights, (0, 1, 2, 3), tolerance=tolerance, most_terms=512) for tolerance in (1e-17, 0.0)
    )
    assert short.terms == 64 and long.terms == 512
    np.testing.assert_allclose(short.weight, long.weight, rtol=1e-13)


def test_a_finer_step_changes_nothing(monkeypatch):
    weights = drawn("uniform", 301)
    coarse = sign_coefficients(weights, (0, 1), bias=0.7)
    monkeypatch.setattr("paritylab.analysis.gradients.thresholds.TAIL", 25.0)
    fine = sign_coefficients(weights, (0, 1), bias=0.7)
    np.testing.assert_allclose(coarse.weight, fine.weight, rtol=1e-12, atol=1e-18)


def test_weights_of_zero_say_so():
    with pytest.raises(ValueError, match="a weight that is not 0"):
        sign_coefficients(np.zeros(5), (0,))
