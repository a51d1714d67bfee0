"""Sizes of samples from which Algorithm 1 recovers circuits: what several experiments measure of them."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from ....statistics import power_law, size_for
from ...base import Measured
from ...measures import bootstrap

MULTIPLES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
"""Of the size that the sign test predicts."""
POWERS = {
    "generative": (-2 * math.log2(2 / 3), -4 * math.log2(2 / 3)),
    "biased parity": (-2 * math.log2(0.6), -2 * math.log2(0.4) + 0.25),
}
"""Of n in 1 / c^2, which any test of one correlation needs, and in Theorem 4's 1 / (epsilon Delta)^2; for parities with
what its logarithm adds from n = 4 to 64."""


class Case(NamedTuple):
    """Circuits of one family and depth, and how many of them."""

    family: str
    depth: int
    trials: int

    @property
    def name(self) -> str:
        return f"{self.family.replace(' ', '-')}/d{self.depth}"


def by_multiple(table: pd.DataFrame, case: Case, kind: str = "") -> np.ndarray:
    """Whether each circuit was recovered, by multiples of the predicted size."""
    here = table[(table.family == case.family + kind) & (table.depth == case.depth)]
    return here.pivot(index="circuit", columns="multiple", values="recovered").to_numpy(float)


def size_of_most(recovered: np.ndarray) -> float:
    """The multiple of the predicted size at which nine in ten circuits are recovered."""
    return size_for(recovered, MULTIPLES)


def generosity(table: pd.DataFrame, case: Case) -> float:
    """The least ratio of the theorem's size to the predicted one."""
    here = rows_of(table, case, 1.0)
    return float((here.bound / here.samples).min())


def rows_of(table: pd.DataFrame, case: Case, multiple: float) -> pd.DataFrame:
    return table[(table.family == case.family) & (table.depth == case.depth) & (table.multiple == multiple)]


def power(table: pd.DataFrame, cases: list[Case]) -> Measured:
    """Of n in the size for 90%, with a bootstrap over circuits, as many of each depth."""
    trials = min(case.trials for case in cases)
    n = np.array([2.0**case.depth for case in cases])
    predicted = np.array([rows_of(table, case, 1.0).samples.median() for case in cases])
    sample = np.concatenate([by_multiple(table, case)[:trials] for case in cases], axis=1)

    def exponent(rows: np.ndarray) -> float:
        each = rows.reshape(len(rows), len(cases), -1)
        sizes = [size_of_most(each[:, place]) for place in range(len(cases))]
        return power_law(n, predicted * sizes).exponent

    return bootstrap(sample, exponent, resamples=500)
