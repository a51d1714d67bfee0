"""Laws of the outputs of gates, and tasks that a key draws."""

import jax
import jax.random as jr
import numpy as np
import pytest
from exports import row, things, without_a_row

from paritylab import RandomTask, distributions, random_parity, root_key
from paritylab.cube import cube
from paritylab.distributions import (
    AbstractDistribution,
    IndependentOutputs,
    OutputMoments,
    RandomLeaky,
    RandomSubset,
    SharedSign,
)
from paritylab.targets import random_running_parity
from paritylab.training.rules.leaves import split

OUTPUTS_UNDER_TEST = {
    "shared sign": row(SharedSign, np.array([1.0, -1.0, 1.0]), 0.2, 0.1),
    "independent": row(IndependentOutputs, [0.5, 0.0, -1.0]),
    "a random subset": row(RandomSubset, 2, [0.5, 0.0, 1.0]),
}
TASKS_UNDER_TEST = {
    "random parity": row(RandomTask, random_parity, (6, 2)),
    "random parity with noise": row(RandomTask, random_parity, (6, 2), 0.1),
    "random parity, biased": row(distributions.RandomProduct, random_parity, (6, 2), mean=0.2),
    "random parity on a mixture": row(
        distributions.RandomTaskOn, random_parity, (6, 3), distributions.Inputs(mixture="0.5 uniform + 0.5 equal-bits")
    ),
    "leaky parity": row(RandomLeaky, 7, 3),
    "random chain": row(distributions.RandomChain, random_running_parity, (6, 2)),
    "random chain that is never given": row(distributions.RandomChain, random_running_parity, (6, 2), forced=False),
}


def test_every_law_of_outputs_and_every_random_task_is_under_test():
    assert not without_a_row(distributions, "law of outputs", OUTPUTS_UNDER_TEST.values())
    assert not without_a_row(distributions, "random task", TASKS_UNDER_TEST.values())


@pytest.mark.parametrize("law", things(OUTPUTS_UNDER_TEST).values(), ids=OUTPUTS_UNDER_TEST)
def test_every_law_of_outputs_keeps_the_contract(law):
    batch, s = 20_000, cube(law.pairs)
    probability = np.asarray(jax.vmap(law.probability)(s), float)
    assert probability.sum() == pytest.approx(1, abs=1e-6) and np.all(probability >= 0)
    sample = jax.jit(lambda key: law.sample(key, batch))
    drawn = np.asarray(sample(root_key(0)), float)
    assert drawn.shape == (batch, law.pairs) and set(np.unique(drawn)) <= {-1, 1}
    np.testing.assert_array_equal(law.sample(root_key(0), 9), jax.jit(lambda key: law.sample(key, 9))(root_key(0)))
    # Signs have a variance of at most 1.
    np.testing.assert_allclose(drawn.mean(axis=0), probability @ np.asarray(s), atol=5 / np.sqrt(batch))
    by_enumeration = super(type(law), law).moments()
    for closed, counted, name in zip(law.moments(), by_enumeration, OutputMoments._fields, strict=True):
        np.testing.assert_allclose(closed, counted, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("task", things(TASKS_UNDER_TEST).values(), ids=TASKS_UNDER_TEST)
def test_every_random_task_keeps_the_contract(task):
    """A distribution of each key, the same whether drawn alone or among others; a task can be a static argument."""
    keys = jr.split(root_key(0), 4)
    assert isinstance(hash(task), int)
    drawn = lambda key: split(task(key))[0]
    alone, together = [jax.jit(drawn)(key) for key in keys], jax.jit(jax.vmap(drawn))(keys)
    for number, leaf in enumerate(together):
        np.testing.assert_array_equal(leaf, np.stack([numbers[number] for numbers in alone]))
    assert any(len(np.unique(leaf, axis=0)) > 1 for leaf in together)
    x, y = task(keys[0]).sample(keys[1], 5)
    assert isinstance(task(keys[0]), AbstractDistribution) and x.shape[0] == 5 and np.all(np.abs(y) == 1)
