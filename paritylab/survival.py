"""When runs learn, where some were stopped before they did.

A run that was interrupted, given up in a race or out of steps has not learned by its last step: its time is censored
there. It counts as long as it was watched, and neither as a run that never learns nor as one that does not exist.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Num

from .statistics import Interval

Steps = Float[np.ndarray, " steps"]
ROUNDING = 1e-9
"""A product of quotients such as 9/10 is off by some 1e-16 for each of its factors."""


class Survival(NamedTuple):
    """The Kaplan-Meier estimate: the share of runs that have not learned by each step at which some did or were lost.

    With `at_risk` runs still watched at a step and `learned` of them learning there, the share falls by the factor
    1 - learned / at_risk (Kaplan and Meier 1958).
    """

    step: Steps
    at_risk: Num[np.ndarray, " steps"]
    learned: Num[np.ndarray, " steps"]
    share: Steps

    def band(self, confidence: float = 0.95) -> tuple[Steps, Steps]:
        """Two curves between which the whole true curve lies with about the given probability, up to the last step.

        Hall and Wellner (1980): with V the sum of learned / (at_risk (at_risk - learned)) so far, n runs and k
        Kolmogorov's quantile, the half width is k (1 + n V) share / sqrt(n). Where nothing is censored 1 + n V is 1 /
        share, and the band is Kolmogorov's, k / sqrt(n) wide to either side.

        >>> low, high = CensoredTimes(np.arange(1.0, 101.0), np.ones(100, bool)).survival().band()
        >>> (high - low)[[40, 60]].round(4).tolist()
        [0.2716, 0.2716]
        """
        from scipy.stats import kstwobign

        runs = self.at_risk[0] if len(self.step) else 1
        left = self.at_risk - self.learned
        variance = np.cumsum(self.learned / (self.at_risk * np.maximum(left, 1)))
        # At the last step nobody is left, and the product below has the limit of one survivor of all runs.
        half = np.where(left > 0, (1 + runs * variance) * self.share, 1.0) * kstwobign.ppf(confidence) / math.sqrt(runs)
        return np.clip(self.share - half, 0, 1), np.clip(self.share + half, 0, 1)


class Rate(NamedTuple):
    """Events per unit of exposure, with an interval."""

    value: float
    interval: Interval
    events: int


def rate_of(events: int, exposure: float, confidence: float = 0.95) -> Rate:
    """The rate of a Poisson process from its events in a given exposure, with Garwood's interval.

    The interval is never too narrow, however few the events (Garwood 1936). Without exposure nothing is known.

    >>> found = rate_of(3, 10.0)
    >>> found.value, [round(end, 3) for end in found.interval]
    (0.3, [0.062, 0.877])
    """
    from scipy.stats import chi2

    if events < 0 or not 0 <= exposure < math.inf:
        raise ValueError(f"A rate needs a count and a finite exposure of at least 0, got {events} and {exposure}.")
    if exposure == 0:
        return Rate(math.nan, (0.0, math.inf), events)
    tail = (1 - confidence) / 2
    low = float(chi2.ppf(tail, 2 * events)) / 2 if events else 0.0
    high = float(chi2.isf(tail, 2 * events + 2)) / 2
    return Rate(events / exposure, (low / exposure, high / exposure), events)


class CensoredTimes(NamedTuple):
    """The step at which each run learned, or up to which it is known that it did not; infinite if it never will.

    >>> times = CensoredTimes(np.array([10.0, 20.0, 20.0, 40.0]), np.array([True, False, True, True]))
    >>> times.survival().share.tolist()
    [0.75, 0.5, 0.0]
    >>> times.quantile(0.5), times.quantile(0.9)
    (20.0, 40.0)
    """

    step: Num[np.ndarray, " runs"]
    learned: Bool[np.ndarray, " runs"]

    def survival(self) -> Survival:
        """One row per step at which a run learned or was lost from view, in order.

        A run that is lost at a step at which others learn was watched there, too. Runs that were never started say
        nothing.
        """
        steps, place = np.unique(self.step, return_inverse=True)
        ended = np.bincount(place, minlength=len(steps))
        learned = np.bincount(place, weights=self.learned, minlength=len(steps)).astype(int)
        at_risk = ended[::-1].cumsum()[::-1]
        seen = np.isfinite(steps) & (steps > 0)
        steps, at_risk, learned = steps[seen].astype(float), at_risk[seen], learned[seen]
        return Survival(steps, at_risk, learned, np.cumprod(1 - learned / at_risk))

    def quantile(self, q: float) -> float:
        """The first step by which a share of at least q of the runs has learned; infinite if it is never reached."""
        if not 0 <= q <= 1:
            raise ValueError(f"A quantile needs 0 <= q <= 1, got q={q}.")
        step, _, learned, share = self.survival()
        there = np.flatnonzero((share <= 1 - q + ROUNDING) & (learned > 0))
        return float(step[there[0]]) if len(there) else math.inf

    def interval(self, q: float = 0.5, confidence: float = 0.95) -> Interval:
        """An interval that holds the true q-quantile with the given probability.

        The beta product confidence procedure (Fay, Brittain and Proschan 2013), made for few runs. Where nothing is
        censored it is the interval between two order statistics, which holds for every distribution. Where the runs
        say nothing about an end, that is 0 or infinite.

        >>> CensoredTimes(np.arange(1.0, 26.0), np.ones(25, bool)).interval()
        (8.0, 18.0)
        """
        from scipy.special import betainc

        step, at_risk, learned, _ = self.survival()
        after = len(self.step) - np.searchsorted(np.sort(self.step), step, side="right")  # runs watched beyond a step
        step, after = np.concatenate([[0.0], step]), np.concatenate([[np.sum(self.step > 0)], after])
        mean, square = _product(at_risk, learned)
        tail = (1 - confidence) / 2
        # One more run learns right after the step: the least share of survivors that is consistent with the runs.
        lower = betainc(*_beta(mean * after / (after + 1), square * after / (after + 2)), 1 - q)
        upper = betainc(*_beta(mean, square), 1 - q)
        low = np.flatnonzero((lower >= tail) | (after == 0))
        high = np.flatnonzero((upper > 1 - tail) & (mean < 1))
        return float(step[low[0]]) if len(low) else math.inf, float(step[high[0]]) if len(high) else math.inf

    def hazards(self, edges: Sequence[int | float] | np.ndarray, confidence: float = 0.95) -> list[Rate]:
        """Runs that learn per step and run still watched, after each edge up to and at the next.

        The estimate of a hazard that is constant in between; a run that leaves in between counts for as long as it
        was watched there.

        >>> times = CensoredTimes(np.array([5.0, 10.0, 20.0]), np.array([True, True, False]))
        >>> [(each.events, round(each.value, 3)) for each in times.hazards((0, 10, 20))]
        [(2, 0.08), (0, 0.0)]
        """
        ends = np.asarray(edges, float)
        if len(ends) < 2 or not (np.diff(ends) > 0).all() or not np.isfinite(ends).all() or ends[0] < 0:
            raise ValueError(f"Hazards need at least two finite edges >= 0 that rise, got edges={ends.tolist()}.")
        watched = [float(np.sum(np.clip(self.step, low, high) - low)) for low, high in pairwise(ends)]
        learned = [int(np.sum(self.learned & (self.step > low) & (self.step <= high))) for low, high in pairwise(ends)]
        return [rate_of(events, time, confidence) for events, time in zip(learned, watched, strict=True)]

    def tail_exponent(self, threshold: int | float, confidence: float = 0.95) -> Rate:
        """The exponent a of a tail P(T > t) = (t / threshold)**-a beyond the threshold, by maximum likelihood.

        Beyond it log T has the constant hazard a: the estimate is the number of runs that learn later over the sum of
        log(t / threshold), in which a censored run counts up to where it was lost (Hill 1975, with censoring).

        >>> times = CensoredTimes(np.array([1.0, np.e, np.e, np.e**2]), np.array([True, True, False, True]))
        >>> times.tail_exponent(1).value
        0.5
        """
        if not 0 < threshold < math.inf:
            raise ValueError(f"A tail begins at a positive and finite threshold, got {threshold}.")
        beyond = self.step > threshold
        if not np.isfinite(self.step[beyond]).all():
            raise ValueError(
                "A tail exponent needs finite times, got runs that never learn. Censor them at the last step that was "
                "watched, or leave them out."
            )
        logs = np.log(self.step[beyond] / threshold)
        return rate_of(int(np.sum(self.learned[beyond])), float(logs.sum()), confidence)


def _product(
    at_risk: Num[np.ndarray, " steps"], learned: Num[np.ndarray, " steps"]
) -> tuple[Float[np.ndarray, " more"], Float[np.ndarray, " more"]]:
    """First and second moment of the product of the beta variables of all steps up to each, from none on.

    At a step with Y at risk of which d learn, the variable is Beta(Y - d + 1, d).
    """
    first = (at_risk - learned + 1) / (at_risk + 1)
    second = first * (at_risk - learned + 2) / (at_risk + 2)
    one = np.ones(1)
    return np.concatenate([one, np.cumprod(first)]), np.concatenate([one, np.cumprod(second)])


def _beta(mean: Steps, square: Steps) -> tuple[Steps, Steps]:
    """The beta distribution with these moments; exactly the product's where nothing is censored."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a product of none is 1, and no beta variable
        size = (mean - square) / (square - mean**2)
    return mean * size, (1 - mean) * size
