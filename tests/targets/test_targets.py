import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from exports import arguments, of_kind, row, things, without_a_row
from scipy.linalg import hadamard
from test_parity_chains import CHAINS_UNDER_TEST

from paritylab import GateProduct, Parity, Symmetric, majority, random_parity, root_key, targets
from paritylab.cube import bit_mask, cube, weight
from paritylab.targets import (
    MultitaskParity,
    NearlySymmetric,
    Polynomial,
    PolynomialSign,
    TreeCircuit,
    circuit_from_formula,
    full_parity,
    leap_function,
    parity_circuit,
    permuted,
    random_circuit,
    random_disjoint_parity,
    random_gate_product,
    random_multitask_parity,
    random_polynomial,
    random_running_parity,
    random_staircase_sign,
    random_symmetric,
    random_tree_parity,
    razborov_sherstov,
    staircase,
)
from paritylab.training.rules.leaves import split

TARGETS_UNDER_TEST = {
    "parity": row(Parity, 6, (0, 2, 5)),
    "parity of nothing": row(Parity, 6, ()),
    "parity of one coordinate": row(Parity, 1, (0,)),
    "random parity": row(random_parity, 7, 3, key=root_key(0)),
    "random disjoint parity": row(random_disjoint_parity, 6, 3, key=root_key(0)),
    "symmetric": row(Symmetric, 3, (1, 1, -1, 1)),
    "nearly symmetric": row(NearlySymmetric, Symmetric(4, (1, 1, -1, 1, -1)), (0, 3)),
    "full parity": row(full_parity, 5),
    "majority": row(majority, 7),
    "random symmetric": row(random_symmetric, 6, key=root_key(0)),
    "circuit": row(TreeCircuit, 4, ("XOR", "OR", "NAND")),
    "circuit from a formula": row(circuit_from_formula, "OR(AND(x0,x1),FIRST(x2,x3))"),
    "random circuit": row(random_circuit, 8, key=root_key(0)),
    "parity circuit": row(parity_circuit, 4, (0, 3)),
    "AND of ORs": row(razborov_sherstov, 1),
    "product of gates": row(GateProduct, ("OR", "AND", "AND")),
    "random product of gates": row(random_gate_product, 4, key=root_key(0)),
    "sign of a polynomial": row(PolynomialSign, Polynomial(5, [(0, 3), (1,), ()], [2, -1.5, 0.25])),
    "random sign of a staircase": row(random_staircase_sign, 6, 3, key=root_key(0)),
    "many parities": row(MultitaskParity, 4, [(0, 1), (2,), (0, 1, 3)]),
    "many random parities": row(random_multitask_parity, 5, 3, 2, key=root_key(0)),
}
REAL_TARGETS_UNDER_TEST = {
    "polynomial": row(Polynomial, 5, [(0, 3), (), (1, 2, 4)], [2.0, -0.5, 1.25]),
    "staircase": row(staircase, 4, 3),
    "leap function": row(leap_function, 6, (1, 3)),
    "random polynomial": row(random_polynomial, 5, [(0,), (0, 1, 2)], [1, -2], key=root_key(0)),
    "permuted polynomial": row(permuted, staircase(5, 2), key=root_key(1)),
}


def test_every_target_is_under_test():
    rows = [*TARGETS_UNDER_TEST.values(), *REAL_TARGETS_UNDER_TEST.values(), *CHAINS_UNDER_TEST.values()]
    assert not without_a_row(targets, "target", rows)


def coefficients(target):
    """Entry S (a bit mask) is E[f(x) chi_S(x)], by the plain product with the Hadamard matrix."""
    return hadamard(2**target.n) @ np.asarray(jax.vmap(target)(cube(target.n)), float) / 2**target.n


def many(make, draws):
    """The targets of many keys, stacked."""
    return eqx.filter_jit(eqx.filter_vmap(make))(jr.split(root_key(0), draws))


@pytest.mark.parametrize("target", things(TARGETS_UNDER_TEST).values(), ids=TARGETS_UNDER_TEST)
def test_every_target_keeps_the_contract(target):
    assert isinstance(hash(split(target)[1]), int)  # its shape can be a static argument
    x = cube(target.n)
    values = jax.vmap(target)(x)
    assert values.shape == (2**target.n,)
    assert values.dtype == x.dtype
    assert set(values.tolist()) <= {-1.0, 1.0}
    assert target(x[-1]).shape == ()
    np.testing.assert_array_equal(jax.jit(jax.vmap(target))(x), values)  # jit changes nothing
    # Parseval. All numbers are multiples of 2**-n below 1: the sum is exact.
    assert np.sum(coefficients(target) ** 2) == 1


@pytest.mark.parametrize("target", things(REAL_TARGETS_UNDER_TEST).values(), ids=REAL_TARGETS_UNDER_TEST)
def test_every_real_target_keeps_the_contract(target):
    assert isinstance(target, targets.AbstractRealTarget)
    assert isinstance(hash(split(target)[1]), int)
    x = cube(target.n)
    values = jax.vmap(target)(x)
    assert values.shape == (2**target.n,) and values.dtype == x.dtype
    assert target(x[-1]).shape == ()
    np.testing.assert_array_equal(jax.jit(jax.vmap(target))(x), values)
    # Parseval, exact where the values are small multiples of 1/4, as here.
    assert np.sum(coefficients(target) ** 2) == np.mean(np.asarray(values, float) ** 2)


@pytest.mark.parametrize("support", [(), (0,), (3,), (0, 4), (4, 1, 2), (0, 1, 2, 3, 4)])
def test_parity_is_the_product_of_its_columns(support):
    parity = Parity(5, support)
    assert parity.support == tuple(sorted(support))
    np.testing.assert_array_equal(
        jax.vmap(parity)(cube(5)), np.prod(np.asarray(cube(5))[:, np.array(support, int)], axis=1)
    )
    assert np.flatnonzero(coefficients(parity)).tolist() == [bit_mask(support)]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (6, 1), (6, 6), (10, 3)])
def test_random_parity_has_exactly_k_coordinates(n, k):
    parities = many(lambda key: random_parity(n, k, key=key), 200)
    assert parities.mask.shape == (200, n)
    assert set(np.sum(parities.mask, axis=1).tolist()) == {k}


def test_random_parity_is_uniform_over_coordinates_and_pairs():
    n, k, draws = 8, 3, 6000
    parities = many(lambda key: random_parity(n, k, key=key), draws)
    chosen = np.asarray(parities.mask, float)
    one, two = k / n, k * (k - 1) / (n * (n - 1))
    # Counts of independent draws: binomial, so a fraction p has sigma sqrt(p (1 - p) / draws).
    np.testing.assert_allclose(chosen.mean(axis=0), one, atol=5 * math.sqrt(one * (1 - one) / draws))
    pairs = (chosen.T @ chosen / draws)[np.triu_indices(n, 1)]
    np.testing.assert_allclose(pairs, two, atol=5 * math.sqrt(two * (1 - two) / draws))


DRAWN = {
    random_parity: (9, 4),
    random_disjoint_parity: (9, 3),
    random_symmetric: (9,),
    random_circuit: (8,),
    random_gate_product: (9,),
    random_staircase_sign: (9, 3),
    random_polynomial: (9, ((0,), (0, 1, 4)), (1, 2)),
    permuted: (staircase(9, 3),),
    random_multitask_parity: (9, 4, 3),
    random_tree_parity: (9, 4),
    random_running_parity: (9, 3),
}


def test_every_target_that_can_be_drawn_is_drawn():
    assert {*DRAWN} == {each for each in of_kind(targets, "target").values() if "key" in arguments(each)}


@pytest.mark.parametrize("export", DRAWN, ids=lambda export: export.__name__)
def test_vmap_over_keys_gives_the_target_of_each_key(export):
    make = lambda key: export(*DRAWN[export], key=key)
    keys = jr.split(root_key(1), 5)
    together = jax.tree.leaves(eqx.filter_jit(eqx.filter_vmap(make))(keys))
    one = eqx.filter_jit(make)
    alone = [jax.tree.leaves(one(key)) for key in keys]
    for i, leaf in enumerate(together):
        np.testing.assert_array_equal(leaf, np.stack([leaves[i] for leaves in alone]))
    assert len({str(np.asarray(leaves[0]).tolist()) for leaves in alone}) > 1


def test_a_stack_of_parities_is_a_parity_under_vmap():
    parities = [Parity(5, support) for support in ((0, 1), (2,), (0, 3, 4))]
    stacked = jax.tree.map(lambda *masks: jnp.stack([jnp.asarray(mask) for mask in masks]), *parities)
    values = eqx.filter_vmap(lambda parity: jax.vmap(parity)(cube(5)))(stacked)
    np.testing.assert_array_equal(values, [jax.vmap(parity)(cube(5)) for parity in parities])


def test_random_disjoint_parity_has_one_uniform_coordinate_in_each_block():
    n, k, draws = 12, 4, 3000
    parities = many(lambda key: random_disjoint_parity(n, k, key=key), draws)
    blocks = np.asarray(parities.mask).reshape(draws, k, n // k)
    assert np.all(blocks.sum(axis=2) == 1)
    share = k / n
    five_sigma = 5 * math.sqrt(share * (1 - share) / draws)
    np.testing.assert_allclose(blocks.mean(axis=0), share, atol=five_sigma)
    # Blocks are independent: two fixed choices meet with probability share**2, of smaller variance.
    np.testing.assert_allclose((blocks[:, 0, 0] & blocks[:, 1, 0]).mean(), share**2, atol=five_sigma)


def test_symmetric_is_its_table_at_the_weight():
    values = (1, -1, -1, 1, -1)
    weights = jax.vmap(weight)(cube(4))
    np.testing.assert_array_equal(jax.vmap(Symmetric(4, values))(cube(4)), np.array(values)[weights])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_full_parity_is_the_parity_of_all_coordinates(n):
    np.testing.assert_array_equal(jax.vmap(full_parity(n))(cube(n)), jax.vmap(Parity(n, range(n)))(cube(n)))


@pytest.mark.parametrize("n", [1, 3, 5, 7, 9])
def test_majority_has_binomial_first_level(n):
    np.testing.assert_array_equal(jax.vmap(majority(n))(cube(n)), np.sign(np.sum(cube(n), axis=1)))
    # E[maj x_i] is the probability that the others tie (O'Donnell 2014, Section 5.3); a multiple of 2**-n, exact.
    expected = math.comb(n - 1, (n - 1) // 2) / 2 ** (n - 1)
    assert coefficients(majority(n))[2 ** np.arange(n)].tolist() == [expected] * n


def test_random_symmetric_signs_are_fair():
    n, draws = 6, 4000
    targets = many(lambda key: random_symmetric(n, key=key), draws)
    assert set(np.unique(targets.values)) == {-1, 1}
    np.testing.assert_allclose(np.mean(targets.values, axis=0), 0, atol=5 / math.sqrt(draws))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda key: random_parity(5, 7, key=key), r"1 <= k <= n, got k=7 on n=5 coordinates\. Lower k or raise n\."),
        (lambda key: random_parity(5, 0, key=key), r"1 <= k <= n, got k=0 on n=5"),
        (lambda key: random_parity(5, -2, key=key), r"1 <= k <= n, got k=-2 on n=5"),
        (lambda key: random_parity(0, 1, key=key), r"coordinates, got n=0"),
        (lambda key: random_disjoint_parity(5, 7, key=key), r"1 <= k <= n, got k=7 on n=5"),
        (lambda key: random_disjoint_parity(6, 0, key=key), r"1 <= k <= n, got k=0 on n=6"),
        (lambda key: random_disjoint_parity(7, 3, key=key), r"got n=7 and k=3\. Make n a multiple of k\."),
        (lambda key: random_symmetric(0, key=key), r"coordinates, got n=0"),
        (lambda key: Parity(0, ()), r"coordinates, got n=0"),
        (
            lambda key: Parity(5, (1, 3, 1)),
            r"distinct coordinates in 0\.\.4, got support=\(1, 3, 1\)\. Leave out",
        ),
        (lambda key: Parity(5, (0, 5)), r"distinct coordinates in 0\.\.4, got support=\(0, 5\)"),
        (lambda key: Parity(5, (-1,)), r"distinct coordinates in 0\.\.4, got support=\(-1,\)"),
        (lambda key: majority(4), r"can be a tie, got n=4\. Use an odd n\."),
        (lambda key: full_parity(0), r"coordinates, got n=0"),
        (lambda key: Symmetric(2, (1, 0, 1)), r"on n=2 needs 3 values of -1 or \+1, .* got \(1, 0, 1\)\."),
        (
            lambda key: Symmetric(2, (1, -1)),
            r"on n=2 needs 3 values .* one per weight 0\.\.2, got \(1, -1\)\.",
        ),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make(root_key(0))
