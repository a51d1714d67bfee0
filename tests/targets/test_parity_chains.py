"""Parities with their intermediate steps."""

import itertools
import math

import equinox as eqx
import jax
import jax.random as jr
import numpy as np
import pytest
from exports import row, things

from paritylab import root_key
from paritylab.cube import cube
from paritylab.targets import (
    ParityChain,
    random_running_parity,
    random_tree_parity,
    running_parity,
    tree_parity,
)
from paritylab.training.rules.leaves import split

CHAINS_UNDER_TEST = {
    "chain": row(ParityChain, 5, [(0, 1), (), (0, 1, 4)]),
    "tree": row(tree_parity, 6, (5, 0, 3, 1)),
    "running products": row(running_parity, 6, (4, 1, 2)),
    "random tree": row(random_tree_parity, 7, 4, key=root_key(0)),
    "random running products": row(random_running_parity, 7, 3, key=root_key(0)),
}


@pytest.mark.parametrize("target", things(CHAINS_UNDER_TEST).values(), ids=CHAINS_UNDER_TEST)
def test_every_chain_keeps_the_contract(target):
    assert isinstance(hash(split(target)[1]), int)
    x = np.asarray(cube(target.n))
    values = jax.vmap(target)(cube(target.n))
    assert values.shape == (2**target.n, len(target.supports)) and values.dtype == np.float32
    by_hand = np.stack([np.prod(x[:, list(support)], axis=1) for support in target.supports], axis=1)
    np.testing.assert_array_equal(values, by_hand)
    np.testing.assert_array_equal(jax.jit(jax.vmap(target))(cube(target.n)), values)


@pytest.mark.parametrize("support", [(0, 1), (4, 2), (3, 0, 5, 2), (7, 6, 5, 4, 3, 2, 1, 0)])
def test_a_node_of_a_tree_is_the_product_of_its_two_children(support):
    k = len(support)
    target = tree_parity(8, support)
    x = np.asarray(cube(8))
    nodes = [x[:, i] for i in support]
    values = np.asarray(jax.vmap(target)(cube(8)))
    for node in range(k - 1):  # leaves, then nodes in the order of the labels: each two neighbours have one parent
        nodes.append(nodes[2 * node] * nodes[2 * node + 1])
    np.testing.assert_array_equal(values, np.stack(nodes[k:], axis=1))
    assert target.supports[-1] == tuple(sorted(support))


def test_a_running_product_is_what_comes_before():
    x = np.asarray(cube(6))
    values = np.asarray(jax.vmap(running_parity(6, (5, 1, 2)))(cube(6)))
    by_hand = np.cumprod(np.column_stack([np.ones(64), x[:, [1, 2, 5]]]), axis=1)
    np.testing.assert_array_equal(values, by_hand)


def test_random_chains_are_chains_of_random_supports():
    """Each draw is what the fixed constructor makes of its support; all supports are about equally frequent."""
    keys = jr.split(root_key(0), 1500)
    trees = eqx.filter_jit(eqx.filter_vmap(lambda key: random_tree_parity(4, 2, key=key)))(keys)
    running = eqx.filter_jit(eqx.filter_vmap(lambda key: random_running_parity(4, 2, key=key)))(keys)
    for drawn in (np.asarray(trees.masks), np.asarray(running.masks)):
        counts = [np.sum(np.all(drawn[:, -1] == np.isin(range(4), pair), axis=1)) for pair in pairs()]
        # Binomial counts, six of them: each within five sigma.
        np.testing.assert_allclose(counts, 250, atol=5 * math.sqrt(1500 * 5 / 36))
    for masks in np.asarray(running.masks)[:20]:
        np.testing.assert_array_equal(masks, running_parity(4, np.flatnonzero(masks[-1]).tolist()).masks)
    larger = random_tree_parity(9, 4, key=root_key(3))
    first, second, both = map(set, larger.supports)
    assert len(first) == len(second) == 2 and not first & second and first | second == both


def pairs():
    return itertools.combinations(range(4), 2)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tree_parity(9, (0, 1, 2)), "2, 4, 8, ... leaves, got k=3"),
        (lambda: random_tree_parity(9, 6, key=root_key(0)), "2, 4, 8, ... leaves, got k=6"),
        (lambda: tree_parity(4, (0, 4)), "distinct coordinates in 0..3"),
        (lambda: running_parity(4, (1, 1)), "distinct coordinates in 0..3"),
        (lambda: ParityChain(4, []), "at least one set"),
        (lambda: random_running_parity(4, 5, key=root_key(0)), "1 <= k <= n, got k=5"),
    ],
)
def test_what_is_no_chain_is_said(make, sentence):
    with pytest.raises(ValueError, match=sentence.replace("...", r"\.\.\.")):
        make()
