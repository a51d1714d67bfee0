"""Exponents of times and sizes, some of which were not reached."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from ....statistics import power_law
from ...base import Measured
from ...measures import UNKNOWN, bootstrap


def slope(sizes: Sequence[int], values: Float[np.ndarray, " sizes"]) -> float:
    """The exponent of a power law through all values; NaN where one is not known: without it a fit would bend."""
    return power_law(np.asarray(sizes, float), values).exponent if np.isfinite(values).all() else math.nan


def by_bootstrap(sample: np.ndarray, statistic: Callable[[np.ndarray], float]) -> Measured:
    """A statistic with its interval, which is open where it is unknown of resamples: too much was not reached."""
    if not math.isfinite(statistic(sample)):
        return UNKNOWN
    found = bootstrap(sample, lambda rows: value if math.isfinite(value := statistic(rows)) else math.inf)
    return found if not math.isnan(found.interval[0]) else UNKNOWN
