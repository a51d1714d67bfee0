"""When runs learn, where some were stopped before they did.

A run that was interrupted, given up in a race or out of steps has not learned by its last step: its time is censored
there. It counts as long as it was watched, and neither as a run that never learns nor as one that does not exist.
"""

import math
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
