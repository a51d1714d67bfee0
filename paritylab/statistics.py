"""Quantiles of times that may be infinite, and intervals."""

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

Interval = tuple[float, float]


def quantile(times: Float[np.ndarray, " runs"], q: float) -> float:
    """The q-quantile by linear interpolation (numpy's default), where a run that never ended counts as infinite.

    >>> quantile(np.array([10.0, 20.0, np.inf]), 0.5), quantile(np.array([10.0, np.inf]), 0.5)
    (20.0, inf)
    """
    ordered = np.sort(np.asarray(times, float))
    if not len(ordered) or not 0 <= q <= 1:
        raise ValueError(f"A quantile needs at least one run and 0 <= q <= 1, got {len(ordered)} runs and q={q}.")
    place = q * (len(ordered) - 1)
    low, high = math.floor(place), math.ceil(place)
    below, above = float(ordered[low]), float(ordered[high])
    if below == above or place == low:  # inf - inf is undefined
        return below
    return below + (place - low) * (above - below)


def median_interval(times: Float[np.ndarray, " runs"], confidence: float = 0.95) -> Interval:
    """An interval that holds the true median with at least the given probability, whatever the law.

    The number of runs below the median is binomial, so two order statistics bound it. With too few
    runs for the confidence the interval is unbounded: (0, inf).

    >>> median_interval(np.arange(1.0, 26.0))
    (8.0, 18.0)
    """
    from scipy.stats import binom

    ordered = np.sort(np.asarray(times, float))
    rank = int(binom.ppf((1 - confidence) / 2, len(ordered), 0.5)) if len(ordered) else 0
    if rank == 0:
        return 0.0, math.inf
    return float(ordered[rank - 1]), float(ordered[-rank])


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Wilson's interval of a probability.

    >>> tuple(round(bound, 3) for bound in wilson_interval(8, 10))
    (0.49, 0.943)
    """
    from scipy.stats import norm

    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"Wilson's interval needs 0 <= successes <= trials, got {successes} of {trials}.")
    z = float(norm.ppf((1 + confidence) / 2))
    rate, spread = successes / trials, z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(rate * (1 - rate) / trials + spread / (4 * trials))
    return centre - half, centre + half


def mean_interval(values: Float[np.ndarray, " runs"], confidence: float = 0.95) -> Interval:
    """Student's interval of a mean, for a few values that scatter about normally.

    >>> tuple(round(bound, 3) for bound in mean_interval(np.array([1.0, 2.0, 3.0])))
    (-0.484, 4.484)
    """
    from scipy.stats import t

    sample = np.asarray(values, float)
    if len(sample) < 2:
        raise ValueError(f"Student's interval needs at least two values, got {len(sample)}.")
    half = float(t.ppf((1 + confidence) / 2, len(sample) - 1)) * float(np.std(sample, ddof=1)) / math.sqrt(len(sample))
    return float(np.mean(sample)) - half, float(np.mean(sample)) + half


def bootstrap_interval(
    sample: Float[np.ndarray, "runs *more"],
    statistic: Callable[[np.ndarray], float],
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The percentile bootstrap interval of a statistic: rows of the sample are drawn again, with replacement.

    >>> bootstrap_interval(np.arange(100.0), lambda sample: float(np.mean(sample)))
    (43.909499999999994, 55.08025)
    """
    rows = len(sample)
    if rows < 2:
        raise ValueError(f"A bootstrap needs at least two rows to draw from, got {rows}.")
    rng = np.random.default_rng(seed)
    values = np.sort([statistic(sample[rng.integers(0, rows, rows)]) for _ in range(resamples)])
    return quantile(values, (1 - confidence) / 2), quantile(values, (1 + confidence) / 2)
