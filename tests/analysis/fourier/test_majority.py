"""Majority's Fourier coefficients: the definition, exact fractions, floats to n = 1,001, and Lemma 1."""

import math
from fractions import Fraction

import numpy as np
import pytest

from paritylab.analysis.fourier.majority import (
    exact_majority_coefficient,
    lemma1,
    majority_coefficients,
    majority_weight,
)


def by_definition(n: int, k: int) -> Fraction:
    """E[MAJ chi_S] summed over how many of the k and of the n - k coordinates are -1."""
    total = sum(
        math.comb(k, a) * math.comb(n - k, b) * (-1) ** a * (1 if 2 * (a + b) < n else -1)
        for a in range(k + 1)
        for b in range(n - k + 1)
    )
    return Fraction(total, 2**n)


@pytest.mark.parametrize("n", [1, 3, 5, 9, 15, 101])
def test_the_closed_form_is_the_definition(n):
    for k in range(min(n, 20) + 1):
        assert exact_majority_coefficient(n, k) == by_definition(n, k)


@pytest.mark.parametrize("n", [1, 3, 5, 7, 15, 101, 1001])
def test_floats_are_the_fractions_at_every_level(n):
    exact = np.array([float(exact_majority_coefficient(n, k)) for k in range(n + 1)])
    np.testing.assert_allclose(majority_coefficients(n), exact, rtol=1e-13, atol=0)


def test_the_definition_at_1001():
    for k in (1, 2, 3, 4, 7):
        assert float(by_definition(1001, k)) == pytest.approx(majority_coefficients(1001)[k], rel=1e-13)


@pytest.mark.parametrize("n", [3, 11, 101, 1001])
def test_parseval(n):
    assert sum(math.comb(n, k) * exact_majority_coefficient(n, k) ** 2 for k in range(n + 1)) == 1


@pytest.mark.parametrize(("n", "k"), [(15, 2), (15, 4), (101, 6), (1001, 4), (1001, 10)])
def test_the_ratio_of_neighbouring_levels(n, k):
    """hidden-progress, equation 5 as corrected."""
    ratio = exact_majority_coefficient(n, k + 1) / exact_majority_coefficient(n, k - 1)
    assert ratio == -Fraction(k - 1, n - k)


def test_lemma_1_holds_with_the_corrected_exponent_and_not_with_the_printed_one():
    for k in (1, 3, 5, 9, 15, 31, 61):
        for n in (2 * k**2 + 1, 4 * k**2 + 1, 10 * k**2 + 1, 20_001):
            if n >= 2 * k**2:
                assert lemma1(n, k).holds, (n, k, lemma1(n, k))
    scaled = [majority_weight(20_001, k) * k**1.5 for k in (3, 31, 91)]
    assert max(scaled) / min(scaled) < 1.1
    printed = [majority_weight(20_001, k) * k ** (2 / 3) for k in (3, 31, 91)]
    assert max(printed) / min(printed) > 10


def test_majority_needs_an_odd_n():
    with pytest.raises(ValueError, match=r"odd number of bits.*got n=4"):
        majority_coefficients(4)
    with pytest.raises(ValueError, match="got k=3 and n=17"):
        lemma1(17, 3)
