"""Orthogonality by enumeration, and the bound on queries against an adversarial oracle."""

import itertools

import numpy as np
import pytest
import scipy.linalg

from paritylab import GateProduct, Parity, Product, Uniform, bounds


def test_parities_are_orthonormal_and_products_of_gates_too():
    parities = [Parity(5, chosen) for k in range(6) for chosen in itertools.combinations(range(5), k)]
    table = bounds.gram_of_targets(parities, Uniform(parities[0]))
    np.testing.assert_allclose(table, np.eye(32), atol=1e-15)
    products = [GateProduct(gates) for gates in itertools.product(("AND", "OR"), repeat=3)]
    table = bounds.gram_of_targets(products, Uniform(products[0]))
    np.testing.assert_allclose(table, np.eye(8), atol=1e-15)
    assert bounds.spectral_dimension(table) == 8


def test_the_gram_matrix_under_a_product_distribution():
    """E[chi_S chi_T] is the product of the means over the symmetric difference."""
    means = np.array([0.5, -0.25, 0.0, 0.75])
    sets = [set(chosen) for k in range(5) for chosen in itertools.combinations(range(4), k)]
    parities = [Parity(4, sorted(chosen)) for chosen in sets]
    expected = [[np.prod([means[i] for i in one ^ other]) for other in sets] for one in sets]
    found = bounds.gram_of_targets(parities, Product(parities[0], mean=means))
    np.testing.assert_allclose(found, expected, atol=1e-7)  # probabilities come in float32


@pytest.mark.parametrize("tolerance", [0.05, 0.1, 0.25, 0.5])
def test_no_query_correlates_with_more_members(tolerance):
    n = 8
    parities = scipy.linalg.hadamard(2**n) / 2**n
    rng = np.random.default_rng(0)
    queries = [
        *rng.uniform(-1, 1, (20, 2**n)),
        *rng.choice([-1.0, 1.0], (20, 2**n)),
        # The adversarial ones: signs of sums of 2j + 1 parities correlate with all of them alike.
        *(np.sign(parities[rng.choice(2**n, 2 * j + 1, replace=False)].sum(axis=0)) for j in range(20)),
    ]
    most = max((np.abs(parities @ query) > tolerance).sum() for query in queries)
    assert bounds.correlated_members(tolerance=tolerance).allows(int(most))
    assert most >= 1  # the adversarial ones do find some


@pytest.mark.parametrize("overlap", [0.0, 0.05])
def test_an_oracle_that_never_says_more_survives_so_many_queries(overlap):
    """A learner that asks for sums of parities: after T queries of a silent oracle, members are left if T is too small.

    With an overlap the family is not orthonormal: every member has a common part.
    """
    n, tolerance = 8, 0.25
    family = scipy.linalg.hadamard(2**n)[1:].astype(float)
    members = np.sqrt(1 - overlap) * family + np.sqrt(overlap)
    table = bounds.gram(members, np.full(2**n, 2.0**-n))
    bound = bounds.family_queries(bounds.spectral_dimension(table), tolerance=tolerance)
    rng = np.random.default_rng(1)
    left, asked = np.ones(len(members), bool), 0
    while left.any():
        chosen = rng.permutation(np.flatnonzero(left))[: rng.choice([1, 3, 5, 7, 9])]
        query = np.sign(family[chosen].sum(axis=0) + 0.5)
        left &= np.abs(members @ query) / 2**n <= tolerance
        asked += 1
    assert bound.allows(asked - 1)  # the last one is the hypothesis
    assert asked < len(members)  # it is not a foolish learner


def test_counting_by_hand():
    assert bounds.parity_queries(10, 2, tolerance=1).value == 44
    assert bounds.parity_queries(10, 2, tolerance=0.1).value == 0
    assert bounds.gate_product_queries(2000, tolerance=0.1).value == np.inf
    assert bounds.spectral_dimension(np.full((4, 4), 0.5) + np.eye(4) / 2) == pytest.approx(4 / 2.5)


def test_wrong_numbers_say_so():
    with pytest.raises(ValueError, match=r"in \(0, 1\], got tolerance=0"):
        bounds.parity_queries(10, 2, tolerance=0)
    with pytest.raises(ValueError, match=r"got a table of shape \(0, 0\)"):
        bounds.spectral_dimension(np.zeros((0, 0)))
