"""The interpolator of least degree: against theory, and against a search over functions of low degree."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from paritylab.analysis import least_degree_interpolator
from paritylab.cube import cube


def characters(x, degree):
    n = x.shape[1]
    subsets = [s for d in range(degree + 1) for s in itertools.combinations(range(n), d)]
    return np.stack([x[:, list(s)].prod(axis=1) for s in subsets], axis=1)


def test_the_papers_two_functions():
    x = np.asarray(cube(3), float)
    seen = x[x.prod(axis=1) > 0]
    y = seen[:, 0] * seen[:, 1] - 1.25 * seen[:, 1] * seen[:, 2] + 1.5 * seen[:, 2] * seen[:, 0]
    found = least_degree_interpolator(seen, y)
    assert found.terms == {(0,): -1.25, (1,): 1.5, (2,): 1.0} and found.degree == 1


def test_a_function_that_was_seen_everywhere_is_found():
    x = np.asarray(cube(4), float)
    y = np.random.default_rng(0).normal(size=16)
    found = least_degree_interpolator(x, y)
    np.testing.assert_allclose(characters(x, 4) @ np.linalg.solve(characters(x, 4), y), y)
    assert found.degree == 4 and len(found.terms) == 16


@pytest.mark.parametrize("seed", range(12))
def test_no_function_of_lower_degree_agrees(seed):
    """Its degree is the least for which the linear equations have a solution, and it solves them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    x = np.asarray(cube(n), float)
    seen = x[rng.permutation(2**n)[: int(rng.integers(2, 2**n))]]
    y = rng.choice([-1.0, 1.0], len(seen))
    found = least_degree_interpolator(seen, y)
    masks = np.arange(2**n)
    values = (
        np.prod(np.where(masks[None, :, None] >> np.arange(n) & 1, seen[:, None], 1.0), axis=2) @ found.coefficients
    )
    np.testing.assert_allclose(values, y, atol=1e-9)
    solvable = [
        linprog(np.zeros(each.shape[1]), A_eq=each, b_eq=y, bounds=(None, None)).status == 0
        for each in (characters(seen, degree) for degree in range(n + 1))
    ]
    assert found.degree == solvable.index(True)


def test_what_no_function_can_be_is_said():
    with pytest.raises(ValueError, match="given with two labels"):
        least_degree_interpolator(np.ones((2, 2)), np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match="n is at most 12, got n=13"):
        least_degree_interpolator(np.ones((1, 13)), np.ones(1))
