"""What words stand for: the inputs of a task on the command line and in sweep files."""

import jax
import numpy as np
import pytest

import paritylab as pl
from paritylab.distributions import Encoded
from paritylab.names import plan_from_names
from paritylab.registry import TRAIN_DEFAULTS
from paritylab.sweep import canonical

FEW = {**TRAIN_DEFAULTS, "n": 6, "k": 2, "width": 4, "seeds": 1, "steps": 10, "validation": 16}
TARGET = pl.Parity(6, (1, 4))


def task_of(**words):
    return plan_from_names({**FEW, **words})[0].cells[0].task


@pytest.mark.parametrize(
    ("words", "task"),
    [
        ({}, pl.Uniform(TARGET)),
        ({"mean": 0.5}, pl.Product(TARGET, 0.5)),
        ({"mean": 0.5, "share": 0.25}, pl.Mixture([pl.Uniform(TARGET), pl.Product(TARGET, 0.5)], [0.75, 0.25])),
        ({"mean": -0.5, "share": 0.0}, pl.Uniform(TARGET)),
        ({"encoding": "bits"}, Encoded(pl.Uniform(TARGET), "bits")),
        (
            {"mean": 0.5, "noise": 0.1, "encoding": "unit"},
            Encoded(pl.FlippedLabels(pl.Product(TARGET, 0.5), 0.1), "unit"),
        ),
        ({"inputs": "product(-0.5)"}, pl.Product(TARGET, -0.5)),
        ({"inputs": "1 uniform"}, pl.Uniform(TARGET)),
        (
            {"inputs": "0.5 uniform + 0.2*product(0.5)+3e-1 product( -1 )", "noise": 0.1},
            pl.FlippedLabels(
                pl.Mixture([pl.Uniform(TARGET), pl.Product(TARGET, 0.5), pl.Product(TARGET, -1.0)], [0.5, 0.2, 0.3]),
                0.1,
            ),
        ),
    ],
    ids=str,
)
def test_words_stand_for_the_distribution_that_one_would_write_in_python(words, task):
    assert canonical(task_of(support=[1, 4], k=None, **words)) == canonical(task)


def test_a_random_target_is_learned_on_the_same_inputs():
    task = task_of(mean=0.5, share=0.25, encoding="bits")
    key = pl.root_key(3)
    target = pl.random_parity(6, 2, key=key)
    expected = Encoded(pl.Mixture([pl.Uniform(target), pl.Product(target, 0.5)], [0.75, 0.25]), "bits")
    drawn = task(key)
    assert jax.tree.structure(drawn) == jax.tree.structure(expected)
    for left, right in zip(*map(jax.tree.leaves, (drawn, expected)), strict=True):
        np.testing.assert_array_equal(left, right)
    assert isinstance(canonical(task), dict) and hash(task) == hash(task_of(mean=0.5, share=0.25, encoding="bits"))


def test_equal_bits_are_the_leaky_half():
    """The mixture of learning-parities, in words and as the package has it."""
    target = pl.Parity(6, (1, 2, 4))
    task = task_of(support=[1, 2, 4], k=None, inputs="0.5 uniform + 0.5 equal-bits", encoding="unit")
    assert canonical(task) == canonical(pl.distributions.leaky(target))


def test_a_share_is_a_mixture_in_other_words():
    words = task_of(inputs="0.75 uniform + 0.25 product(0.5)"), task_of(mean=0.5, share=0.25)
    assert canonical(words[0](pl.root_key(2))) == canonical(words[1](pl.root_key(2)))


def test_runs_on_plain_inputs_keep_their_names():
    """A store that was filled before these words existed still holds what they do not change."""
    assert canonical(task_of(noise=0.1)) == canonical(pl.RandomTask(pl.random_parity, (6, 2), 0.1))


def test_runs_on_inputs_without_a_mixture_keep_their_names():
    """`Inputs` had four fields when stores were filled with runs on them."""
    told = canonical(task_of(mean=0.5, share=0.25))["inputs"]
    assert {*told} == {"type", "mean", "share", "encoding", "noise"}
