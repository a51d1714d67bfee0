"""Gradients of sign units on biased inputs: against all weights and examples at small n, and against their limit."""

import itertools

import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis import (
    biased_sign_gradient,
    gradient_by_enumeration,
    majority_coefficients,
    scaled_sign_gradient,
)


@pytest.mark.parametrize("mean", [0.0, 0.3, -1.0])
@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_mean_square_over_all_weights_and_examples(k, mean):
    weights = np.array([*itertools.product((-1.0, 1.0), repeat=7)])
    task = pl.Product(pl.Parity(7, range(k)), mean)
    gradient = gradient_by_enumeration(weights, pl.relu, task).weight[:, 0]
    np.testing.assert_allclose(biased_sign_gradient(7, k, mean), np.sqrt(np.mean(gradient**2)), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("k", [2, 4])
def test_without_bias_it_is_half_a_coefficient_of_majority(k):
    np.testing.assert_allclose(biased_sign_gradient(301, k, 0.0), abs(majority_coefficients(301)[k - 1]) / 2, rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_limit_is_approached_as_one_over_n(k):
    h = 1.5
    off = [n ** ((k - 1) / 2) * biased_sign_gradient(n, k, h / np.sqrt(n)) / float(scaled_sign_gradient(k, h)) - 1
           for n in (201, 801)]  # fmt: skip
    assert abs(off[0]) < 0.05 and abs(off[1]) < 0.3 * abs(off[0])


@pytest.mark.parametrize(
    ("n", "k", "mean", "message"), [(10, 2, 0.0, "odd n"), (5, 6, 0.0, "n=5 and k=6"), (5, 2, 1.5, "between -1 and 1")]
)
def test_what_has_no_gradient_says_so(n, k, mean, message):
    with pytest.raises(ValueError, match=message):
        biased_sign_gradient(n, k, mean)
