"""Labels other than -1 and +1 are refused when a plan is made, wherever they come from."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import paritylab as pl
from paritylab.training import Optimizer
from paritylab.training.checks import check_labels
from paritylab.training.rules.gradient_descent import Problem

SMALL = {"seeds": 2, "steps": 20, "validation": 64, "batch": 8}
N = 8


class Labelled(pl.AbstractTarget):
    """A target of one's own: any function of a point."""

    n: int = eqx.field(static=True)
    label: str = eqx.field(static=True)

    def __call__(self, x):
        return {
            "zero and one": lambda: jnp.where(x[0] > 0, 1.0, 0.0),
            "a sign that can be 0": lambda: jnp.sign(jnp.sum(x)),
            "a real polynomial": lambda: x[0] + 0.5 * x[1] * x[2],
            "rarely wrong": lambda: jnp.where(jnp.all(x[:7] > 0), 2.0, x[0]),
            "right": lambda: x[0] * x[1],
        }[self.label]()


class Draws(pl.AbstractDistribution):
    """A distribution of one's own with wrong labels."""

    @property
    def n(self):
        return N

    def sample(self, key, batch):
        x = jr.rademacher(key, (batch, N), jnp.float32)
        return x, 3 * x[:, 0]

    def support(self):
        raise NotImplementedError


WRONG = {
    "zero and one": (pl.Uniform(Labelled(N, "zero and one")), "0.0"),
    "a sign that can be 0": (pl.Uniform(Labelled(N, "a sign that can be 0")), "0.0"),
    "a real polynomial": (pl.Uniform(Labelled(N, "a real polynomial")), r"-?[01]\.5"),
    "one point in 128": (pl.Uniform(Labelled(N, "rarely wrong")), "2.0"),
    "under other distributions": (
        pl.distributions.Encoded(pl.Product(Labelled(N, "zero and one"), 0.3), "unit"),
        "0.0",
    ),
    "under noise": (pl.FlippedLabels(pl.Uniform(Labelled(N, "zero and one")), 0.1), "-?0.0"),
    "only where it is examined": (
        pl.distributions.HeldOut(pl.Uniform(pl.Parity(N, (0,))), pl.Uniform(Labelled(N, "zero and one"))),
        "0.0",
    ),
    "of a distribution": (Draws(), "-?3.0"),
    "of a random task": (lambda key: pl.Uniform(Labelled(N, "zero and one")), "0.0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_labels_are_named(what):
    task, value = WRONG[what]
    with pytest.raises(ValueError, match=f"labels of a task are -1 or \\+1, and .* gives {value}[.] Write 0 and 1 as"):
        pl.plan(task, pl.MLP(4), **SMALL)


def test_truth_values_are_no_labels(said_to_users):
    target = "type('T', (pl.AbstractTarget,), {'n': 5, '__call__': lambda self, x: x[0] > 0})()"
    (said,) = said_to_users(f"pl.plan(pl.Uniform({target}), pl.MLP(4))").values()
    assert said.startswith("ValueError: The labels of a task are -1 or +1, and Uniform(target=T()) gives ")
    assert "True" in said or "False" in said


@pytest.mark.parametrize("y", [[0.0, 1.0], [1.0, 0.5]])
@pytest.mark.parametrize("kind", [np.array, jnp.array])
def test_points_say_which_label_is_wrong(kind, y):
    with pytest.raises(ValueError, match=f"labels that are -1 or \\+1, got {min(y)}"):
        pl.Points(np.ones((2, 3)), kind(y))


def test_right_labels_pass_and_nothing_is_drawn_for_the_labs_own():
    pl.plan(pl.Uniform(Labelled(N, "right")), pl.MLP(4), **SMALL)
    pl.plan(lambda key: pl.Uniform(Labelled(N, "right")), pl.MLP(4), **SMALL)
    with jax.checking_leaks():  # draws would be traced here
        task = pl.FlippedLabels(pl.Uniform(pl.Parity(10**6, (0, 1))), 0.1)
        problem = Problem(task, pl.MLP(4), pl.Hinge(), Optimizer())
        check_labels(task, problem, np.arange(3), None)
