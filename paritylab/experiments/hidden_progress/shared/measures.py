"""Measures of times and of fractions of times."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ....statistics import quantile
from ...base import Measured
from ...measures import UNKNOWN, bootstrap, bootstrap_of_several, median


def median_within(values: ArrayLike, largest: float = math.inf) -> Measured:
    """The median over runs of values from 0 to `largest`; of no runs, nothing more is known."""
    sample = np.asarray(values, float)
    if not sample.size:
        return Measured(math.nan, (0.0, largest))
    value, (low, high) = median(sample)
    return Measured(value, (low, min(high, largest)))


def slowdown(slow: np.ndarray, fast: np.ndarray) -> Measured:
    """The median of some times over that of others of the same seeds; the interval is a bootstrap over seeds.

    Where most of the others never came nothing is known; of a resample in which both medians are infinite the first is.
    """
    if quantile(np.asarray(fast, float), 0.5) == math.inf:
        return UNKNOWN

    def quotient(times: np.ndarray) -> float:
        above, below = (quantile(column, 0.5) for column in times.T)
        return math.inf if above == math.inf else above / below

    return bootstrap(np.column_stack([slow, fast]), quotient)


def slope_of_medians(x: ArrayLike, samples: Sequence[np.ndarray], resamples: int = 1000) -> Measured:
    """Of the medians of independent samples against x, by least squares; the interval is a bootstrap of each sample.

    A median of values that are mostly infinite is not known, and the slope counts as infinite.

    >>> slope_of_medians([0, 1], [np.zeros(9), np.full(9, 2.0)]).value
    2.0
    """
    if not all(map(len, samples)):
        return UNKNOWN
    places = np.asarray(x, float) - np.mean(np.asarray(x, float))

    def slope(drawn: Sequence[np.ndarray]) -> float:
        medians = np.array([np.median(each) for each in drawn])
        return float(places @ medians / (places @ places)) if np.isfinite(medians).all() else math.inf

    return bootstrap_of_several(samples, slope, resamples)


def less(first: Measured, second: Measured) -> Measured:
    """The difference of two values of independent samples, whose errors add in squares."""
    (low, high), (other_low, other_high) = first.interval, second.interval
    value = first.value - second.value
    below, above = (
        np.hypot(first.value - low, other_high - second.value),
        np.hypot(high - first.value, second.value - other_low),
    )
    return Measured(value, (float(value - below), float(value + above)))


def best_t10(times: np.ndarray) -> float:
    """The 10th percentile over seeds (rows) at the best rate (column)."""
    return min(quantile(column, 0.1) for column in times.T)
