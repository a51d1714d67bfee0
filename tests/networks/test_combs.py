"""Combs: their exact error against enumeration and sampling, and the easy half."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.circuits import count_distribution
from paritylab.cube import cube, root_key
from paritylab.networks import Comb, best_comb, comb_network, law_of_count


@pytest.mark.parametrize(("ors", "ands", "changes"), [(3, 2, 1), (2, 3, 3), (5, 0, 1), (0, 5, 3), (3, 2, 5)])
def test_a_comb_is_its_polynomial_of_the_gates_on_the_whole_cube(ors, ands, changes):
    gates = np.random.default_rng(1).permutation([1] * ors + [-1] * ands)
    target, comb = pl.GateProduct(gates), best_comb(ors, ands, changes)
    network = comb_network(target, comb)
    points = cube(target.n)
    values, labels = np.asarray(network.columns(points.T), float), np.asarray(jax.vmap(target)(points))
    counts = np.sum(np.asarray(jax.vmap(target.gate_outputs)(points)) > 0, axis=1)
    np.testing.assert_allclose(values, [comb.value(int(count)) for count in counts], atol=1e-4)
    assert np.mean(values * labels < 0.5) == pytest.approx(comb.error, abs=1e-12)  # whole odd numbers
    assert np.mean(np.maximum(1 - values * labels, 0)) == pytest.approx(comb.hinge, rel=1e-5)
    np.testing.assert_array_equal(comb.right, comb.margins > 0)
    assert comb.easy_error == 0 and network.output.weight.shape == (comb.width,)
    assert (comb.error == 0) == (changes == ors + ands)
    easy = counts[(counts == 0) | (counts == ors + ands)]
    assert set(values[(counts == 0) | (counts == ors + ands)] > 0) == {True, False} and len(easy)


def test_the_law_of_the_count_by_another_route():
    target = pl.GateProduct(np.array([1, -1, 1, 1, -1, 1, -1]))
    np.testing.assert_allclose(
        law_of_count(4, 3), count_distribution(target, pl.Uniform(target)).probability, atol=1e-14
    )


@pytest.mark.parametrize(("n", "error"), [(21, 0.400), (25, 0.408), (51, 0.435), (101, 0.454)])
def test_the_error_of_one_sign_change(n, error):
    """For products of ORs at the best place; and on average over gates, without an error on the easy half."""
    anywhere = min(Comb(n, 0, 1, start).error for start in range(n))
    assert anywhere == pytest.approx(error, abs=5.1e-4)
    average = sum(math.comb(n, ors) / 2**n * best_comb(ors, n - ors).error for ors in range(n + 1))
    assert average == pytest.approx(error, abs=1.2e-3)
    assert average == pytest.approx(0.5 - 0.46 / math.sqrt(n), abs=1.5e-3)
    assert best_comb(n, 0).width == n and best_comb(n // 2, n - n // 2).easy_error == 0


def test_three_sign_changes_and_more():
    comb = min((Comb(21, 0, 3, start) for start in range(19)), key=lambda each: each.error)
    assert (comb.width, round(comb.error, 3)) == (1561, 0.223)
    errors = [best_comb(11, 10, changes).error for changes in (1, 3, 5, 7)]
    assert errors == sorted(errors, reverse=True) and best_comb(11, 10).hinge == pytest.approx(2.012, abs=1e-3)


@pytest.mark.parametrize("n", [21, 101])
def test_the_error_by_sampling(n):
    target = pl.targets.random_gate_product(n, key=root_key(n))
    target = pl.GateProduct(np.asarray(target.ors, float))
    ors, samples = int(np.sum(target.ors > 0)), 40_000
    comb, network = best_comb(ors, n - ors), comb_network(target)
    x, y = pl.Uniform(target).sample(root_key(1), samples)
    found = float(jnp.mean(network.columns(x.T) * y <= 0))
    assert abs(found - comb.error) <= 5 * math.sqrt(0.25 / samples)
    x, y = pl.distributions.equal_gates(target).sample(root_key(2), 500)
    assert float(jnp.min(network.columns(x.T) * y)) > 0


def test_what_no_comb_is():
    with pytest.raises(ValueError, match="even number of sign changes, got changes=2"):
        best_comb(5, 4, 2)
    with pytest.raises(ValueError, match="has an odd number of gates, got 4"):
        print(best_comb(2, 2).easy_error)
    with pytest.raises(ValueError, match="got ors=0, ands=0"):
        best_comb(0, 0)
    with pytest.raises(ValueError, match="got start=5"):
        Comb(3, 2, 1, 5)
    with pytest.raises(ValueError, match="got a product of 1 and 2"):
        comb_network(pl.GateProduct(("OR", "AND", "AND")), best_comb(2, 1))
    with pytest.raises(ValueError, match="at most 65,536 units"):
        comb_network(pl.GateProduct(("OR",) * 51), best_comb(51, 0, 5))
