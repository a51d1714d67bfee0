"""What a call cannot mean is said in one sentence, before anything is compiled."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.training.checks import check_parts, check_sizes, check_task, checked_axis, checked_seeds
from paritylab.training.engine.lanes import data_key
from paritylab.training.rules.outcomes import Outcome
from paritylab.training.rules.validation import points_of_validation

TASK = pl.Uniform(pl.Parity(6, (0, 1)))
SMALL = {"seeds": 2, "steps": 20, "validation": 64, "batch": 8}

WRONG_KINDS = {
    "a target": (lambda: check_task(pl.Parity(6, (0, 1))), "Uniform"),
    "no task": (lambda: check_task(3), "distribution"),
    "a function to a target": (
        lambda: pl.plan(lambda key: pl.random_parity(6, 2, key=key), pl.MLP(4), **SMALL),
        "gives a distribution",
    ),
    "a made optimizer": (lambda: check_parts(pl.Hinge(), optax.adam(0.1), ()), "without a call"),
    "the lab's optimizer": (lambda: check_parts(pl.Hinge(), pl.training.Optimizer(optax.adam), ()), "`rate`"),
    "the class of a loss": (lambda: check_parts(pl.Hinge, optax.sgd, ()), r"write Hinge\(\)"),
    "the class of a record": (lambda: check_parts(pl.Hinge(), optax.sgd, (pl.FreshError,)), r"FreshError\(\)"),
    "half a batch": (lambda: check_sizes(8.0, 20, 10, 64, None, None, None), "`batch` is a whole number, got 8.0"),
    "seeds that are no list": (lambda: checked_seeds(2.5, "seeds"), "number of seeds"),
}
"""By the functions that `plan` calls: while tests run, annotations are checked before it is."""
WRONG_VALUES = {
    "no rate": ({"rate": []}, "no rate in the list"),
    "no decay": ({"decay": []}, "no decay in the list"),
    "a rate twice": ({"rate": [0.1, 0.2, 0.1]}, "named twice"),
    "rates of other layers": ({"rate": [{"hidden": 0.1}, {"output": 0.1}]}, "the same layers"),
    "a rate and a layer's rate": ({"rate": [0.1, {"output": 0.1}]}, "the same layers"),
    "a rate that float32 cannot hold": ({"rate": 1e39}, "float32"),
    "too many seeds": ({"seeds": 2**63}, "several parts"),
    "no lane": ({"lanes": 0}, "lanes=0"),
    "no interval": ({"every": 0}, "every=0"),
    "a validation batch larger than memory": ({"validation": 10**13}, "Use fewer points"),
    "records of one name": ({"records": (pl.FreshError(10), pl.FreshError(100))}, "'fresh_error'"),
    "a part of some points": ({"task": pl.Points(np.ones((9, 6)), np.ones(9)), "sample": 5}, "sample=9"),
    "a vector": ({"network": lambda n, *, key: eqx.nn.MLP(n, 1, 4, 1, key=key)}, r"shape \(1,\)"),
}


@pytest.mark.parametrize("what", WRONG_KINDS)
def test_wrong_kinds_are_named(what):
    call, sentence = WRONG_KINDS[what]
    with pytest.raises(TypeError, match=sentence):
        call()


@pytest.mark.parametrize("what", WRONG_VALUES)
def test_wrong_values_are_named(what):
    wrong, sentence = WRONG_VALUES[what]
    with pytest.raises(ValueError, match=sentence):
        pl.plan(**{"task": TASK, "network": pl.MLP(4), **SMALL, **wrong})


def test_numpy_numbers_are_numbers_and_seeds_are_not_rounded():
    assert checked_seeds(np.int64(3), "seeds").tolist() == [0, 1, 2] and checked_axis(np.array(0.1), "rate") == [0.1]
    check_sizes(np.int32(8), 20, 10, 64, None, None, None)
    with pytest.raises(ValueError, match="whole number"):
        checked_seeds([0.5, 1.9], "seeds")


def test_a_schedule_may_give_a_plain_number():
    halved = pl.train(TASK, pl.MLP(4), rate=0.2, schedule=lambda step: 0.5, keep=True, **SMALL)
    given = pl.train(TASK, pl.MLP(4), rate=0.1, keep=True, **SMALL)
    for run in range(2):
        assert jax.tree.all(jax.tree.map(np.array_equal, halved.network(run), given.network(run)))


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        ((pl.training.Weights((4,)),), "neurons 0 to 3"),
        ((pl.training.ValidationError(),), "needs validation points"),
    ],
)
def test_records_of_what_there_is_not(records, sentence):
    with pytest.raises(ValueError, match=sentence):
        pl.train(TASK, pl.MLP(4), records=records, **{**SMALL, "validation": 0})


def test_points_with_others_held_out_are_trained_on_as_they_are():
    rng = np.random.default_rng(0)
    x, z = rng.choice([-1.0, 1.0], (2, 40, 12)).astype(np.float32)
    y = rng.choice([-1.0, 1.0], 40).astype(np.float32)
    alone, held = pl.Points(x, y), pl.distributions.HeldOut(pl.Points(x, y), pl.Points(z, y))
    trained = [pl.train(task, pl.MLP(4), sample=40, keep=True, **SMALL) for task in (alone, held)]
    for run in range(2):
        assert jax.tree.all(jax.tree.map(np.array_equal, *(runs.network(run) for runs in trained)))


def test_a_run_that_was_interrupted_has_no_network():
    runs = pl.train(TASK, pl.MLP(4), keep=True, **SMALL)
    runs.outcome[1] = Outcome.RUNNING
    assert runs.network(0) is not None
    with pytest.raises(ValueError, match="interrupted"):
        runs.network(1)


def test_no_run_trains_on_the_validation_points():
    law = pl.Uniform(pl.Parity(40, (0, 1)))
    validation = {point.tobytes() for point in np.asarray(points_of_validation(law.sample, 1024)[0])}
    assert len(validation) == 1024  # of 2**40 points: two that are equal are no chance
    for seed in range(3):
        key = data_key(np.uint32(seed))
        batches = jax.vmap(lambda step, key=key: law.sample(jr.fold_in(key, step), 512)[0])(jnp.arange(20))
        seen = {point.tobytes() for point in np.asarray(batches).reshape(-1, 40)}
        assert not seen & validation
