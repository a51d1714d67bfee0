import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy.linalg import hadamard

from paritylab import Parity, Uniform, root_key
from paritylab.cube import bit_mask, cube
from paritylab.distributions import RandomTask
from paritylab.targets import (
    Polynomial,
    PolynomialSign,
    leap_function,
    permuted,
    random_polynomial,
    random_staircase_sign,
    staircase,
)


def walsh(target):
    """Entry S (a bit mask) is E[f(x) chi_S(x)], by the plain product with the Hadamard matrix."""
    return hadamard(2**target.n) @ np.asarray(jax.vmap(target)(cube(target.n)), float) / 2**target.n


@pytest.mark.parametrize(
    ("supports", "coefficients"),
    [
        ([()], [3.0]),
        ([(2,)], [-0.5]),
        ([(0,), (3, 1), (0, 1, 2, 3, 4)], [1, -2, 0.25]),
        ([(4, 2), (), (1,), (0, 3)], [0.5, 0.5, 0.0, -8.0]),
    ],
)
def test_the_walsh_transform_of_a_polynomial_is_its_coefficients(supports, coefficients):
    polynomial = Polynomial(5, supports, coefficients)
    expected = np.zeros(32)
    expected[[bit_mask(each) for each in supports]] = coefficients
    np.testing.assert_array_equal(walsh(polynomial), expected)  # small multiples of a power of two: exact
    assert polynomial.supports == tuple(tuple(sorted(each)) for each in supports)
    assert polynomial.terms == tuple(zip(polynomial.supports, coefficients, strict=True))


def test_an_ensemble_holds_another_polynomial_in_every_run():
    polynomials = [Polynomial(4, [(0,), (1, 2)], [1, 2]), Polynomial(4, [(0, 1, 2, 3), ()], [-1, 0.5])]
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *polynomials)
    values = eqx.filter_vmap(lambda one: jax.vmap(one)(cube(4)))(stacked)
    np.testing.assert_array_equal(values, [jax.vmap(one)(cube(4)) for one in polynomials])


def test_the_sign_of_a_polynomial_is_the_sign_of_its_values():
    # A threshold of degree two, and the same by its truth table.
    polynomial = Polynomial(4, [(0, 1), (2,), (3,), ()], [2.0, 1.0, -1.0, 0.5])
    values = np.asarray(jax.vmap(polynomial)(cube(4)), float)
    np.testing.assert_array_equal(jax.vmap(PolynomialSign(polynomial))(cube(4)), np.sign(values))
    np.testing.assert_array_equal(
        jax.vmap(PolynomialSign(Polynomial(3, [(0, 2)], [-7])))(cube(3)), -jax.vmap(Parity(3, (0, 2)))(cube(3))
    )


@pytest.mark.parametrize("coefficients", [(1, 1), (0.1, 0.2, -0.3), (1.0, 1e-9, -1.0), (3, 1, 1, 1)])
def test_a_zero_is_refused_also_where_rounding_hides_it(coefficients):
    # 0.1 + 0.2 - 0.3 is 3e-17 in float64: the sign of rounding, not of the polynomial.
    polynomial = Polynomial(40, [(7 * i,) for i in range(len(coefficients))], coefficients)
    with pytest.raises(ValueError, match=r"is 0, or rounded to it, where x0 = [+-]1, x7 = .* has no sign there"):
        PolynomialSign(polynomial)


def test_of_many_relevant_coordinates_nothing_is_checked_and_a_zero_is_plus():
    many = Polynomial(18, [(i,) for i in range(18)], np.ones(18))
    sign = PolynomialSign(many)
    half = jnp.where(jnp.arange(18) < 9, 1.0, -1.0)
    assert float(many(half)) == 0 and float(sign(half)) == 1


def test_staircases_and_chains_of_given_leaps():
    assert staircase(6, 4) == leap_function(6, (1, 1, 1, 1))
    assert leap_function(6, (2, 1, 3)).supports == ((0, 1), (0, 1, 2), (0, 1, 2, 3, 4, 5))
    x = np.asarray(cube(4))
    np.testing.assert_array_equal(jax.vmap(staircase(4, 3))(cube(4)), np.cumprod(x, axis=1)[:, :3].sum(axis=1))


def test_random_polynomials_are_uniform_over_the_places_of_their_coordinates():
    n, draws, supports = 5, 4000, ((0,), (0, 1))
    made = eqx.filter_jit(eqx.filter_vmap(lambda key: random_polynomial(n, supports, (1, 2), key=key)))
    masks = np.asarray(made(jr.split(root_key(0), draws)).masks)
    assert np.all(masks.sum(axis=2) == [1, 2])
    assert np.all(masks[:, 1] | ~masks[:, 0])  # the second set holds the first
    first, second = masks[:, 0].argmax(axis=1), (masks[:, 1] & ~masks[:, 0]).argmax(axis=1)
    counts = np.zeros((n, n))
    np.add.at(counts, (first, second), 1)
    share = 1 / (n * (n - 1))
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(counts[off] / draws, share, atol=5 * math.sqrt(share * (1 - share) / draws))


def test_a_permutation_keeps_the_values_in_another_order():
    polynomial = Polynomial(4, [(0,), (1, 2), (0, 1, 2)], [1, 2, 4])
    x, sets = cube(4), permuted(polynomial, key=root_key(3)).supports
    orders = [
        order
        for order in itertools.permutations(range(4))
        if sets == tuple(tuple(sorted(order[i] for i in each)) for each in polynomial.supports)
    ]
    assert len(orders) == 2  # x1 and x2 may change places
    values = jax.vmap(permuted(polynomial, key=root_key(3)))(x)
    for order in orders:
        np.testing.assert_array_equal(values, jax.vmap(polynomial)(x[:, np.array(order)]))


def test_as_a_random_task_every_key_has_its_own():
    task = RandomTask(random_polynomial, (6, ((0,), (0, 1)), (1.0, 0.5)))
    made = [task(root_key(seed)) for seed in range(4)]
    assert all(isinstance(each, Uniform) for each in made)
    assert len({each.target.supports for each in made}) > 1
    x, y = made[0].sample(root_key(9), 50)
    np.testing.assert_array_equal(y, jax.vmap(made[0].target)(x))
    assert set(np.abs(y).tolist()) == {0.5, 1.5}


def test_the_sign_of_a_staircase_is_that_of_an_odd_sum():
    sign = random_staircase_sign(5, 3, key=root_key(2))
    values = np.asarray(jax.vmap(sign.polynomial)(cube(5)))
    assert set(np.abs(values).tolist()) == {1.0, 3.0}
    np.testing.assert_array_equal(jax.vmap(sign)(cube(5)), np.sign(values))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(4, [(0, 1), (1, 0)], [1, 2]), r"appears once in a polynomial, got \(0, 1\) twice\. Add"),
        (lambda: Polynomial(4, [(0, 4)], [1]), r"distinct coordinates in 0\.\.3, got \(0, 4\)\. Leave out"),
        (lambda: Polynomial(4, [(-1,)], [1]), r"distinct coordinates in 0\.\.3, got \(-1,\)"),
        (lambda: Polynomial(4, [(1, 1)], [1]), r"distinct coordinates in 0\.\.3, got \(1, 1\)"),
        (lambda: Polynomial(4, [(0,), (1,)], [1]), r"a coefficient for each, got 2 sets and coefficients=\[1\]"),
        (lambda: Polynomial(4, [], []), r"at least one set, .* got 0 sets"),
        (lambda: Polynomial(4, [(0,)], [math.nan]), r"are finite, got \[nan\]\. Leave out such a term\."),
        (lambda: Polynomial(0, [(0,)], [1]), r"coordinates, got n=0"),
        (lambda: staircase(3, 4), r"from 1 to n=3, got \(1, 1, 1, 1\), with sum 4\. Raise n"),
        (lambda: staircase(3, 0), r"`k` is a whole number of at least 1, got k=0"),
        (lambda: leap_function(5, (2, 0)), r"`leaps` is a whole number of at least 1, got leaps=0"),
        (lambda: random_staircase_sign(5, 2, key=root_key(0)), r"no sign, got k=2\. Use an odd k\."),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_kinds_are_named(said_to_users):
    flat = "pl.targets.Polynomial(4, [0, 1], [1, 2])"
    text = "pl.targets.Polynomial(4, [(0,)], ['one'])"
    parity = "pl.targets.PolynomialSign(pl.Parity(4, (0,)))"
    assert said_to_users(flat, text, parity) == {
        flat: "TypeError: `supports` is a sequence of sets of coordinates, such as [(0,), (0, 1)], got [0, 1].",
        text: "TypeError: `coefficients` is a number, or a sequence of numbers, got ['one'].",
        parity: "TypeError: `polynomial` is a polynomial, such as Polynomial(3, [(0,), (0, 1)], [2, 1]), got "
        "Parity(n=4, mask=bool[4](numpy)).",
    }
