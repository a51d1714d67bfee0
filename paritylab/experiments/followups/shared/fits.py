"""Exponents of times and sizes, some of which were not reached."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from ...base import Measured
from ...measures import UNKNOWN, bootstrap


def slope(sizes: Sequence[int], values: Float[np.ndarray, " sizes"]) -> float:
    """The exponent of a power law through the values that are finite; NaN where fewer than three are."""
    known = np.isfinite(values)
    if known.sum() < 3:
        return math.nan
    return float(np.polyfit(np.log(np.asarray(sizes)[known]), np.log(values[known]), 1)[0])


def by_bootstrap(sample: np.ndarray, statistic: Callable[[np.ndarray], float]) -> Measured:
    """A statistic with its interval, which is open where it is unknown of resamples: too much was not reached."""
    if not math.isfinite(statistic(sample)):
        return UNKNOWN
    found = bootstrap(sample, lambda rows: value if math.isfinite(value := statistic(rows)) else math.inf)
    return found if not math.isnan(found.interval[0]) else UNKNOWN
