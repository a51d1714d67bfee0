"""What is asked once for things of one shape, and what is asked every time."""

import numpy as np
import pytest

import paritylab as pl
from paritylab.training.rules.once import once_for_a_shape


class Asked:
    def __init__(self):
        self.asked = []
        self.answer = once_for_a_shape(lambda thing, n: self.asked.append(n) or n)


@pytest.mark.parametrize(
    ("one", "other", "asked"),
    [
        (pl.MLP(10), pl.MLP(10), 1),
        (pl.MLP(10), pl.MLP(11), 2),
        (pl.Hinge(1.0), pl.Hinge(2.0), 2),
        (pl.RandomTask(pl.random_parity, (6, 2)), pl.RandomTask(pl.random_parity, (6, 2)), 1),
        (pl.RandomTask(pl.random_parity, (6, 1)), pl.RandomTask(pl.random_parity, (6, True)), 2),
        (pl.MLP(10, np.sign), pl.MLP(10, np.sign), 2),
    ],
)
def test_only_equal_things_of_the_lab_are_asked_once(one, other, asked):
    ask = Asked()
    assert ask.answer(one, 6) == ask.answer(other, 6) == 6 and len(ask.asked) == asked
    ask.answer(one, 7)
    assert len(ask.asked) == asked + 1


def test_a_shape_of_a_user_is_asked_every_time():
    """It may depend on something that has changed in between."""
    width = 4

    def recipe(n, *, key):
        return pl.MLP(width)(n, key=key)

    task, shape_of = pl.Uniform(pl.Parity(6, (0, 1))), lambda plan: plan.cells[0].rule.network
    first = shape_of(pl.plan(task, recipe, seeds=1, steps=10))
    width = (4, 4)
    assert shape_of(pl.plan(task, recipe, seeds=1, steps=10)) != first
