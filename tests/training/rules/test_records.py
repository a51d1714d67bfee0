"""What every record and every rule keeps, at one step of one run."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from exports import Row, row, without_a_row

import paritylab as pl
from paritylab import training
from paritylab.distributions import Curriculum, Encoded, Phase, RandomPatches, leaky, made_up_images
from paritylab.networks import PatchScores, Staircase
from paritylab.training import Confidence, ErrorAtMost, Hinge, LossBelow, Optimizer, logistic, square_loss
from paritylab.training.engine.lanes import data_key
from paritylab.training.engine.loop import init_key
from paritylab.training.rules.base import AbstractRule
from paritylab.training.rules.gradient_descent import GradientDescent, Problem
from paritylab.training.rules.leaves import split
from paritylab.training.rules.perceptron_sgd import PerceptronSGD
from paritylab.training.rules.records import Snapshot

SGD = Optimizer(optax.sgd, rate=0.1)
COMMON = {"batch": 4, "validation": 40, "sample": None, "float64": False}
PARITY, IN_BITS = pl.Uniform(pl.Parity(6, (0, 2))), Encoded(pl.Uniform(pl.majority(5)), "bits")


class Prefixes(pl.targets.AbstractRealTarget):
    """x_0 and x_0 x_1: two labels for each point."""

    n: int = eqx.field(static=True, default=6)

    def __call__(self, x):
        return jnp.stack([x[0], x[0] * x[1]])


PROBLEMS = {
    "parity": (GradientDescent, Problem(PARITY, pl.MLP(5), Hinge(), SGD), {}),
    "sample": (GradientDescent, Problem(PARITY, pl.MLP(5), Hinge(), SGD), {"sample": 6}),
    "mixture": (GradientDescent, Problem(leaky(pl.Parity(6, (0, 1, 2))), pl.MLP(5), Hinge(), SGD), {}),
    "patches": (
        GradientDescent,
        Problem(RandomPatches(made_up_images(20, side=4), 2), PatchScores((5,), 10), logistic, SGD),
        {},
    ),
    "several labels": (
        GradientDescent,
        Problem(pl.Uniform(Prefixes()), pl.MLP(5, outputs=2), Hinge(), SGD, ErrorAtMost(0.1)),
        {},
    ),
    "curriculum": (
        GradientDescent,
        Problem(
            Curriculum([Phase(pl.Product(pl.Parity(6, (0, 2)), 0.5), steps=1), Phase(PARITY)]),
            pl.MLP(5),
            square_loss,
            SGD,
            LossBelow(0.1),
        ),
        {},
    ),
    "jumps": (
        PerceptronSGD,
        Problem(IN_BITS, Staircase(), Confidence(0.1, block=3), SGD),
        {"batch": 1, "sample": 6, "validation": 0},
    ),
}

RECORDS_UNDER_TEST = {
    "fresh loss": (row(training.FreshLoss, 32), "parity"),
    "fresh error": (row(training.FreshError, 32), "parity"),
    "top accuracy": (row(training.TopAccuracy, 2, 32), "patches"),
    "class bits": (row(training.ClassBits, 32), "patches"),
    "validation error": (row(training.ValidationError), "parity"),
    "sample error": (row(training.SampleError), "sample"),
    "weights": (row(training.Weights, (0, 3)), "parity"),
    "neurons": (row(training.Neurons, (0, 3)), "parity"),
    "progress": (row(training.Progress), "parity"),
    "errors by part": (row(training.ErrorsByPart, 32, 16), "mixture"),
    "layer drift": (row(training.LayerDrift), "parity"),
    "parameters": (row(training.Parameters), "parity"),
    "output fourier": (row(training.OutputFourier, ((0, 2), (1,))), "parity"),
    "neuron fourier": (row(training.NeuronFourier, ((0, 2),), (0, 3)), "parity"),
    "support fourier": (row(training.SupportFourier, 2, ((), (0, 1), (1,))), "parity"),
    "updates": (row(training.Updates), "jumps"),
    "output errors": (row(training.OutputErrors, 32), "several labels"),
    "output losses": (row(training.OutputLosses, training.square_loss, 32), "several labels"),
    "errors on": (row(training.ErrorsOn, [PARITY, pl.Uniform(pl.Parity(6, (1,)))], 32), "parity"),
    "unit norms": (row(training.UnitNorms), "parity"),
    "pruned errors": (row(training.PrunedErrors, (1, 5), 32), "parity"),
    "phase": (row(training.CurriculumPhase), "curriculum"),
}
RULES_UNDER_TEST = {name: Row(PROBLEMS[name][0], name) for name in PROBLEMS if name != "patches"}


@functools.cache
def made(name: str) -> tuple[AbstractRule, Problem]:
    kind, problem, options = PROBLEMS[name]
    return kind.of(problem, **COMMON | options), problem


def begun(name: str, seed: int = 0):
    rule, problem = made(name)
    numbers = tuple(
        jnp.asarray(number, jnp.float32 if np.asarray(number).dtype.kind == "f" else None)
        for number in split(problem)[0]
    )
    keys = init_key(np.uint32(seed)), data_key(np.uint32(seed))
    return rule, numbers, keys, jax.jit(rule.init)(keys[0], numbers)


def test_every_record_and_every_rule_is_under_test():
    assert not without_a_row(training, "record", [record for record, _ in RECORDS_UNDER_TEST.values()])
    assert not without_a_row(training, "rule", RULES_UNDER_TEST.values())


def test_records_have_names_of_their_own():
    names = [record.thing.name for record, _ in RECORDS_UNDER_TEST.values()]
    assert len(set(names)) == len(names) and all(name.isidentifier() for name in names)


@pytest.mark.parametrize(("row", "problem"), RECORDS_UNDER_TEST.values(), ids=RECORDS_UNDER_TEST)
def test_every_record_keeps_the_contract(row, problem):
    rule, numbers, keys, first = begun(problem)
    look = jax.jit(lambda state, step: row.thing(Snapshot(rule, state, step, *keys, numbers)))
    second = jax.jit(rule.step)(first, keys[1], jnp.int32(0), numbers)
    promised = jax.eval_shape(look, first, jnp.int32(0))
    for step, state in enumerate((first, second)):
        value = look(state, jnp.int32(step))
        assert (value.shape, value.dtype) == (promised.shape, promised.dtype)
        assert np.all(np.isfinite(value))
        np.testing.assert_array_equal(look(state, jnp.int32(step)), value)
    assert isinstance(hash(split(row.thing)[1]), int)


@pytest.mark.parametrize("row", RULES_UNDER_TEST.values(), ids=RULES_UNDER_TEST)
def test_every_rule_keeps_the_contract(row):
    rule, numbers, (_, key), state = begun(row.thing)
    assert isinstance(hash(rule), int) and rule == row.export.of(made(row.thing)[1], **COMMON | PROBLEMS[row.thing][2])
    before = jax.tree.map(np.array, state)
    step = jax.jit(rule.step)
    compiled, again, plain = (each(state, key, jnp.int32(3), numbers) for each in (step, step, rule.step))
    for left, right in zip(*map(jax.tree.leaves, (compiled, again)), strict=True):
        np.testing.assert_array_equal(left, right)  # pure: the same arguments, the same state
    for left, right in zip(*map(jax.tree.leaves, (state, before)), strict=True):
        np.testing.assert_array_equal(left, right)
    assert jax.tree.structure(compiled) == jax.tree.structure(plain) == jax.tree.structure(state)
    for left, right in zip(*map(jax.tree.leaves, (compiled, plain)), strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)  # the same sums in another order
    statistics, _ = jax.jit(rule.measure, static_argnums=3)(compiled, rule.memory(numbers), numbers, rule.levels - 1)
    assert rule.ended(statistics).dtype == jnp.int8
