import collections
import itertools
import math

import jax
import numpy as np
import pytest

from paritylab import Parity, majority
from paritylab.analysis import leap, leap_order, spectrum
from paritylab.cube import bit_mask, cube
from paritylab.targets import Polynomial, PolynomialSign, leap_function, staircase

VARIABLES = 6


def by_all_orders(sets):
    """The definition: the least, over all orders, of the largest number of new coordinates."""
    best = math.inf
    for order in itertools.permutations(sets):
        known, largest = 0, 0
        for each in order:
            largest = max(largest, (each & ~known).bit_count())
            known |= each
        best = min(best, largest)
    return best


def families(terms):
    """Every family of so many distinct sets on 6 variables, once up to names of variables, and how many it stands for.

    Up to names a sequence of sets is told by how many variables are in exactly which of them: a multiset of columns.
    """
    found = {}
    for columns in itertools.combinations_with_replacement(itertools.product((0, 1), repeat=terms), VARIABLES):
        rows = list(zip(*columns, strict=True))
        if len(set(rows)) < terms:
            continue
        orders = {tuple(sorted(zip(*order, strict=True))) for order in itertools.permutations(rows)}
        if min(orders) not in found:
            named = math.factorial(VARIABLES) // math.prod(map(math.factorial, collections.Counter(columns).values()))
            found[min(orders)] = [np.flatnonzero(row).tolist() for row in rows], len(orders) * named
    return found.values()


@pytest.mark.parametrize("terms", [1, 2, 3, 4])
def test_the_leap_is_that_of_all_orders_for_every_polynomial_of_four_terms_on_six_variables(terms):
    classes = families(terms)
    for sets, _ in classes:
        polynomial = Polynomial(VARIABLES, sets, [1.0] * terms)
        assert leap(polynomial) == by_all_orders([bit_mask(each) for each in sets]), sets
    # None was left out: together they are all sequences of distinct sets. 679,120 families are 2,684 up to names.
    assert sum(stands_for for _, stands_for in classes) == math.perm(2**VARIABLES, terms)
    assert len(classes) == {1: 7, 2: 43, 3: 302, 4: 2332}[terms]


def biased(polynomial, mean):
    """The coefficients in the basis of these means, from the table of values, and the sets by their masks."""
    found = spectrum(polynomial, mean).coefficients
    return {int(mask): found[mask] for mask in np.flatnonzero(np.abs(found) > 1e-7)}


@pytest.mark.parametrize("mean", [0.0, 0.3, np.array([0.5, 0.0, -0.2, 0.0, 0.7])], ids=["none", "one", "many"])
@pytest.mark.parametrize(
    "polynomial",
    [
        Polynomial(5, [(0, 1, 2), (3,), (1, 4)], [1.0, -2.0, 0.5]),
        Polynomial(5, [(1, 3), (0, 1, 3)], [1.0, 1.0]),
        leap_function(5, (2, 3)),
    ],
)
def test_in_a_basis_of_other_means_it_is_that_of_the_table(polynomial, mean):
    sets = [mask for mask in biased(polynomial, mean) if mask]
    order = leap_order(polynomial, mean)
    assert {bit_mask(each) for each in order.supports} == set(sets)
    assert len(order.supports) == len(sets)
    assert order.leap == leap(np.asarray(jax.vmap(polynomial)(cube(5))), mean)
    if len(sets) <= 5:
        assert order.leap == by_all_orders(sets)


@pytest.mark.parametrize(
    ("function", "mean", "expected"),
    [
        (staircase(500, 7), 0.0, 1),
        (leap_function(500, (2, 4, 1)), 0.0, 4),
        (Parity(500, (3, 14, 15, 92)), 0.0, 4),
        (Parity(500, (3, 14, 15, 92)), 0.2, 1),  # every subset of the support has a coefficient
        (Parity(4, (0, 1, 2)), [0.0, 0.5, 0.0, 0.0], 2),  # all sets hold both coordinates of mean 0
        (majority(5), 0.0, 1),
        (Polynomial(9, [(0, 1), (1, 2), (0, 2)], [1, 1, 1]), 0.0, 2),
        (Polynomial(9, [(0, 1), (1, 2), (0, 2), (2,)], [1, 1, 1, 1]), 0.0, 1),
        (Polynomial(9, [(0, 1), (1, 2), (2,)], [1, 1, 0.0]), 0.0, 2),  # a coefficient of 0 is no term
        (Polynomial(9, [()], [3.0]), 0.0, 0),
        (PolynomialSign(Polynomial(50, [(7, 30), (8,), (9,)], [1, 1, 1])), 0.0, 2),  # a majority: of level 1 and 3
        (PolynomialSign(Polynomial(50, [(7, 30, 41)], [-2.0])), 0.0, 3),
        (np.array([1, -1, -1, 1]), 0.0, 2),
        (np.array([5.0, 5.0]), 0.0, 0),
    ],
)
def test_leaps_that_are_known(function, mean, expected):
    assert leap(function, np.array(mean) if isinstance(mean, list) else mean) == expected


def test_a_term_that_cancels_in_another_basis_is_none():
    # phi_0 phi_1 of mean 1/2 is 4/3 (x0 - 1/2)(x1 - 1/2): its terms of x0 and x1 alone cancel.
    product = Polynomial(2, [(0, 1), (0,), (1,), ()], [1.0, -0.5, -0.5, 0.25])
    assert leap(product) == 1
    assert leap(product, 0.5) == 2


def test_a_function_of_one_point_has_a_leap_too():
    assert leap(lambda x: x[0] * x[2] + x[1], n=3) == 2


def test_what_is_reached_grows_with_the_leap():
    order = leap_order(Polynomial(9, [(0,), (0, 1, 2), (1,), (3, 4, 5, 6), (2, 7, 8)], [1, 2, 3, 4, 5]))
    assert order.leap == 4
    assert order.reached(0) == ()
    assert order.reached(1) == ((0,), (1,), (0, 1, 2))
    assert order.reached(2) == ((0,), (1,), (0, 1, 2), (2, 7, 8))
    assert len(order.reached(4)) == 5


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: leap(staircase(30, 25), 0.1), r"at most 20 relevant coordinates, got 25 and mean=0\.1\. Use fewer"),
        (lambda: leap(staircase(30, 5), 1.0), r"inside \(-1, 1\), got mean=1\.0"),
        (lambda: leap(staircase(30, 5), n=20), r"has 30 coordinates, got n=20\. Leave n out\."),
        (lambda: leap(np.array([1.0, np.nan])), r"finite values"),
        (lambda: leap(staircase(3, 2), tolerance=2.0), r"`tolerance` is a number from 0 to 1, got tolerance=2\.0"),
    ],
)
def test_what_cannot_be_says_so(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
