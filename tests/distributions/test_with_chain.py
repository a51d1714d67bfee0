"""Steps as further coordinates, given or not."""

import jax
import numpy as np
import pytest
from exports import row, things

from paritylab import FlippedLabels, Parity, Uniform, root_key
from paritylab.distributions import RandomChain, WithChain, teacher_forcing
from paritylab.targets import random_running_parity, random_tree_parity, running_parity, tree_parity

TREE = Uniform(tree_parity(5, (4, 0, 2, 1)))
CHAINED_UNDER_TEST = {
    "steps given": row(WithChain, TREE),
    "steps not given": row(WithChain, TREE, given=False),
    "running products given": row(WithChain, Uniform(running_parity(4, (0, 2)))),
    "teacher forcing": row(teacher_forcing, TREE),
}


@pytest.mark.parametrize("distribution", things(CHAINED_UNDER_TEST).values(), ids=CHAINED_UNDER_TEST)
def test_every_distribution_of_chains_keeps_the_contract(distribution):
    x, y, probability = (np.asarray(part) for part in distribution.support())
    assert x.shape == (len(probability), distribution.n) and len(y) == len(x) and probability.sum() == 1
    possible = {tuple(each) for each in np.column_stack([x, y]).tolist()}
    drawn_x, drawn_y = distribution.sample(root_key(1), 4000)
    assert drawn_x.dtype == drawn_y.dtype == np.float32
    counted = {tuple(each) for each in np.column_stack([drawn_x, drawn_y]).tolist()}
    assert counted == possible  # 4,000 draws of at most 32 points: each is missed with probability below e^-125
    for ours, compiled in zip(
        (drawn_x, drawn_y), jax.jit(lambda key: distribution.sample(key, 4000))(root_key(1)), strict=True
    ):
        np.testing.assert_array_equal(ours, compiled)


def test_steps_are_the_labels_before_the_last_one():
    plain_x, plain_y = TREE.sample(root_key(0), 50)
    x, y = WithChain(TREE).sample(root_key(0), 50)
    np.testing.assert_array_equal(x, np.column_stack([plain_x, plain_y[:, :2]]))
    np.testing.assert_array_equal(y, plain_y)
    hidden, same = WithChain(TREE, given=False).sample(root_key(0), 50)
    np.testing.assert_array_equal(hidden[:, 5:], 0)
    np.testing.assert_array_equal(hidden[:, :5], plain_x)
    np.testing.assert_array_equal(same, plain_y)


def test_noise_is_in_the_given_steps_and_not_in_clean_ones():
    noisy = WithChain(FlippedLabels(TREE, 1.0))
    x, y = noisy.sample(root_key(0), 50)
    clean_x, clean_y = noisy.clean().sample(root_key(0), 50)
    assert np.all(np.asarray(x)[:, 5:] == np.asarray(y)[:, :2]) and noisy.clean().given
    np.testing.assert_array_equal(clean_y, jax.vmap(TREE.target)(clean_x[:, :5]))


@pytest.mark.parametrize("make", [random_tree_parity, random_running_parity])
def test_a_random_chain_is_forced_in_training_alone(make):
    forced, free = (RandomChain(make, (6, 2), forced=each)(root_key(4)) for each in (True, False))
    assert forced.train.given and not forced.clean().given and not free.given and not free.clean().given
    np.testing.assert_array_equal(forced.train.base.target.masks, make(6, 2, key=root_key(4)).masks)


def test_what_has_no_steps_is_said():
    with pytest.raises(ValueError, match=r"several labels, such as .*labels of shape \(\)"):
        WithChain(Uniform(Parity(4, (0, 1))))
