"""Students learn from teachers, trained or on their way; units are ranked, kept and left out."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab.cube import cube
from paritylab.distributions import Curriculum, Phase
from paritylab.networks.base import outputs
from paritylab.training import ErrorAtMost, Parameters, PrunedErrors, SignDescent, Taught, UnitNorms, soft_logistic
from paritylab.training.rules.pruning_records import pruned

N = 6
TASK = pl.Uniform(pl.Parity(N, (0, 1)))
QUICK = {"rate": 0.1, "batch": 16, "seeds": 2, "steps": 400, "validation": 64}


@pytest.fixture(scope="module")
def taught():
    """A teacher's runs, with checkpoints."""
    return pl.train(
        TASK, pl.MLP(32), records=pl.training.Recording([Parameters()], every=100), keep=True, every=100, **QUICK
    )


def test_a_checkpoint_is_the_network_of_that_step(taught):
    for run in range(2):
        last = taught.checkpoint(run, int(taught.steps[run]))
        for ours, kept in zip(jax.tree.leaves(last), jax.tree.leaves(taught.network(run)), strict=True):
            if eqx.is_array(kept) or isinstance(kept, np.ndarray):
                np.testing.assert_allclose(ours, kept, atol=1e-6)
    short = pl.train(TASK, pl.MLP(32), keep=True, every=100, **{**QUICK, "steps": 100})
    np.testing.assert_allclose(taught.checkpoint(1, 100).hidden[0].weight, short.network(1).hidden[0].weight, atol=1e-5)
    with pytest.raises(ValueError, match="no checkpoint of run 0 at step 50; there are some at 0 to"):
        taught.checkpoint(0, 50)
    with pytest.raises(ValueError, match=r"record `Parameters\(\)`"):
        short.checkpoint(0, 100)


def test_labels_are_the_teachers_outputs_and_validation_is_on_the_truth(taught):
    teacher = taught.network(0)
    lesson = Taught(TASK, teacher)
    _, y, probability = lesson.support()
    np.testing.assert_allclose(y, outputs(teacher, cube(N)), rtol=1e-6)
    assert lesson.clean() is TASK and lesson.n == N and float(jnp.sum(probability)) == 1
    np.testing.assert_array_equal(lesson.sample(pl.root_key(3), 5)[0], TASK.sample(pl.root_key(3), 5)[0])


def test_a_student_learns_what_its_teacher_knows(taught):
    assert (taught.outcome == pl.Outcome.LEARNED).any()
    teacher = taught.network(int(np.argmax(taught.outcome == pl.Outcome.LEARNED)))
    student = pl.train(Taught(TASK, teacher), pl.MLP(64), loss=soft_logistic, **{**QUICK, "steps": 3000, "rate": 0.5})
    assert (student.outcome == pl.Outcome.LEARNED).all()
    ignorant = jax.tree.map(
        lambda leaf: 0 * leaf if eqx.is_array(leaf) or isinstance(leaf, np.ndarray) else leaf, teacher
    )
    nothing = pl.train(Taught(TASK, ignorant), pl.MLP(64), loss=soft_logistic, **{**QUICK, "rate": 0.5})
    assert not (nothing.outcome == pl.Outcome.LEARNED).any()


def test_teachers_in_phases_share_one_program(taught):
    lessons = [Taught(TASK, taught.checkpoint(0, step)) for step in (0, 100)]
    task = lambda first, last: Curriculum([Phase(lessons[first], steps=100), Phase(lessons[last])])
    plans = [pl.plan(each, pl.MLP(8), loss=soft_logistic, **QUICK) for each in (task(0, 1), task(1, 0))]
    assert plans[0].cells[0].shape == plans[1].cells[0].shape
    assert len(plans[0].run()) == 2


def test_float64_reaches_the_teacher(taught):
    runs = pl.train(Taught(TASK, taught.network(0)), pl.MLP(8), float64=True, loss=soft_logistic, keep=True, **QUICK)
    assert runs.network(0).output.weight.dtype == np.float64


def test_what_is_no_teacher_is_said(taught):
    for wrong in (jnp.sum, jax.nn.relu):
        with pytest.raises(TypeError, match="A teacher is a network that was trained"):
            Taught(TASK, wrong)
    with pytest.raises(ValueError, match="does not take the points of this task, which have n=9"):
        Taught(pl.Uniform(pl.Parity(9, (0,))), taught.network(0))
    with pytest.raises(ValueError, match=r"gives an array of shape \(2,\)"):
        Taught(TASK, pl.MLP(4, outputs=2)(N, key=pl.root_key(0)))


def test_sign_descent_is_optax_with_a_dead_zone():
    gradient = jnp.array([0.3, -0.2, 0.05, 0.0, -0.1])
    ours, theirs = SignDescent()(0.5), optax.sign_sgd(0.5)
    np.testing.assert_array_equal(
        ours.update(gradient, ours.init(gradient))[0], theirs.update(gradient, theirs.init(gradient))[0]
    )
    steps = [
        pl.train(TASK, pl.MLP(4), optimizer=each, keep=True, **{**QUICK, "steps": 20, "rate": 0.01, "validation": 0})
        for each in (SignDescent(), optax.sign_sgd, SignDescent(1e9))
    ]
    weights = [each.network(0).hidden[0].weight for each in steps]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-6)
    assert np.abs(weights[0] - weights[2]).max() > 0.01
    with pytest.raises(ValueError, match="`dead_zone` is a number of at least 0"):
        SignDescent(-1.0)


def test_all_units_together_are_the_network_and_few_are_not():
    """Two units that make a parity of two, among others that do nothing."""
    runs = pl.train(
        TASK,
        pl.MLP(16),
        decay=0.01,
        records=[PrunedErrors((1, 8, 16), 512), UnitNorms()],
        every=200,
        learned=ErrorAtMost(0.0),
        **{**QUICK, "steps": 2000},
    )
    curves = runs.curves()
    rows = np.stack(curves.pruned_errors)
    assert np.all(rows[:, 2, 1] == 0) and np.all(rows[:, 0, 1] >= 0)
    assert rows[-1, 2, 0] == 0 and rows[-1, 0, 0] > 0.2
    norms = np.stack(curves.unit_norms)
    assert norms.shape[1] == 16 and np.all(np.diff(norms, axis=1) <= 0)


def test_pruning_is_leaving_out_the_units_of_least_norm():
    network = pl.MLP(4)(N, key=pl.root_key(1))
    longer = network.hidden[0].weight * jnp.array([1.0, 9.0, 9.0, 1.0])[:, None]
    network = eqx.tree_at(lambda each: each.hidden[0].weight, network, longer)
    np.testing.assert_array_equal(
        pruned(network, 2).output.weight, network.output.weight * jnp.array([0.0, 1.0, 1.0, 0.0])
    )
    np.testing.assert_array_equal(outputs(pruned(network, 4), cube(N)), outputs(network, cube(N)))
    hidden = jax.nn.relu(cube(N) @ longer.T + network.hidden[0].bias[None])[:, 1:3]
    np.testing.assert_allclose(
        outputs(pruned(network, 2), cube(N)), hidden @ network.output.weight[1:3] + network.output.bias, atol=1e-5
    )


def test_units_that_are_not_there_are_said():
    with pytest.raises(ValueError, match="The network has 4 units, got keep=5"):
        pl.train(TASK, pl.MLP(4), records=[PrunedErrors((5,))], **QUICK)
    with pytest.raises(ValueError, match="two-layer MLP of one output"):
        pl.train(TASK, pl.MLP((4, 4)), records=[UnitNorms()], **QUICK)
