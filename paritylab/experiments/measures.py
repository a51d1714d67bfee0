"""What claims measure: values of a sample, each with its interval."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..statistics import (
    best_quantile_interval,
    bootstrap_interval,
    bootstrap_interval_of_several,
    mean_interval,
    median_interval,
    quantile,
    wilson_interval,
)
from .base import Measured

UNKNOWN = Measured(math.nan, (-math.inf, math.inf))
"""What the runs say nothing about."""


def exactly(value: Any) -> Measured:
    """A value that no chance entered.

    >>> exactly(2)
    Measured(value=2.0, interval=(2.0, 2.0))
    """
    return Measured(float(value), (float(value), float(value)))


def largest(values: ArrayLike) -> Measured:
    """The largest of values that no chance entered."""
    return exactly(np.max(np.asarray(values, float)))


def least(values: ArrayLike) -> Measured:
    """The least of values that no chance entered."""
    return exactly(np.min(np.asarray(values, float)))


def share(true: ArrayLike) -> Measured:
    """The share of a fixed list (the cells of a table, say) for which something is true.

    >>> share([True, False]).interval
    (0.5, 0.5)
    """
    return exactly(np.mean(np.asarray(true, bool)))


def proportion(successes: int, trials: int) -> Measured:
    """The probability of a success, with Wilson's interval."""
    return Measured(successes / trials, wilson_interval(successes, trials))


def fraction(true: ArrayLike) -> Measured:
    """The fraction of runs for which something is true, with Wilson's interval.

    >>> fraction([True, True, False, True]).value
    0.75
    """
    hits = np.asarray(true, bool)
    return proportion(int(hits.sum()), hits.size)


def median(values: ArrayLike) -> Measured:
    """The median over runs, with an interval from order statistics."""
    sample = np.asarray(values, float)
    return Measured(quantile(sample, 0.5), median_interval(sample))


def median_difference(values: ArrayLike) -> Measured:
    """The median over runs of numbers in [-1, 1], such as differences of errors: few runs say nothing of its sign.

    >>> median_difference([-0.5, 0.25, 0.5])
    Measured(value=0.25, interval=(-1.0, inf))
    """
    (value, (low, high)) = median(np.asarray(values, float) + 1)
    return Measured(value - 1, (low - 1, high - 1))


def mean(values: ArrayLike) -> Measured:
    """The mean over runs, with Student's interval."""
    sample = np.asarray(values, float)
    return Measured(float(sample.mean()), mean_interval(sample))


def best_quantile(times: np.ndarray, q: float) -> Measured:
    """The q-quantile over runs (rows) at the best of several rates (columns)."""
    return Measured(min(quantile(column, q) for column in times.T), best_quantile_interval(times, q))


def bootstrap(sample: np.ndarray, statistic: Callable[[np.ndarray], float], resamples: int = 2000) -> Measured:
    """A statistic of runs (rows), with a bootstrap interval."""
    return Measured(statistic(sample), bootstrap_interval(sample, statistic, resamples=resamples))


def bootstrap_of_several(
    samples: Sequence[np.ndarray], statistic: Callable[[Sequence[np.ndarray]], float], resamples: int = 2000
) -> Measured:
    """A statistic of independent samples, with a bootstrap of each."""
    return Measured(statistic(samples), bootstrap_interval_of_several(samples, statistic, resamples))
