import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom

from paritylab.statistics import (
    Counts,
    bootstrap_counts_interval,
    intraclass_correlation,
    median_interval,
    power_law,
    quantile,
    size_for,
    variance_components,
    wilson_interval,
)

QUANTILES = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("runs", [1, 2, 3, 10, 11, 25, 100])
def test_quantile_of_finite_times_is_that_of_numpy(runs, q):
    times = np.random.default_rng(runs).exponential(1000, runs)
    assert quantile(times, q) == pytest.approx(np.quantile(times, q), rel=1e-12)


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize(("finite", "infinite"), [(1, 1), (2, 1), (1, 2), (5, 6), (10, 1), (13, 12), (12, 13), (0, 4)])
def test_quantile_with_infinite_times_is_the_limit_of_large_ones(finite, infinite, q):
    times = np.random.default_rng(0).permutation(np.append(np.arange(1.0, finite + 1), np.full(infinite, np.inf)))
    by_a_million, by_two = (np.quantile(np.where(np.isinf(times), large, times), q) for large in (1e6, 2e6))
    assert quantile(times, q) == (pytest.approx(by_a_million) if by_a_million == by_two else math.inf)


def test_quantile_of_no_runs_says_so():
    with pytest.raises(ValueError, match="got 0 runs"):
        quantile(np.array([]), 0.5)


def coverage(n: int, low: int, high: int) -> float:
    """The probability that order statistics `low` and `high` (from 1) enclose the median of a continuous law.

    With B ~ Binomial(n, 1/2) the number of draws below the median, they do exactly when low <= B < high.
    """
    return sum(math.comb(n, below) for below in range(low, high)) / 2**n


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [6, 7, 10, 25, 26, 100, 501])
def test_median_interval_covers_the_median_and_is_the_narrowest_that_does(n, confidence):
    shuffled = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    low, high = median_interval(shuffled, confidence)  # the value of an order statistic is its rank
    if math.isinf(high):
        assert low == 0 and coverage(n, 1, n) < confidence
        return
    assert low + high == n + 1
    assert coverage(n, int(low), int(high)) >= confidence
    assert coverage(n, int(low) + 1, int(high) - 1) < confidence


def test_median_interval_of_few_runs_is_unbounded():
    assert coverage(5, 1, 5) < 0.95 < coverage(6, 1, 6)
    assert median_interval(np.arange(1.0, 6.0)) == (0, math.inf)
    assert median_interval(np.arange(1.0, 7.0)) == (1, 6)
    assert median_interval(np.array([])) == (0, math.inf)


def test_median_interval_with_runs_that_did_not_learn():
    times = np.append(np.arange(1.0, 16.0), np.full(10, np.inf))
    assert median_interval(times) == (8, math.inf)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 10), (8, 10), (10, 10), (13, 25), (1, 1000)])
def test_wilson_interval_solves_its_quadratic(successes, trials, confidence):
    # Its ends are the p for which the observed rate is z standard errors away: (rate - p)^2 = z^2 p (1 - p) / trials.
    z, rate = NormalDist().inv_cdf((1 + confidence) / 2), successes / trials
    expected = np.sort(np.roots([1 + z**2 / trials, -2 * rate - z**2 / trials, rate**2]))
    # A double root loses half of the sixteen digits.
    np.testing.assert_allclose(wilson_interval(successes, trials, confidence), expected, atol=1e-7)


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (-1, 3), (4, 3)])
def test_wilson_interval_of_impossible_counts_says_so(successes, trials):
    with pytest.raises(ValueError, match=f"0 <= successes <= trials, got {successes} of {trials}"):
        wilson_interval(successes, trials)


def test_a_power_law_is_a_line_on_logarithmic_axes():
    x, y = np.array([10.0, 15.0, 20.0, 30.0]), np.array([60.0, 110.0, 160.0, 245.0])
    slope, height = np.polyfit(np.log(x), np.log(y), 1)
    assert power_law(x, y) == pytest.approx((math.exp(height), slope), rel=1e-9)


@pytest.mark.parametrize(("x", "y"), [([3.0, 3.0], [1.0, 2.0]), ([1.0, 2.0], [0.0, 1.0]), ([1.0, 2.0], [1.0, np.inf])])
def test_a_power_law_through_impossible_points_says_so(x, y):
    with pytest.raises(ValueError, match="needs two different x and positive, finite"):
        power_law(np.array(x), np.array(y))


def test_the_example_of_shrout_and_fleiss():
    # Six subjects and four judges (Shrout and Fleiss 1979, tables 2 and 3); ICC(2,1) is printed as .29.
    table = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    between, judges, error = 11.24, 32.49, 1.02
    expected = ((between - error) / 4, (judges - error) / 6, error)
    assert variance_components(table) == pytest.approx(expected, abs=0.005)
    assert intraclass_correlation(table) == pytest.approx(0.29, abs=0.005)


def test_components_of_variance_are_unbiased():
    rng, tables = np.random.default_rng(0), 1000
    draw = lambda *shape: rng.normal(size=(tables, *shape))
    drawn = 2 * draw(5, 1) + 1 * draw(1, 4) + 3 * draw(5, 4)
    found = np.array([variance_components(table) for table in drawn])
    five_sigma = 5 * found.std(axis=0) / math.sqrt(tables)
    assert np.all(np.abs(found.mean(axis=0) - [4, 1, 9]) < five_sigma)


def test_components_of_variance_need_rows_and_columns():
    with pytest.raises(ValueError, match="got 1 and 3"):
        variance_components(np.ones((1, 3)))
    with pytest.raises(ValueError, match="a variance of 0"):
        intraclass_correlation(np.ones((3, 3)))


@pytest.mark.parametrize("q", QUANTILES)
def test_counts_know_the_quantiles_of_their_sample(q):
    sample = np.random.default_rng(1).geometric(0.2, 101).astype(float)
    for times in (sample, np.where(sample > 12, np.inf, sample)):
        assert Counts.of(times).quantile(q) == pytest.approx(quantile(times, q), rel=1e-12)
    assert Counts.of(sample).size == 101 and Counts.of(sample).up_to(3) == np.sum(sample <= 3)


def test_the_bootstrap_of_a_fraction_is_binomial():
    sample = Counts.of(np.repeat([1.0, 2.0, 3.0], [200, 500, 300]))
    low, high = bootstrap_counts_interval(sample, lambda drawn: drawn.up_to(1) / drawn.size, resamples=4000)
    ends = binom.ppf([0.025, 0.975], 1000, 0.2) / 1000
    # A quantile of 4,000 resamples is within three standard errors: sqrt(q (1 - q) / 4000) over the density there.
    error = 3 * math.sqrt(0.025 * 0.975 / 4000) / binom.pmf(int(1000 * ends[0]), 1000, 0.2) / 1000
    np.testing.assert_allclose((low, high), ends, atol=error + 0.001)


def test_the_size_for_nine_in_ten_is_interpolated():
    sizes, shares = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0), np.array([0.0, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0])
    successes = (np.arange(10)[:, None] < 10 * shares).astype(float)
    assert size_for(successes, sizes) == pytest.approx(np.sqrt(1.4), rel=1e-9)  # halfway between 0.8 and 1
    assert size_for(np.zeros((5, 7)), sizes) == np.inf
