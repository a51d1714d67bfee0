"""How often does a sample of a given size recover all gates? What the experiments on sample sizes share.

A gate is recovered where the mean of y 1{p} has the sign of its correlation times its output at all four patterns.
Gradient descent on neural gates of enough width recovers a gate then and only then; a hard-tanh unit does then, and
sometimes with a wrong sign too (a test holds both against it). Sizes are multiples of what the sign test predicts for
the run's own random gates.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

import paritylab as pl

from ....circuits import gate_tables, nested_signals, predicted_samples
from ....distributions import AbstractDistribution
from ....statistics import size_for
from ...base import Claim, Measured, Null, within_factor
from ...measures import bootstrap
from .families import random_target, signs_of

MULTIPLES = (0.5, 0.7, 1.0, 1.4, 2.0)
Made = Callable[..., AbstractDistribution]
"""A distribution for a target, and for the value of a parameter if it has one."""
FACTOR = 1.5
"""How far a measured size may be from the prediction."""


def recovered(signals: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """For each size, whether every pattern of every gate shows its sign."""
    return np.all(signals * towards > 0, axis=(1, 2))


def trials_of(make: Made, n: int, trials: int, first: int = 0) -> list[dict[str, object]]:
    """Random gates, each with one sample that is cut off at multiples of its predicted size."""
    rows: list[dict[str, object]] = []
    for seed in range(first, first + trials):
        target = random_target(n, seed)
        distribution = make(target)
        exact = gate_tables(target, distribution)
        predicted = predicted_samples(exact)
        sizes = [math.ceil(predicted * multiple) for multiple in MULTIPLES]
        towards = np.sign(exact.correlation)[:, None] * signs_of(target)
        found = recovered(nested_signals(target, distribution, sizes, key=pl.root_key(2**20 + seed)), towards)
        rows += [
            {"trial": seed, "multiple": multiple, "predicted": predicted, "recovered": bool(each)}
            for multiple, each in zip(MULTIPLES, found, strict=True)
        ]
    return rows


def trials_over(name: str, values: Sequence[float], make: Made, n: int, trials: int) -> pd.DataFrame:
    """Trials at several values of a parameter of the distribution, by its name; all of one n share a program."""
    at = lambda value: trials_of(lambda target: make(target, value), n, trials)
    return pd.concat([pd.DataFrame(at(value)).assign(**{name: value}) for value in values])


def by_multiple(rows: pd.DataFrame) -> np.ndarray:
    """Trials by multiples."""
    return rows.pivot(index="trial", columns="multiple", values="recovered").to_numpy(float)


def multiple_of_most(recovered: np.ndarray) -> float:
    """The multiple of the predicted size at which nine in ten recover."""
    return size_for(recovered, MULTIPLES)


def ratio(rows: pd.DataFrame) -> Measured:
    """The size at which nine in ten recover over the predicted one, with a bootstrap over trials."""
    return bootstrap(by_multiple(rows), multiple_of_most, resamples=500)


def measured_size(rows: pd.DataFrame) -> float:
    """The measured size itself: the ratio times the median prediction."""
    return multiple_of_most(by_multiple(rows)) * float(rows.predicted.median())


def as_predicted(name: str, statement: str, of: Callable[[pd.DataFrame], pd.DataFrame]) -> Claim:
    """The claim that some rows of a table have the size that the sign test predicts."""
    return Claim(name, statement, None, within_factor(1.0, FACTOR), lambda table: ratio(of(table)), theory=1.0,
                 null=Null("a sample that is never enough", math.inf))  # fmt: skip
