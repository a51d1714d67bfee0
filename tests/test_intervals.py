"""Intervals hold the true value as often as they say, by simulation; where they cannot, they say nothing."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from paritylab.experiments.base import Region, judge
from paritylab.experiments.hidden_progress import figure9
from paritylab.statistics import (
    best_quantile_interval,
    bootstrap_interval,
    mean_interval,
    median_interval,
    quantile_interval,
    wilson_interval,
)
from paritylab.survival import CensoredTimes

SIZES = (5, 10, 25, 100)
LAWS = {
    "normal": (lambda rng, shape: 10 + rng.standard_normal(shape), lambda q: 10 + float(ndtri(q))),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), lambda q: -math.log(1 - q)),
    "lognormal": (
        lambda rng, shape: np.exp(0.5 * rng.standard_normal(shape)),
        lambda q: math.exp(0.5 * float(ndtri(q))),
    ),
}


def covered(intervals, truth: float) -> float:
    low, high = np.array(intervals).T
    return float(np.mean((low <= truth) & (truth <= high)))


def least(repetitions: int, wanted: float = 0.94) -> float:
    """A share that an interval which holds its value that often falls below in one simulation of a thousand."""
    return float(binom.ppf(0.001, repetitions, wanted)) / repetitions


def simulated(interval, draw, truth: float, repetitions: int) -> None:
    rng = np.random.default_rng(repetitions)
    assert covered([interval(draw(rng)) for _ in range(repetitions)], truth) >= least(repetitions)


def cases(repetitions: int):
    """(name, interval, how to draw a sample, the true value, repetitions) of every interval that is called 95%."""
    for n in SIZES:
        for law, (draw, quantile) in LAWS.items():
            one = lambda rng, draw=draw, n=n: draw(rng, n)
            for q in (0.1, 0.5, 0.9):
                interval = lambda sample, q=q: quantile_interval(sample, q)
                yield f"{law}-{n}-quantile-{q}", interval, one, quantile(q), repetitions
            several = lambda rng, draw=draw, n=n: draw(rng, (n, 4))
            best = lambda sample: best_quantile_interval(sample, 0.1)
            yield f"{law}-{n}-best-of-equals", best, several, quantile(0.1), repetitions
            graded = lambda rng, draw=draw, n=n: draw(rng, (n, 4)) * np.array([1.0, 1.05, 1.3, 2.0])
            yield f"{law}-{n}-best-of-others", best, graded, quantile(0.1), repetitions
        normal = lambda rng, n=n: LAWS["normal"][0](rng, n)
        yield f"normal-{n}-mean", mean_interval, normal, 10.0, repetitions
        # Wilson's interval is right on average over the true probability.
        drawn = lambda rng, n=n: (share := rng.choice(np.linspace(0.05, 0.95, 19)), rng.binomial(n, share))
        off = lambda sample, n=n: tuple(end - sample[0] for end in wilson_interval(int(sample[1]), n))
        yield f"{n}-wilson", off, drawn, 0.0, repetitions
        powers = lambda rng, n=n: np.array([10.0, 20, 40]) ** 1.5 * np.exp(0.5 * rng.standard_normal((n, 3)))
        exponent = lambda sample: float(np.polyfit(np.log([10.0, 20, 40]), np.log(np.median(sample, axis=0)), 1)[0])
        boot = lambda sample, exponent=exponent: bootstrap_interval(sample, exponent, resamples=500)
        yield f"{n}-bootstrap-exponent", boot, powers, 1.5, repetitions


FEW = [case for case in cases(200) if "-10-" in f"-{case[0]}" and "bootstrap" not in case[0]]
ALL = [*cases(5000)]
PARTS = ("interval", "draw", "truth", "repetitions")


@pytest.mark.parametrize(PARTS, [case[1:] for case in FEW], ids=[case[0] for case in FEW])
def test_intervals_hold_the_true_value(interval, draw, truth, repetitions):
    simulated(interval, draw, truth, repetitions)


@pytest.mark.acceptance
@pytest.mark.parametrize(PARTS, [case[1:] for case in ALL], ids=[case[0] for case in ALL])
def test_every_interval_holds_the_true_value_in_94_of_100(interval, draw, truth, repetitions):
    rng = np.random.default_rng(1)
    share = covered([interval(draw(rng)) for _ in range(repetitions)], truth)
    print(f"{share:.4f}")
    assert share >= 0.94


def test_a_bootstrap_of_the_best_is_too_narrow():
    """Why it was given up: of four equally good rates the best in the sample is too good."""
    from paritylab.experiments.hidden_progress.shared.measures import best_t10

    rng, truth = np.random.default_rng(0), -math.log(0.9)
    samples = [rng.exponential(size=(100, 4)) for _ in range(60)]
    assert covered([bootstrap_interval(sample, best_t10, resamples=100) for sample in samples], truth) < 0.85


@pytest.mark.parametrize("n", [*range(1, 60), 100, 1000])
@pytest.mark.parametrize("q", [0.1, 0.5])
def test_order_statistics_are_those_of_runs_none_of_which_is_censored(n, q):
    times = np.arange(1.0, n + 1)
    assert quantile_interval(times, q) == CensoredTimes(times, np.ones(n, bool)).interval(q)
    low, high = quantile_interval(times, q)
    missed = (binom.cdf(low - 1, n, q) if low else 0) + (binom.sf(high - 1, n, q) if high < math.inf else 0)
    assert missed <= 0.05 + 1e-12


def test_too_few_runs_say_nothing():
    assert median_interval(np.arange(1.0, 6.0)) == (0.0, math.inf)
    assert quantile_interval(np.arange(1.0, 36.0), 0.1)[0] == 0.0 < quantile_interval(np.arange(1.0, 37.0), 0.1)[0]
    assert bootstrap_interval(np.arange(5.0), np.median) == (-math.inf, math.inf)
    assert quantile_interval(np.array([]), 0.5) == (0.0, math.inf)


@pytest.mark.parametrize("n", range(1, 400))
def test_wilsons_interval_stays_between_0_and_1(n):
    assert judge(Region(0, 1), wilson_interval(n, n)) == judge(Region(0, 1), wilson_interval(0, n)) == "holds"


def test_an_exponent_of_best_times_has_the_ends_of_its_times():
    rng = np.random.default_rng(0)
    times = np.array([100.0, 400, 900])[:, None] * np.exp(0.2 * rng.standard_normal((100, 3, 4)))
    low, high = figure9.scaling_interval(times, 0.95)
    assert low < figure9.scaling(times)[1] < high < 2 * figure9.scaling(times)[1]
    assert figure9.scaling_interval(times[:25], 0.95)[1] == math.inf
    place = ("i", 3, 32, 128)
    difference = figure9.growth(place, place, {place: times})
    assert difference.value == 0 and difference.interval[0] < 0 < difference.interval[1]
