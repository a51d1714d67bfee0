import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from paritylab import root_key
from paritylab.cube import cube
from paritylab.distributions import Encoded, WeightedTasks, zipf_tasks
from paritylab.targets import MultitaskParity, random_multitask_parity

SUPPORTS = [(0, 1), (2,), (0, 1, 3), ()]
TARGET = MultitaskParity(4, SUPPORTS)


def by_the_definition(x):
    """Point by point, in Python: the first control bit at -1, then the product of its task bits."""
    control, bits = x[:4], x[4:]
    asked = [i for i in range(4) if control[i] < 0]
    return math.prod(bits[i] for i in SUPPORTS[asked[0]]) if asked else 1.0


def test_the_label_is_the_parity_of_the_support_of_the_task():
    labels = jax.vmap(TARGET)(cube(8))
    np.testing.assert_array_equal(labels, [by_the_definition(point) for point in np.asarray(cube(8)).tolist()])
    assert (TARGET.n, TARGET.tasks, TARGET.bits) == (8, 4, 4)
    assert TARGET.supports == tuple(SUPPORTS)


def test_as_bits_they_are_the_inputs_and_labels_of_the_quantization_model():
    """arXiv 2303.13506: a one-hot control, uniform zeros and ones, and their sum over the support mod 2."""
    x, y = Encoded(zipf_tasks(TARGET, 1.4), "bits").sample(root_key(0), 500)
    x = np.asarray(x)
    assert set(x.ravel().tolist()) == {0.0, 1.0}
    assert np.all(x[:, :4].sum(axis=1) == 1)
    member = np.array([[i in support for i in range(4)] for support in SUPPORTS])
    odd = (x[:, 4:] * member[x[:, :4].argmax(axis=1)]).sum(axis=1) % 2
    np.testing.assert_array_equal(y, 1 - 2 * odd)


def test_tasks_come_as_often_as_their_weights_say():
    batch, weights = 40_000, np.arange(1, 5) ** -1.4
    weights /= weights.sum()
    x, _ = zipf_tasks(TARGET, 1.4).sample(root_key(1), batch)
    counts = np.bincount(np.asarray(x[:, :4]).argmin(axis=1), minlength=4)
    np.testing.assert_allclose(counts / batch, weights, atol=5 * 0.5 / math.sqrt(batch))


def test_one_task_alone_has_the_shape_of_all_and_its_own_labels():
    many = zipf_tasks(TARGET, 1.0)
    for task, support in enumerate(SUPPORTS):
        alone = many.alone(task)
        assert jax.tree.structure(alone) == jax.tree.structure(many)
        x, y = alone.sample(root_key(task), 200)
        assert np.all(np.asarray(x[:, :4]).argmin(axis=1) == task)
        np.testing.assert_array_equal(y, np.prod(np.asarray(x[:, 4:])[:, np.array(support, int)], axis=1))


def test_a_task_of_weight_0_is_never_drawn_and_five_hundred_are():
    x, _ = WeightedTasks(TARGET, [0.0, 0.5, 0.5, 0.0]).sample(root_key(3), 20_000)
    assert set(np.asarray(x[:, :4]).argmin(axis=1).tolist()) == {1, 2}
    many = random_multitask_parity(20, 500, 3, key=root_key(4))
    x, y = zipf_tasks(many, 0.0).sample(root_key(5), 20_000)
    assert np.all((np.asarray(x[:, :500]) < 0).sum(axis=1) == 1)
    assert len(np.unique(np.asarray(x[:, :500]).argmin(axis=1))) == 500  # missed with probability 500 exp(-40)
    assert abs(float(y.mean())) < 5 / math.sqrt(20_000)


@pytest.mark.parametrize(("bits", "tasks", "k"), [(6, 20, 3), (5, 7, 2), (9, 1, 9)])
def test_random_supports_are_distinct_and_of_one_size(bits, tasks, k):
    made = eqx.filter_jit(eqx.filter_vmap(lambda key: random_multitask_parity(bits, tasks, k, key=key)))
    masks = np.asarray(made(jr.split(root_key(0), 50)).masks)
    assert masks.shape == (50, tasks, bits) and np.all(masks.sum(axis=2) == k)
    for each in masks:
        assert len({tuple(mask) for mask in each.tolist()}) == tasks


def test_random_supports_are_uniform_over_pairs_of_distinct_sets():
    bits, k, draws = 4, 2, 6000
    made = eqx.filter_jit(eqx.filter_vmap(lambda key: random_multitask_parity(bits, 2, k, key=key)))
    codes = np.asarray(made(jr.split(root_key(1), draws)).masks) @ (2 ** np.arange(bits))
    _, counts = np.unique(codes, axis=0, return_counts=True)
    pairs = math.comb(bits, k) * (math.comb(bits, k) - 1)
    assert len(counts) == pairs
    np.testing.assert_allclose(counts / draws, 1 / pairs, atol=5 * math.sqrt(1 / pairs / draws))


def test_disjoint_supports_share_no_bit_and_are_uniform():
    bits, tasks, k, draws = 7, 3, 2, 3000
    make = lambda key: random_multitask_parity(bits, tasks, k, disjoint=True, key=key)
    masks = np.asarray(eqx.filter_jit(eqx.filter_vmap(make))(jr.split(root_key(2), draws)).masks)
    assert np.all(masks.sum(axis=2) == k) and np.all(masks.sum(axis=1) <= 1)
    share = k / bits
    np.testing.assert_allclose(masks.mean(axis=0), share, atol=5 * math.sqrt(share * (1 - share) / draws))


def test_other_tasks_in_every_run():
    stacked = jax.tree.map(
        lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]),
        MultitaskParity(3, [(0,), (1, 2)]),
        MultitaskParity(3, [(2,), (0, 1, 2)]),
    )
    values = eqx.filter_vmap(lambda one: jax.vmap(one)(cube(5)))(stacked)
    np.testing.assert_array_equal(values[0], jax.vmap(MultitaskParity(3, [(0,), (1, 2)]))(cube(5)))
    np.testing.assert_array_equal(values[1], jax.vmap(MultitaskParity(3, [(2,), (0, 1, 2)]))(cube(5)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultitaskParity(3, []), r"at least one task, and no two with one support, got \[\]"),
        (lambda: MultitaskParity(3, [(0, 1), (1, 0)]), r"no two with one support, got \[\(0, 1\), \(1, 0\)\]"),
        (lambda: MultitaskParity(3, [(3,)]), r"distinct coordinates in 0\.\.2, got \(3,\)"),
        (lambda: MultitaskParity(0, [(0,)]), r"`bits` is a whole number of at least 1, got bits=0"),
        (
            lambda: random_multitask_parity(4, 7, 2, key=root_key(0)),
            r"There are 6 sets of k=2 of 4 bits, got tasks=7\. Lower it, or raise bits\.",
        ),
        (
            lambda: random_multitask_parity(5, 3, 2, disjoint=True, key=root_key(0)),
            r"There are 2 disjoint sets of k=2 of 5 bits, got tasks=3",
        ),
        (lambda: WeightedTasks(TARGET, [0.5, 0.5]), r"each of 4 tasks, with sum 1, got weights=\[0\.5, 0\.5\]"),
        (lambda: WeightedTasks(TARGET, [1.5, -0.5, 0, 0]), r"a weight >= 0 for each of 4 tasks"),
        (lambda: zipf_tasks(TARGET, math.inf), r"`exponent` is a finite number, got exponent=inf"),
        (lambda: zipf_tasks(TARGET, 1.0).alone(4), r"`task` is a whole number of at least 0 up to 3, got task=4"),
        (
            lambda: zipf_tasks(MultitaskParity(30, [(0,)]), 1.0).support(),
            r"30 task bits are enumerated up to 26\. Sample instead",
        ),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()
