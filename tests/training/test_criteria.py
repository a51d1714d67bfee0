"""What it means to have learned where labels are numbers, or several: never a silent success."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.cube import cube
from paritylab.networks.base import outputs
from paritylab.sweep.workloads import TrainingWorkload
from paritylab.training import ErrorAtMost, ErrorsOn, LossBelow, OutputErrors, correlation, logistic, square_loss
from paritylab.training.engine.lanes import data_key, init_key
from paritylab.training.rules.criteria import wrong
from paritylab.training.rules.validation import (
    Judged,
    first_witnesses,
    points_of_validation,
    validate,
    validation_levels,
)

N = 6


class Linear(pl.targets.AbstractRealTarget):
    """x_0 + x_1 / 2."""

    n: int = eqx.field(static=True, default=N)

    def __call__(self, x):
        return x[0] + 0.5 * x[1]


class Prefixes(pl.targets.AbstractRealTarget):
    """x_0, x_0 x_1, x_0 x_1 x_2: several labels for each point."""

    n: int = eqx.field(static=True, default=N)

    def __call__(self, x):
        return jnp.stack([x[0], x[0] * x[1], x[0] * x[1] * x[2]])


LINEAR, SEVERAL = pl.Uniform(Linear()), pl.Uniform(Prefixes())
ADAM = {
    "seeds": 3,
    "batch": 32,
    "steps": 1500,
    "validation": 512,
    "rate": 0.01,
    "loss": square_loss,
    "optimizer": "adam",
}
QUICK = {"seeds": 3, "batch": 16, "steps": 1500, "validation": 64, "rate": 0.05, "loss": square_loss}


def test_a_real_target_is_learned_when_its_loss_is_low_and_the_table_says_how_low():
    runs = pl.train(LINEAR, pl.MLP(32), learned=LossBelow(0.02), keep=True, **QUICK)
    assert runs.table().outcome.tolist() == ["learned"] * 3 and (runs.loss < 0.02).all()
    assert runs.table().validation_loss.tolist() == runs.loss.tolist()
    for run in range(3):
        x, y = points_of_validation(LINEAR.sample, 64)
        loss = np.mean((np.asarray(outputs(runs.network(run), x)) - np.asarray(y)) ** 2)
        np.testing.assert_allclose(runs.loss[run], loss, rtol=1e-4)
    again = pl.train(LINEAR, pl.MLP(32), learned=LossBelow(1e-9), **{**QUICK, "steps": 20})
    assert again.table().outcome.tolist() == ["out_of_steps"] * 3 and (again.loss > 1e-9).all()


def test_the_time_is_the_first_at_which_the_loss_is_low():
    """Against the loss recorded at every validation, on the same points."""
    runs = pl.train(LINEAR, pl.MLP(32), learned=LossBelow(0.05), **QUICK)
    longer = pl.train(LINEAR, pl.MLP(32), learned=LossBelow(0.0), records=[pl.training.FreshLoss(4096)], **QUICK)
    for run in range(3):
        curve = longer.curves().query("run == @run")
        low = curve.step[curve.fresh_loss < 0.05].min()
        assert 0.5 * low <= runs.steps[run] <= 2 * low  # other points: the mean of 64 squares is within a factor of two


@pytest.mark.parametrize("criterion", [LossBelow(0.05), ErrorAtMost(0.3), ErrorAtMost(0.0), LossBelow(2.0)])
@pytest.mark.parametrize("validation", [40, 600])
def test_a_part_of_the_points_never_says_no_where_all_say_yes(criterion, validation):
    """Over networks from bad to perfect: what passes in the end passes on every level before."""
    judged = Judged(criterion, square_loss)
    passed = []
    for size in (0.0, 0.5, 0.8, 0.9, 1.0):
        network = lambda x, size=size: size * x[0] + 0.5 * size**4 * x[1]
        levels = range(len(validation_levels(validation)))
        witnesses = _hard(network, validation)
        met = [bool(validate(network, LINEAR.sample, witnesses, validation, each, judged)[0].met) for each in levels]
        assert not met[-1] or all(met), (size, met)
        passed.append(met[-1])
    assert passed[-1]


def _hard(network, validation):
    """Witnesses as the last level leaves them: the worst that there are."""
    return validate(
        network, LINEAR.sample, first_witnesses(LINEAR.sample), validation, len(validation_levels(validation)) - 1
    )[1]


def test_a_loss_that_may_be_negative_is_decided_by_all_points():
    assert LossBelow(0.1).settled_early(square_loss) and LossBelow(0.1).settled_early(logistic)
    assert not LossBelow(0.1).settled_early(correlation) and not LossBelow(0.1).settled_early(lambda y, output: y)
    judged = Judged(LossBelow(-0.5), correlation)
    seen, _ = validate(lambda x: x[0], LINEAR.sample, _hard(lambda x: x[0], 600), 600, 0, judged)
    assert bool(seen.met)  # not known yet


def test_an_error_of_a_share_is_allowed():
    task = pl.FlippedLabels(pl.Uniform(pl.Parity(N, (0,))), 0.1)
    runs = pl.train(task, pl.MLP(8), learned=ErrorAtMost(0.25), **{**QUICK, "every": 1})
    exact = pl.train(task, pl.MLP(8), **{**QUICK, "every": 1})
    assert (runs.outcome == pl.Outcome.LEARNED).all() and (runs.error <= 0.25).all()
    assert (runs.steps <= exact.steps).all() and (runs.steps < exact.steps).any()
    assert "validation_loss" not in runs.table()


def test_several_outputs_are_right_together():
    runs = pl.train(SEVERAL, pl.MLP(64, outputs=3), learned=ErrorAtMost(), keep=True, **ADAM)
    assert (runs.outcome == pl.Outcome.LEARNED).all()
    x = cube(N)
    values, y = outputs(runs.network(0), x), jax.vmap(Prefixes())(x)
    assert values.shape == (64, 3) and not bool(wrong(y, values).any())
    np.testing.assert_array_equal(wrong(y, values.at[5, 1].multiply(-1)), np.arange(64) == 5)


def test_several_outputs_train_by_the_mean_of_their_losses():
    """One step against the gradient written by hand."""
    settings = {**QUICK, "seeds": 1, "steps": 1, "every": 1, "validation": 0, "keep": True, "float64": True}
    trained = pl.train(SEVERAL, pl.MLP(5, outputs=3), learned=ErrorAtMost(), **settings).network(0)
    with jax.enable_x64():
        network = jax.tree.map(
            lambda leaf: leaf.astype(jnp.float64) if eqx.is_array(leaf) else leaf,
            pl.MLP(5, outputs=3)(N, key=init_key(np.uint32(0))),
        )
        x, y = SEVERAL.sample(jax.random.fold_in(data_key(np.uint32(0)), 0), 16)
        x, y = x.astype(jnp.float64), y.astype(jnp.float64)

        def loss(network):
            hidden = jnp.maximum(x @ network.hidden[0].weight.T + network.hidden[0].bias[None], 0)
            return jnp.mean((y - hidden @ network.output.weight.T - network.output.bias[None]) ** 2)

        grads = jax.grad(lambda parts: loss(eqx.combine(parts, network)))(eqx.filter(network, eqx.is_inexact_array))
        expected = network.hidden[0].weight - 0.05 * grads.hidden[0].weight
    np.testing.assert_allclose(trained.hidden[0].weight, expected, atol=1e-12)


def test_each_output_has_its_own_time():
    runs = pl.train(SEVERAL, pl.MLP(64, outputs=3), learned=ErrorAtMost(), records=[OutputErrors()], **ADAM)
    times = runs.first_below("output_errors", 0.0)
    assert times.part.tolist() == [0, 1, 2] * 3 and not times.step.isna().any()
    first, last = (times.step[times.part == part].to_numpy(int) for part in (0, 2))
    assert (first < last).all()
    assert runs.first_below("output_errors", -1.0).step.isna().all()
    with pytest.raises(ValueError, match="no record 'error'; recorded were output_errors"):
        runs.first_below("error", 0.0)


def test_each_task_has_its_own_time_and_records_with_arrays_compile_once():
    tasks = [pl.Uniform(pl.Parity(N, (0,))), pl.Product(pl.Parity(N, (0, 1, 2)), 0.1)]
    record, other = ErrorsOn(tasks, 256), ErrorsOn(tasks[::-1], 256)
    assert record == ErrorsOn(tasks, 256) and hash(record) == hash(ErrorsOn(tasks, 256)) and record != other
    runs = pl.train(tasks[0], pl.MLP(16), records=[record], **{**QUICK, "steps": 200})
    times = runs.first_below("errors_on", 0.02)
    assert not times.step[times.part == 0].isna().any() and times.step[times.part == 1].isna().all()


def test_a_name_holds_the_criterion_and_stays_without_one():
    name = lambda **options: (
        TrainingWorkload(pl.plan(pl.Uniform(pl.Parity(N, (0,))), pl.MLP(4), seeds=1, **options)).names
    )
    assert (
        len({*name(), *name(learned=LossBelow(0.1)), *name(learned=LossBelow(0.2)), *name(learned=ErrorAtMost())}) == 4
    )
    assert name() == [PINNED]


PINNED = "ebf68d1f3299e6c9a0a17f04c398e7c2"
"""The name that this run had before there were criteria and outputs."""


def test_thresholds_share_one_program():
    plans = [pl.plan(LINEAR, pl.MLP(4), learned=LossBelow(each), loss=square_loss, seeds=1) for each in (0.1, 0.2)]
    assert plans[0].cells[0].shape == plans[1].cells[0].shape


class Far(pl.AbstractTarget):
    """x_0 x_12 of six coordinates, which JAX would take for x_0 x_5."""

    n: int = eqx.field(static=True, default=N)

    def __call__(self, x):
        return x[0] * x[12]


def test_labels_of_zero_are_no_mistakes():
    """x_0 + x_1 is 0 on half of the cube."""
    task = pl.Uniform(pl.targets.Polynomial(N, [(0,), (1,)], [1.0, 1.0]))
    runs = pl.train(task, pl.MLP(32), learned=LossBelow(0.02), **QUICK)
    assert (runs.outcome == pl.Outcome.LEARNED).all() and (runs.error == 0).all()


WRONG = {
    "labels that are numbers": (LINEAR, {}, "say when it is learned, by learned=LossBelow"),
    "several numbers": (SEVERAL, {"network": pl.MLP(4)}, r"labels of shape \(3,\), and the network gives one number"),
    "other numbers of outputs": (
        SEVERAL,
        {"network": pl.MLP(4, outputs=2), "learned": LossBelow(0.1)},
        r"labels of shape \(3,\), and the network gives \(2,\)",
    ),
    "outputs without labels": (
        pl.Uniform(pl.Parity(N, (0,))),
        {"network": pl.MLP(4, outputs=2)},
        "let it return a scalar",
    ),
    "a vector loss": (
        pl.Uniform(pl.Parity(N, (0,))),
        {"loss": lambda y, output: optax.softmax_cross_entropy(output, y)},
        "A loss is a function of a label and an output",
    ),
    "a loss of arrays": (
        SEVERAL,
        {"network": pl.MLP(4, outputs=3), "loss": lambda y, output: output[:2], "learned": ErrorAtMost()},
        r"gives an array of shape \(2,\)",
    ),
    "a loss of signs": (
        LINEAR,
        {"learned": LossBelow(0.1)},
        r"looks at the sign of a label alone, .* Use loss=\"square\"",
    ),
    "a coordinate that is not there": (
        pl.Uniform(Far()),
        {},
        "looks at a coordinate that is not there .*coordinates 0 to 5",
    ),
    "labels of 0": (
        pl.Uniform(type("Even", (Linear,), {"__call__": lambda self, x: x[0] + x[1]})()),
        {"learned": ErrorAtMost()},
        "labels of 0, which have none",
    ),
}


@pytest.mark.parametrize(("task", "options", "sentence"), WRONG.values(), ids=WRONG)
def test_what_does_not_go_together_is_said(task, options, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        pl.plan(task, **{"network": pl.MLP(4), "seeds": 1, **options})


def test_outputs_that_cannot_be_are_said():
    with pytest.raises(ValueError, match="Paired units are for one output"):
        pl.MLP(4, paired=True, outputs=2)
    with pytest.raises(ValueError, match="`outputs` is a whole number of at least 1"):
        pl.MLP(4, outputs=0)
    with pytest.raises(ValueError, match=r"`share` is a number"):
        ErrorAtMost(2)
