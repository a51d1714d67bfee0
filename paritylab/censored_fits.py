"""Lines and power laws through values of which only bounds are known.

The largest size that was learned on a grid lies between two of its sizes; a time that is longer than the run has a
lower bound alone; a frontier below the smallest size that was tried has an upper one. Left out, such values bend a fit
one way, and coded as a number they bend it the other.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize
from scipy.special import log_ndtr
from scipy.stats import t as student

from .statistics import Interval

Values = Float[np.ndarray, " points"]
LEAST_SCATTER, MOST_SCATTER = 1e-4, 1e4
"""Times the spread of the bounds: a line that meets all bounds has a likelihood that grows as the scatter vanishes."""
FLAT = 1e-3
"""Slopes whose log-likelihood is this close to the largest count as equally likely."""
FARTHEST = 1e4
"""Times the spread over that of x: slopes beyond are as good as infinite."""


class CensoredLine(NamedTuple):
    """y = level + slope * x, give or take `scatter`, with an interval of the slope.

    Where all slopes in between meet the bounds equally well, `slope` is in their middle.
    """

    level: float
    slope: float
    scatter: float
    interval: Interval


class CensoredPowerLaw(NamedTuple):
    """y = constant * x**exponent, with an interval of the exponent."""

    constant: float
    exponent: float
    interval: Interval


class Bounds(NamedTuple):
    """Values that lie between bounds, exactly known where these agree."""

    x: Values
    low: Values
    high: Values

    @property
    def exact(self) -> np.ndarray:
        return self.low == self.high


def censored_line(x: ArrayLike, low: ArrayLike, high: ArrayLike, confidence: float = 0.95) -> CensoredLine:
    """The line through values between `low` and `high`, by maximum likelihood with normal deviations (Tobin 1958).

    A bound may be infinite (censored on that side); a value that is known exactly has equal bounds. The interval holds
    the slopes whose profile likelihood is large enough, at the level for which it is Student's interval of a regression
    where nothing is censored.

    >>> line = censored_line([0.0, 1.0, 2.0, 3.0], [-np.inf, 2.0, 4.1, 5.9], [0.5, 2.0, 4.1, 5.9])  # the first: < 0.5
    >>> round(line.slope, 2), line.interval[0] < 2 < line.interval[1]
    (1.95, True)
    """
    given = _checked(x, low, high)
    centre, scale = _units(given)
    spread = float(np.ptp(given.x))
    unit = Bounds((given.x - given.x.mean()) / spread, (given.low - centre) / scale, (given.high - centre) / scale)
    start, most = _best(unit)
    profile = lambda slope: _profile(unit, slope)[0]
    flat = _level_set(profile, start, most - FLAT)
    slope = start if unit.exact.all() or math.inf in map(abs, flat) else sum(flat) / 2
    _, level, scatter = _profile(unit, slope)
    ends = _level_set(profile, slope, most - _reach(len(given.x), confidence))
    back = scale / spread
    at_zero = centre + scale * level - back * slope * float(given.x.mean())
    return CensoredLine(at_zero, back * slope, scale * scatter, (back * ends[0], back * ends[1]))


def censored_power_law(x: ArrayLike, low: ArrayLike, high: ArrayLike, confidence: float = 0.95) -> CensoredPowerLaw:
    """The power law through positive values between bounds: `censored_line` of the logarithms. A low bound may be 0.

    >>> law = censored_power_law([1.0, 2.0, 4.0, 8.0], [3.0, 12.0, 48.1, 100.0], [3.0, 12.0, 48.1, np.inf])
    >>> round(law.exponent, 2), round(law.constant, 2)
    (2.0, 3.0)
    """
    places, bottoms, tops = (np.asarray(each, float) for each in (x, low, high))
    if not (np.all(places > 0) and np.all(bottoms >= 0) and np.all(tops > 0)):
        raise ValueError(f"A power law needs positive x and bounds, got x={places}, low={bottoms} and high={tops}.")
    with np.errstate(divide="ignore"):  # a low bound of 0 is none
        line = censored_line(np.log(places), np.log(bottoms), np.log(tops), confidence)
    return CensoredPowerLaw(math.exp(line.level), line.slope, line.interval)


def _checked(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Bounds:
    given = Bounds(*(np.asarray(each, float) for each in (x, low, high)))
    if given.x.ndim != 1 or given.low.shape != given.x.shape or given.high.shape != given.x.shape:
        raise ValueError(f"A censored fit needs one low and one high bound for each x, got {given}.")
    if not np.isfinite(given.x).all() or len(np.unique(given.x)) < 2 or not np.all(given.low <= given.high):
        raise ValueError(
            f"A censored fit needs two different finite x and bounds in order, got x={given.x}, low={given.low} and "
            f"high={given.high}."
        )
    known = np.isfinite(given.low) & np.isfinite(given.high)
    if len(np.unique(given.x[known])) < 2:
        raise ValueError(
            f"A censored fit needs values with two finite bounds at two different x, got {int(known.sum())} of them. "
            "From one-sided bounds alone no slope follows."
        )
    return given


def _units(given: Bounds) -> tuple[float, float]:
    """Centre and spread of the finite bounds."""
    ends = np.concatenate([each[np.isfinite(each)] for each in (given.low, given.high)])
    return float(ends.mean()), float(np.ptp(ends)) or 1.0


def _log_likelihood(h: float, top: Values, bottom: Values, exact: np.ndarray) -> tuple[float, Values, Values, Values]:
    """The sum of log densities and log probabilities, and its slopes in h, in the standardized top and bottom ends.

    All that is not exact is log P(bottom < z < top) of a standard normal z, by whichever tail is the smaller.
    """
    flip = bottom > 0
    high, low = np.where(flip, -bottom, top), np.where(flip, -top, bottom)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        tail = np.where(np.isfinite(low), log_ndtr(low) - log_ndtr(high), -np.inf)
        mass = log_ndtr(high) + np.log(-np.expm1(np.minimum(tail, -1e-300)))
        each = np.where(exact, math.log(h) - top**2 / 2 - math.log(2 * math.pi) / 2, mass)
        density = lambda z: np.where(np.isfinite(z), np.exp(-(z**2) / 2 - math.log(2 * math.pi) / 2 - mass), 0.0)
        by_top, by_bottom = density(top), density(bottom)
    by_top, by_bottom = np.where(exact, -top, by_top), np.where(exact, 0.0, by_bottom)
    return float(each.sum()), by_top, by_bottom, np.where(exact, 1 / h, 0.0)


def _minus(parameters: np.ndarray, given: Bounds) -> tuple[float, np.ndarray]:
    """Minus the log-likelihood and its gradient in (level, 1, slope) / scatter, in which it is convex (Olsen 1978)."""
    gamma, h, delta = (float(each) for each in parameters)
    centre = gamma + delta * given.x
    top, bottom = h * given.high - centre, h * given.low - centre
    value, by_top, by_bottom, own = _log_likelihood(h, top, bottom, given.exact)
    if not math.isfinite(value):
        return 1e10, np.zeros(3)
    shift = by_top - by_bottom
    finite = lambda ends: np.where(np.isfinite(ends), ends, 0.0)
    by_h = float(np.sum(by_top * finite(given.high) - by_bottom * finite(given.low) + own))
    return -value, -np.array([-shift.sum(), by_h, -float(shift @ given.x)])


_LEAST_H, _MOST_H = 1 / MOST_SCATTER, 1 / LEAST_SCATTER
_OPTIONS = {"maxiter": 2000, "ftol": 1e-15}


def _best(given: Bounds) -> tuple[float, float]:
    """The most likely slope, and the largest log-likelihood."""
    inside = np.clip(0.0, given.low, given.high)
    middle = np.where(np.isfinite(given.low) & np.isfinite(given.high), (given.low + given.high) / 2, inside)
    slope, level = np.polyfit(given.x, middle, 1)
    found = minimize(
        _minus, np.array([level, 1.0, slope]), (given,), "SLSQP", jac=True, options=_OPTIONS,
        bounds=[(None, None), (_LEAST_H, _MOST_H), (None, None)],
    )  # fmt: skip
    best = float(found.x[2] / found.x[1])
    return best, max(-float(found.fun), _profile(given, best)[0])


def _profile(given: Bounds, slope: float) -> tuple[float, float, float]:
    """The largest log-likelihood at a slope, and the level and scatter there."""
    along = Bounds(np.zeros_like(given.x), given.low - slope * given.x, given.high - slope * given.x)
    known = np.concatenate([each[np.isfinite(each)] for each in (along.low, along.high)])
    spread = float(np.ptp(known)) or 1.0
    ends = (_LEAST_H, _MOST_H)
    start = np.array([known.mean() / spread, np.clip(1 / spread, *ends)])

    def reduced(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _minus(np.array([*parameters, 0.0]), along)
        return value, gradient[:2]

    found = minimize(reduced, start, method="SLSQP", jac=True, options=_OPTIONS, bounds=[(None, None), ends])
    gamma, h = (float(each) for each in found.x)
    return -float(found.fun), gamma / h, 1 / h


def _reach(points: int, confidence: float) -> float:
    """How much less likely than the best a slope in the interval may be; without censoring this gives Student's."""
    if points < 3:
        return math.inf
    quantile = float(student.ppf((1 + confidence) / 2, points - 2))
    return points / 2 * math.log1p(quantile**2 / (points - 2))


def _level_set(profile: Callable[[float], float], inside: float, level: float) -> Interval:
    """The slopes around one of them at which the profile is above a level; it falls to either side of its top."""

    def end(direction: int) -> float:
        near, step = inside, 1e-3 * max(1.0, abs(inside))
        while profile(far := inside + direction * step) > level:
            near, step = far, 2 * step
            if step > FARTHEST:
                return direction * math.inf
        if profile(near) <= level:
            return near
        return float(brentq(lambda slope: profile(slope) - level, near, far, xtol=1e-7))

    return end(-1), end(1)
