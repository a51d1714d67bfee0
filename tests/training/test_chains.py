"""Training on steps: one network, given the true ones while it learns, validated on its own."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.cube import cube
from paritylab.distributions import RandomChain, WithChain, teacher_forcing
from paritylab.networks import CausalTransformer, OneMatrix
from paritylab.networks.base import outputs
from paritylab.targets import random_running_parity, running_parity, tree_parity
from paritylab.training import ChainLoss, OutputErrors, OutputLosses
from paritylab.training.rules.criteria import wrong

TREE = pl.Uniform(tree_parity(8, (1, 2, 5, 7)))
MATRIX = {"rate": 20.0, "batch": 512, "seeds": 2, "steps": 400, "validation": 256, "loss": ChainLoss(), "lanes": 2}


@pytest.fixture(scope="module")
def forced():
    records = [OutputLosses(points=256), OutputErrors(256)]
    return pl.train(teacher_forcing(TREE), OneMatrix(3), keep=True, records=records, **MATRIX)


def test_a_network_that_was_given_the_steps_says_them_itself(forced):
    assert (forced.outcome == pl.Outcome.LEARNED).all()
    for run in range(2):
        x, y, _ = WithChain(TREE, given=False).support()
        assert not wrong(y, outputs(forced.network(run), x)).any()
        assert np.all(np.asarray(x)[:, 8:] == 0)


def test_the_answer_alone_teaches_nothing(forced):
    direct = pl.train(
        WithChain(TREE, given=False), OneMatrix(3), **{**MATRIX, "loss": ChainLoss(0.0, 1.0), "steps": 200}
    )
    assert not (direct.outcome == pl.Outcome.LEARNED).any() and (forced.steps < 200).all()


def test_losses_of_outputs_are_those_of_each(forced):
    """At the start all scores are 0, and a step is the link of a mean: by enumeration."""
    x, y, _ = WithChain(TREE, given=False).support()
    exact = np.mean((np.asarray(outputs(OneMatrix(3)(10, key=pl.root_key(0)), x)) - np.asarray(y)) ** 2, axis=0)
    first = np.stack(forced.curves().query("step == 0").output_losses)
    # Squares are at most 4, over 256 points: five sigma is below 1.25.
    np.testing.assert_allclose(first, np.stack([exact, exact]), atol=1.25)
    last = forced.curves().groupby("run").tail(1)
    assert np.stack(last.output_losses).max() < np.stack(first).min()
    assert np.all(np.stack(last.output_errors) == 0)


def test_one_step_is_the_gradient_of_the_loss_with_given_steps():
    settings = {
        **MATRIX,
        "seeds": 1,
        "steps": 1,
        "every": 1,
        "validation": 0,
        "keep": True,
        "float64": True,
        "lanes": 1,
    }
    trained = pl.train(teacher_forcing(TREE), OneMatrix(3), **settings).network(0)
    from paritylab.training.engine.lanes import data_key

    with jax.enable_x64(True):
        x, y = (
            np.asarray(each, float)
            for each in WithChain(TREE).sample(jax.random.fold_in(data_key(np.uint32(0)), 0), 512)
        )

        def loss(scores):
            rows = [jax.nn.softmax(scores[m, : 8 + m]) @ x.T[: 8 + m] for m in range(3)]
            said = jnp.stack([jnp.where(jnp.abs(z) < 0.5, 4 * z**2 - 1, -4 * z**2 + 8 * jnp.abs(z) - 3) for z in rows])
            return jnp.sum((said.T - y) ** 2) / (2 * 512) / 3

        expected = -20.0 * jax.grad(loss)(jnp.zeros((3, 10)))
    np.testing.assert_allclose(trained.scores, expected, atol=1e-12)


def test_a_causal_transformer_learns_running_products():
    task = RandomChain(random_running_parity, (6, 2))
    runs = pl.train(
        task, CausalTransformer(16, 1, 2, outputs=3), loss="logistic", optimizer="adam", rate=0.01, batch=64, seeds=2,
        steps=600, every=50, validation=64, keep=True, lanes=2,
    )  # fmt: skip
    assert (runs.outcome == pl.Outcome.LEARNED).all()
    free = jnp.concatenate([cube(6), jnp.zeros((64, 2))], axis=1)
    said = np.sign(np.asarray(eqx.filter_jit(outputs)(runs.network(1), free)))
    target = task(pl.root_key(1)).train.base.target
    np.testing.assert_array_equal(said, jax.vmap(target)(cube(6)))


def test_labels_and_outputs_have_to_be_as_many():
    with pytest.raises(ValueError, match=r"labels of shape \(3,\), and the network gives \(2,\)"):
        pl.plan(teacher_forcing(TREE), OneMatrix(2), seeds=1)
    with pytest.raises(ValueError, match="`OutputLosses` are for networks of several outputs"):
        pl.train(pl.Uniform(pl.Parity(4, (0,))), pl.MLP(4), records=[OutputLosses()], seeds=1, steps=10)
    assert running_parity(8, (0, 3)).supports == ((), (0,), (0, 3))
