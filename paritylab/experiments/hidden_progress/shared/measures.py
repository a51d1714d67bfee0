"""Measures of times and of fractions of times."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ....statistics import quantile
from ...base import Measured
from ...measures import bootstrap, median


def median_within(values: ArrayLike, largest: float = math.inf) -> Measured:
    """The median over runs of values from 0 to `largest`; of no runs, nothing more is known."""
    sample = np.asarray(values, float)
    if not sample.size:
        return Measured(math.nan, (0.0, largest))
    value, (low, high) = median(sample)
    return Measured(value, (low, min(high, largest)))


def slowdown(slow: np.ndarray, fast: np.ndarray) -> Measured:
    """The median of some times over that of others of the same seeds; the interval is a bootstrap over seeds."""
    quotient = lambda times: quantile(times[:, 0], 0.5) / quantile(times[:, 1], 0.5)
    return bootstrap(np.column_stack([slow, fast]), quotient)


def best_t10(times: np.ndarray) -> float:
    """The 10th percentile over seeds (rows) at the best rate (column)."""
    return min(quantile(column, 0.1) for column in times.T)
