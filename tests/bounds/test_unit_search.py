"""The search for units that correlate: its slopes, and what it finds against the proven bounds."""

import numpy as np
import pytest

from paritylab import bounds
from paritylab.bounds import unit_search
from paritylab.cube import cube


@pytest.mark.parametrize("half", [2, 3, 5])
@pytest.mark.parametrize("measure", ["length", "tails"])
def test_what_is_found_is_what_it_says_and_within_the_bounds(half, measure):
    found = bounds.search_unit(half, measure, tries=3)
    x = np.asarray(cube(half), float)
    inner = (x @ found.left)[:, None] + (x @ found.right)[None] + found.bias
    signs = bounds.gate_product_matrix(np.ones(half, int))
    assert found.correlation == pytest.approx(float(np.mean(signs * np.maximum(inner, 0))), abs=1e-12)
    forms = bounds.unit_bounds(found.left[None], found.right[None], np.array([found.bias]))
    assert found.correlation <= forms.best[0] * (1 + 1e-12)
    if measure == "tails":
        assert found.ratio * 2 ** (half / 2) == pytest.approx(found.correlation / forms.tails[0], rel=1e-9)


@pytest.mark.parametrize(("half", "reached"), [(2, 0.271), (4, 0.0742)])
def test_the_search_reaches_what_the_memo_reached(half, reached):
    assert bounds.search_unit(half, tries=8).ratio > 0.98 * reached


def test_slopes_against_differences():
    rng, x = np.random.default_rng(0), np.asarray(cube(3), float)
    weights, move = rng.normal(size=(2, 7))
    signs = bounds.gate_product_matrix(np.ones(3, int))
    for function in (lambda w: unit_search._correlation(w, signs, x), lambda w: unit_search._tails(w, x)):
        change = (function(weights + 1e-6 * move)[0] - function(weights - 1e-6 * move)[0]) / 2e-6
        assert change == pytest.approx(float(function(weights)[1] @ move), rel=1e-6)


def test_a_search_of_nothing_says_so():
    with pytest.raises(ValueError, match="got tries=0"):
        bounds.search_unit(3, tries=0)
