"""Growth of measured sizes, with intervals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import linregress, t

from ....statistics import power_law
from ...base import Measured

OFF = 1.2
"""By about this factor a measured sample size may be off."""


def power(x: Sequence[int | float] | ArrayLike, sizes: ArrayLike) -> Measured:
    """The exponent of x through sample sizes, of which those at the ends may be off by a factor each."""
    places = np.asarray(x, float)
    exponent = power_law(places, np.asarray(sizes, float)).exponent
    off = float(np.log(OFF) / abs(np.log(places[-1] / places[0])))
    return Measured(exponent, (exponent - off, exponent + off))


def exponential(n: ArrayLike, values: ArrayLike) -> Measured:
    """The exponent e of 2^(e n) through values, with Student's interval of a regression."""
    places = np.asarray(n, float)
    fit = linregress(places, np.log2(np.asarray(values, float)))
    slope, half = float(fit.slope), float(t.ppf(0.975, len(places) - 2)) * float(fit.stderr)
    return Measured(slope, (slope - half, slope + half))
