"""Quantiles of times that may be infinite, intervals, a test of times, power laws, and what a variance is made of."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Shaped

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


def bands(curves: Float[np.ndarray, "runs rows"], shares: Sequence[float]) -> Float[np.ndarray, "shares rows"]:
    """Quantiles over runs at each row, by linear interpolation; a run without a value there is left out.

    A row in which no run has a value has none either.

    >>> bands(np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]]), [0.5]).tolist()
    [[2.0, 2.0, nan]]
    """
    found = np.full((len(shares), curves.shape[1]), np.nan)
    there = ~np.all(np.isnan(curves), axis=0)
    if there.any():
        found[:, there] = np.nanquantile(curves[:, there], shares, axis=0)
    return found


def quantile_interval(times: Float[np.ndarray, " runs"], q: float, confidence: float = 0.95) -> Interval:
    """An interval that holds the true q-quantile with at least the given probability, whatever the law.

    The number of runs below the quantile is binomial, so two order statistics bound it. An end that so few runs say
    nothing about is 0 or infinite: a 10th percentile has a lower end from 36 runs on.

    >>> quantile_interval(np.arange(1.0, 101.0), 0.1), quantile_interval(np.arange(1.0, 26.0), 0.1)
    ((5.0, 17.0), (0.0, 7.0))
    """
    tail = (1 - confidence) / 2
    return _order_statistic(times, q, tail, upper=False), _order_statistic(times, q, tail, upper=True)


def _order_statistic(times: Float[np.ndarray, " runs"], q: float, tail: float, upper: bool) -> float:
    """The runs' closest bound of the q-quantile that is wrong with at most the probability `tail`."""
    from scipy.stats import binom

    ordered = np.sort(np.asarray(times, float))
    runs = len(ordered)
    if upper:  # of the runs, at least `rank` are below the quantile with at most this probability
        rank = int(binom.isf(tail, runs, q)) + 1 if runs else 1
        return float(ordered[rank - 1]) if rank <= runs else math.inf
    rank = int(binom.ppf(tail, runs, q)) if runs else 0
    return float(ordered[rank - 1]) if rank else 0.0


def best_quantile_interval(times: Float[np.ndarray, "runs rates"], q: float, confidence: float = 0.95) -> Interval:
    """An interval of the least of several q-quantiles, one of each column, whatever their law.

    The best of some rates in a sample is better than the best rate is: a bootstrap, which draws from the sample, holds
    the true value too seldom. The least of the columns' lower ends is below the least quantile if one of them is below
    its own. That the least of the upper ends is above it asks for all of them, so each has its share of the tail.

    >>> times = np.stack([np.arange(1.0, 101.0), np.arange(11.0, 111.0)], axis=1)
    >>> best_quantile_interval(times, 0.1)
    (5.0, 18.0)
    """
    columns, tail = np.asarray(times, float).T, (1 - confidence) / 2
    return (
        min(_order_statistic(column, q, tail, upper=False) for column in columns),
        min(_order_statistic(column, q, tail / len(columns), upper=True) for column in columns),
    )


def median_interval(times: Float[np.ndarray, " runs"], confidence: float = 0.95) -> Interval:
    """`quantile_interval` of the median; with too few runs for the confidence it is unbounded: (0, inf).

    >>> median_interval(np.arange(1.0, 26.0))
    (8.0, 18.0)
    """
    return quantile_interval(times, 0.5, confidence)


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
    return max(0.0, centre - half), min(1.0, centre + half)  # rounding can lead outside


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


FEWEST = 6
"""Rows from which on a bootstrap can say anything: all of five are above their median in one sample of 32."""
UNKNOWN: Interval = (-math.inf, math.inf)


def bootstrap_interval(
    sample: Shaped[np.ndarray, "runs *more"], statistic: Callable[[np.ndarray], float], resamples: int = 2000
) -> Interval:
    """The bootstrap interval of a statistic that no single row decides: rows are drawn again, with replacement.

    Percentiles of the resamples, taken farther out for few rows, by as much as Student's law is wider than the normal
    one (Hesterberg 2015). With fewer than six rows, the interval is unbounded. For means use `mean_interval`, for the
    best of several columns `best_quantile_interval`: there, a bootstrap is too narrow.

    >>> bootstrap_interval(np.arange(100.0), lambda sample: float(np.median(sample)))
    (40.0, 59.0)
    """
    rows = len(sample)
    if rows < FEWEST:
        return UNKNOWN
    rng = np.random.default_rng(0)
    return _outer([statistic(sample[rng.integers(0, rows, rows)]) for _ in range(resamples)], rows)


def bootstrap_interval_of_several(
    samples: Sequence[Float[np.ndarray, "..."]],
    statistic: Callable[[Sequence[np.ndarray]], float],
    resamples: int = 2000,
) -> Interval:
    """`bootstrap_interval` of a statistic of independent samples, each of which is drawn again from its own rows.

    As far out as the smallest sample asks for.

    >>> several = [np.arange(100.0), np.arange(40.0)]
    >>> bootstrap_interval_of_several(several, lambda both: float(np.median(both[0]) - np.median(both[1])))
    (18.5, 41.5)
    """
    rows = min(map(len, samples))
    if rows < FEWEST:
        return UNKNOWN
    rng = np.random.default_rng(0)
    again = [statistic([each[rng.integers(0, len(each), len(each))] for each in samples]) for _ in range(resamples)]
    return _outer(again, rows)


def _outer(values: Sequence[float], rows: int, confidence: float = 0.95) -> Interval:
    """The middle of resampled values, as much of it as Student's law asks for."""
    from scipy.stats import norm, t

    tail = float(norm.cdf(-math.sqrt(rows / (rows - 1)) * t.ppf((1 + confidence) / 2, rows - 1)))
    ordered = np.sort(values)
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


class HazardRatio(NamedTuple):
    """How many times as often per unit of time the first group ends, with an interval; 1 if both are alike."""

    ratio: float
    interval: Interval


def log_rank(
    first: Float[np.ndarray, " runs"],
    second: Float[np.ndarray, " others"],
    horizon: int | float,
    confidence: float = 0.95,
) -> HazardRatio:
    """The log-rank test of two groups of times, of which those beyond `horizon` are censored there.

    At every time at which a run ends, the runs of the first group that end are compared with their share of those
    still at risk. Their sum over the variance is Peto's estimate of the logarithm of the hazard ratio (Peto and Peto
    1972); the test rejects at 5% where the 95% interval leaves out 1. Without an end nothing is known.

    >>> log_rank(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), 10).ratio
    1.0
    >>> slow = np.full(20, np.inf)
    >>> log_rank(np.arange(20.0), slow, 30).interval[0] > 1
    True
    """
    from scipy.stats import norm

    excess = variance = 0.0
    for time in np.unique(np.concatenate([first, second])):
        if time > horizon:
            break
        ends, others = np.sum(first == time), np.sum(second == time)
        risk, rest = np.sum(first >= time), np.sum(second >= time)
        both, dead = risk + rest, ends + others
        excess += float(ends - dead * risk / both)
        variance += float(dead * risk * rest * (both - dead) / (both**2 * max(both - 1, 1)))
    if variance == 0:
        return HazardRatio(math.nan, (0.0, math.inf))
    half = float(norm.ppf((1 + confidence) / 2)) / math.sqrt(variance)
    log = excess / variance
    return HazardRatio(math.exp(log), (math.exp(log - half), math.exp(log + half)))


class PowerLaw(NamedTuple):
    """y = constant * x**exponent."""

    constant: float
    exponent: float


def power_law(x: Float[np.ndarray, " points"], y: Float[np.ndarray, " points"]) -> PowerLaw:
    """The power law through points, by least squares on the logarithms of both.

    >>> law = power_law(np.array([1.0, 2.0, 4.0]), np.array([3.0, 12.0, 48.0]))
    >>> round(law.constant, 9), round(law.exponent, 9)
    (3.0, 2.0)
    """
    if len(np.unique(x)) < 2 or not (np.min(x) > 0 and np.min(y) > 0 and np.isfinite(y).all()):
        raise ValueError(f"A power law needs two different x and positive, finite x and y, got x={x} and y={y}.")
    log_x, log_y = np.log(np.asarray(x, float)), np.log(np.asarray(y, float))
    spread = log_x - log_x.mean()
    exponent = float(spread @ log_y / (spread @ spread))
    return PowerLaw(math.exp(float(log_y.mean()) - exponent * float(log_x.mean())), exponent)


class Variances(NamedTuple):
    """What rows, columns and neither of them add to the variance of a table's entries."""

    rows: float
    columns: float
    rest: float


def variance_components(table: Float[np.ndarray, "rows columns"]) -> Variances:
    """Components of variance where both rows and columns are drawn at random, one entry each.

    Two-way analysis of variance: the unbiased estimates from the mean squares (Shrout and Fleiss 1979). An estimate can
    be negative where the component is 0.

    >>> variance_components(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    Variances(rows=4.5, columns=1.0, rest=0.0)
    """
    rows, columns = table.shape
    if rows < 2 or columns < 2:
        raise ValueError(f"Components of variance need at least two rows and two columns, got {rows} and {columns}.")
    by_row, by_column = table.mean(axis=1), table.mean(axis=0)
    residuals = table - by_row[:, None] - by_column + table.mean()
    rest = float(np.sum(residuals**2)) / ((rows - 1) * (columns - 1))
    return Variances(
        float(np.var(by_row, ddof=1)) - rest / columns, float(np.var(by_column, ddof=1)) - rest / rows, rest
    )


def intraclass_correlation(table: Float[np.ndarray, "rows columns"]) -> float:
    """How much of the variance of a table's entries its rows explain: ICC(2,1) of Shrout and Fleiss (1979).

    It is 1 if the entries of a row are equal, and about 0 if a row says nothing of its entries.

    >>> intraclass_correlation(np.array([[1.0, 1.0], [5.0, 5.0], [2.0, 2.0]]))
    1.0
    """
    parts = variance_components(table)
    if sum(parts) == 0:
        raise ValueError("An intraclass correlation needs entries that vary, got a table with a variance of 0.")
    return parts.rows / sum(parts)


class Counts(NamedTuple):
    """A sample as its different values, in order, and how often each occurs: a million times take little room."""

    values: Float[np.ndarray, " values"]
    counts: Int[np.ndarray, " values"]

    @classmethod
    def of(cls, sample: Float[np.ndarray, " runs"]) -> "Counts":
        """
        >>> Counts.of(np.array([20.0, 10.0, 20.0]))
        Counts(values=array([10., 20.]), counts=array([1, 2]))
        """
        return cls(*np.unique(sample, return_counts=True))

    @property
    def size(self) -> int:
        return int(self.counts.sum())

    def up_to(self, limit: int | float) -> int:
        """How many are at most the limit."""
        return int(self.counts[self.values <= limit].sum())

    def quantile(self, q: float) -> float:
        """As `quantile` of the sample itself."""
        ends, place = np.cumsum(self.counts), q * (self.size - 1)
        low, high = (
            float(self.values[np.searchsorted(ends, at, "right")]) for at in (math.floor(place), math.ceil(place))
        )
        return low if low == high or place == int(place) else low + (place - int(place)) * (high - low)


def bootstrap_counts_interval(sample: Counts, statistic: Callable[[Counts], float], resamples: int = 2000) -> Interval:
    """`bootstrap_interval` of a sample given as counts, in a time that depends on its different values alone.

    To draw from a sample with replacement is to draw its counts from a multinomial law.

    >>> low, high = bootstrap_counts_interval(Counts.of(np.arange(101.0)), lambda sample: sample.quantile(0.5))
    >>> 38 < low < 42, 58 < high < 62
    (True, True)
    """
    rng = np.random.default_rng(0)
    drawn = (rng.multinomial(sample.size, sample.counts / sample.size) for _ in range(resamples))
    return _outer([statistic(Counts(sample.values, counts)) for counts in drawn], sample.size)


def size_for(successes: Float[np.ndarray, "trials sizes"], sizes: Sequence[int | float], wanted: float = 0.9) -> float:
    """The size at which a wanted share of trials succeeds, each tried at every one of the rising `sizes`.

    Shares are made monotone (pooling neighbours that are not), then interpolated over the logarithm. Infinite where
    no size is enough, the first size where that is.

    >>> trials = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1.0]])
    >>> round(size_for(trials, (10, 20, 40), wanted=0.75), 6)
    20.0
    """
    shares = successes.mean(axis=0)
    for place in range(1, len(shares)):
        start = place
        while start > 0 and shares[start - 1 : place + 1].mean() < shares[start - 1]:
            start -= 1
        shares[start : place + 1] = shares[start : place + 1].mean()
    shares = np.maximum.accumulate(shares)
    if shares[-1] < wanted:
        return math.inf
    above = int(np.argmax(shares >= wanted))
    if above == 0:
        return float(sizes[0])
    share = (wanted - shares[above - 1]) / (shares[above] - shares[above - 1])
    return float(np.exp(np.interp(share, (0, 1), np.log(sizes[above - 1 : above + 1]))))
