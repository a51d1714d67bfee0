"""Fits that know censoring: against regression, SciPy's censored likelihood, and how often intervals hold the truth."""

import numpy as np
import pytest
from scipy.stats import CensoredData, linregress, norm, t

from paritylab.censored_fits import _best, _checked, _profile, _reach, censored_line, censored_power_law

RNG = np.random.default_rng(0)
PLACES = np.arange(8.0)
VALUES = 3 + 2 * PLACES + RNG.normal(size=8)


def test_without_censoring_it_is_the_regression_of_the_textbooks():
    line, fit = censored_line(PLACES, VALUES, VALUES), linregress(PLACES, VALUES)
    half = t.ppf(0.975, 6) * fit.stderr
    np.testing.assert_allclose([line.level, line.slope], [fit.intercept, fit.slope], rtol=1e-6)
    np.testing.assert_allclose(line.interval, [fit.slope - half, fit.slope + half], rtol=1e-6)
    residuals = VALUES - fit.intercept - fit.slope * PLACES
    np.testing.assert_allclose(line.scatter, np.sqrt(np.mean(residuals**2)), rtol=1e-6)


def test_the_likelihood_of_every_kind_of_censoring_is_scipys():
    """At slope 0 a line is a normal sample: SciPy fits those with values censored left, right and between bounds."""
    sample = RNG.normal(5, 2, 60)
    low, high = sample.copy(), sample.copy()
    low[:10], high[:10] = -np.inf, 4.5
    low[10:20], high[10:20] = 5.5, np.inf
    low[20:40], high[20:40] = np.floor(sample[20:40]), np.floor(sample[20:40]) + 1
    data = CensoredData(
        uncensored=sample[40:], left=high[:10], right=low[10:20], interval=np.stack([low[20:40], high[20:40]], axis=1)
    )
    mean, deviation = norm.fit(data)
    found, level, scatter = _profile(_checked(np.arange(60.0), low, high), 0.0)
    np.testing.assert_allclose([level, scatter], [mean, deviation], rtol=1e-3)
    inside = norm.cdf(high[20:40], mean, deviation) - norm.cdf(low[20:40], mean, deviation)
    theirs = norm.logpdf(sample[40:], mean, deviation).sum() + np.log(inside).sum()
    theirs += norm.logcdf(high[:10], mean, deviation).sum() + norm.logsf(low[10:20], mean, deviation).sum()
    np.testing.assert_allclose(found, theirs, atol=1e-5)


def test_bounds_that_a_line_meets_give_the_middle_of_all_that_do():
    """Slopes from (11 - 5) / log10(60,000 / 200) to (13 - 7) / log10(60,000 / 2,000) lead between all the bounds."""
    steps = np.log10([200, 2_000, 10_000, 60_000])
    line = censored_line(steps, [-np.inf, 7, 9, 11], [5, 9, 11, 13])
    least, most = 6 / np.log10(300), 6 / np.log10(30)
    assert abs(line.slope - (least + most) / 2) < 0.01
    assert line.interval[0] < least < most < line.interval[1]


def test_a_censored_value_no_longer_bends_the_line():
    """What lies below a limit, coded as the limit or as 0 or left out, gives another slope; its bound does not."""
    reached = np.maximum(VALUES, 9)
    assert linregress(PLACES, reached).slope < 1.75 and linregress(PLACES, np.where(VALUES < 9, 0, VALUES)).slope > 2.4
    line = censored_line(PLACES, np.where(VALUES < 9, -np.inf, VALUES), reached)
    assert line.interval[0] < 2 < line.interval[1]


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """Half of the points censored on both sides; of 200 repetitions at 95%, fewer than 182 by chance once in 1,000."""
    rng, held, places = np.random.default_rng(1), 0, np.linspace(0, 1, 12)
    for _ in range(200):
        values = 1 + 3 * places + rng.normal(size=12)
        low, high = np.where(values > 3.5, 3.5, values), np.where(values > 3.5, np.inf, values)
        low, high = np.where(values < 1.5, -np.inf, low), np.where(values < 1.5, 1.5, high)
        given = _checked(places, low, high)
        held += _profile(given, 3.0)[0] >= _best(given)[1] - _reach(12, 0.95)  # where 3 is inside of the interval
    assert held >= 182


def test_a_power_law_of_times_that_were_cut_off():
    sizes = np.array([10.0, 20.0, 40.0, 80.0])
    times = 5 * sizes**1.5
    law = censored_power_law(sizes, np.minimum(times, 2000), np.where(times > 2000, np.inf, times))
    assert abs(law.exponent - 1.5) < 1e-3 and abs(law.constant - 5) < 0.02
    coded = linregress(np.log(sizes), np.log(np.minimum(times, 2000))).slope
    assert coded < 1.4  # the step limit taken for a time


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([1.0, 2.0], [2.0, 1.0], "bounds in order"),
        ([0.0, -np.inf], [1.0, 2.0], "two finite bounds at two different x"),
        ([0.0, 1.0, 2.0], [0.0, 1.0], "one low and one high"),
    ],
)
def test_bounds_without_a_line_say_so(low, high, message):
    with pytest.raises(ValueError, match=message):
        censored_line([0.0, 1.0], low, high)


def test_a_power_law_needs_positive_values():
    with pytest.raises(ValueError, match="positive x"):
        censored_power_law([0.0, 1.0], [1.0, 1.0], [1.0, 1.0])
