import itertools
import math

import jax.random as jr
import numpy as np
import pytest

from paritylab import Parity, majority, random_parity, root_key
from paritylab.analysis import (
    Elimination,
    GoldreichLevin,
    LowDegreeRegression,
    Needed,
    SupportSearch,
    monomial_count,
    what_is_needed,
)
from paritylab.analysis.baselines.methods import _monomials, _set_of_rank, _xor_of_sets
from paritylab.analysis.baselines.needed import examples_of
from paritylab.experiments.drawing import draw_baselines
from paritylab.figures import one_panel
from paritylab.statistics import median_interval
from paritylab.targets import Polynomial, full_parity, staircase


@pytest.mark.parametrize(("n", "k"), [(6, 1), (6, 3), (7, 7), (9, 4)])
def test_sets_are_in_the_order_of_their_ranks(n, k):
    words = np.random.default_rng(n).integers(0, 2**63, n).astype(np.uint64)
    sets = list(itertools.combinations(range(n), k))
    expected = [np.bitwise_xor.reduce(words[list(each)]) for each in sets]
    np.testing.assert_array_equal(_xor_of_sets(words, k), expected)
    assert [_set_of_rank(n, k, rank) for rank in range(len(sets))] == sets


def test_monomials_are_all_products_of_up_to_so_many_coordinates():
    x = np.random.default_rng(0).choice([-1.0, 1.0], (20, 5))
    found = _monomials(x, 3)
    sets = [each for size in range(4) for each in itertools.combinations(range(5), size)]
    assert found.shape[1] == len(sets) == monomial_count(5, 3)
    expected = {tuple(np.prod(x[:, list(each)], axis=1)) for each in sets}
    assert {tuple(column) for column in found.T} == expected


def test_a_search_stops_at_the_example_that_refutes_the_last_wrong_support():
    n, k = 8, 2
    parity = Parity(n, (2, 5))
    attempt = SupportSearch(k)(parity, root_key(3))
    assert attempt.learned and attempt.queries == 0
    x, y = examples_of(parity, 64, jr.split(root_key(3))[0])
    agreeing = lambda count: [
        each
        for each in itertools.combinations(range(n), k)
        if np.all(np.prod(x[:count, list(each)], axis=1) == y[:count])
    ]
    assert agreeing(attempt.samples) == [(2, 5)] and len(agreeing(attempt.samples - 1)) > 1


def test_what_a_search_needs_is_about_the_logarithm_of_its_supports():
    found = what_is_needed(SupportSearch(3), lambda key: random_parity(24, 3, key=key), seeds=60)
    # Each of the N wrong supports survives m examples with probability 2**-m: the last falls near log2 N, within a few.
    expected = math.log2(math.comb(24, 3))
    assert found.learned == 60
    low, high = found.median()[1]
    assert expected - 1 < low and high < expected + 3
    assert found.median()[1] == median_interval(found.samples)


def test_elimination_needs_n_examples_and_one_or_two_whatever_the_degree():
    found = what_is_needed(Elimination(), full_parity(40), seeds=40)
    assert found.learned == 40 and found.samples.min() >= 40
    # A random square matrix of bits lacks 1.6 rows on average (the sum over i of 1 / (2**i - 1)), of variance 2.7.
    assert abs(found.samples.mean() - 41.6067) < 5 * math.sqrt(2.74 / 40)


def test_regression_needs_as_many_examples_as_monomials_or_a_few_less():
    count = monomial_count(12, 2)
    found = what_is_needed(LowDegreeRegression(2), lambda key: random_parity(12, 2, key=key), seeds=8)
    assert found.learned == 8
    assert 0.5 * count < found.samples.min() and found.samples.max() < 1.3 * count
    above = what_is_needed(LowDegreeRegression(2), Parity(10, (0, 1, 2)), seeds=3)  # beyond its degree
    assert above.learned == 0 and above.median() == (math.inf, (0.0, math.inf))


def test_regression_learns_polynomials_and_signs_of_low_degree():
    assert LowDegreeRegression(3)(staircase(9, 3), root_key(0)).learned
    assert LowDegreeRegression(1)(Polynomial(6, [(), (2,), (5,)], [1.0, 2.0, -0.5]), root_key(1)).learned
    assert LowDegreeRegression(1)(majority(5), root_key(2)).learned  # its best linear fit has its sign
    assert not LowDegreeRegression(2)(staircase(9, 3), root_key(0)).learned


def test_goldreich_and_levin_ask_and_draw_nothing():
    attempt = GoldreichLevin(0.9)(Parity(14, (0, 3, 7, 12)), root_key(0))
    assert attempt.learned and attempt.samples == 0 and attempt.queries > 1000
    assert not GoldreichLevin(0.9)(majority(5), root_key(0)).learned


def test_what_has_no_noise_but_is_no_parity_is_not_learned():
    for baseline in (Elimination(), SupportSearch(1)):
        assert not baseline(majority(7), root_key(0)).learned


def test_lines_have_names_values_and_bands():
    levels = Needed("A", np.array([10.0, 20, 30] * 5), np.zeros(15), np.ones(15))
    never = Needed("B", np.full(15, np.inf), np.zeros(15), np.full(15, np.inf))
    asks = Needed("C", np.zeros(15), np.full(15, 500.0), np.ones(15))
    _, axis = one_panel(3, 2)
    draw_baselines(axis, [levels, never, asks])
    assert [line.get_label() for line in axis.lines] == ["A", "B: does not learn", "C"]
    assert [line.get_ydata()[0] for line in axis.lines][::2] == [20.0, 500.0]
    assert len({(line.get_color(), line.get_linestyle()) for line in axis.lines}) == 3
    _, axis = one_panel(3, 2)
    draw_baselines(axis, [[levels, asks]], "samples", x=[1, 2])
    np.testing.assert_array_equal(axis.lines[0].get_ydata(), [20.0, 0.0])
    assert len(axis.collections) == 1


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: SupportSearch(6)(random_parity(200, 6, key=root_key(0)), root_key(0)),
            r"82,408,626,300 supports of k=6",
        ),
        (lambda: LowDegreeRegression(3)(full_parity(60), root_key(0)), r"36,051 monomials .* takes up to 4,000"),
        (lambda: SupportSearch(9)(full_parity(5), root_key(0)), r"`k` is a whole number of at least 1 up to 5"),
        (lambda: what_is_needed(Elimination(), full_parity(5), seeds=0), r"`seeds` is a whole number of at least 1"),
        (lambda: GoldreichLevin(0.0), r"`threshold` is a number from 0\.001 to 1, got threshold=0\.0"),
    ],
)
def test_what_cannot_be_says_so(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_real_targets_are_for_regression():
    with pytest.raises(TypeError, match=r"learns targets of -1 and \+1, .* Use `LowDegreeRegression"):
        Elimination()(staircase(5, 2), root_key(0))
