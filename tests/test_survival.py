"""Kaplan-Meier against hand and brute force, and how often the intervals that tables print hold the truth."""

import heapq
import math

import numpy as np
import pytest
from scipy.stats import CensoredData, binom, ecdf, expon, kstwobign, poisson

from paritylab.statistics import median_interval
from paritylab.survival import CensoredTimes, rate_of
from paritylab.training.host.early_stopping import Races
from paritylab.training.rules.outcomes import Outcome

EVERY, PLATEAU, SCALE = 10, 40, 120
REPETITIONS = 2000


def draw(rng, size, slower=1.0):
    """Convergence times: a plateau, then an exponential tail, looked at every ten steps."""
    return EVERY * np.ceil(slower * (PLATEAU + rng.exponential(SCALE, size)) / EVERY)


def true_median(slower=1.0):
    """The least looked-at step by which half of all runs have learned."""
    return EVERY * math.ceil(slower * (PLATEAU + SCALE * math.log(2)) / EVERY)


WEEKS = np.array([6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35], float)
ENDED = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], bool)
"""Remissions in the trial of 6-MP by Freireich et al. (1963), the example of the textbooks."""


def test_an_example_from_the_textbooks():
    step, at_risk, learned, share = CensoredTimes(WEEKS, ENDED).survival()
    rows = zip(step, at_risk, learned, share, strict=True)
    assert {int(week): (int(risk), round(float(part), 3)) for week, risk, events, part in rows if events} == {
        6: (21, 0.857),
        7: (17, 0.807),
        10: (15, 0.753),
        13: (12, 0.690),
        16: (11, 0.627),
        22: (7, 0.538),
        23: (6, 0.448),
    }
    assert CensoredTimes(WEEKS, ENDED).quantile(0.5) == 23


def test_the_interval_is_that_of_products_of_beta_variables_drawn_at_random():
    """The definition by Monte Carlo; moments of the product and 400,000 draws of it differ by less than 0.004."""
    draws, rng = 400_000, np.random.default_rng(0)
    step, at_risk, learned, _ = CensoredTimes(WEEKS, ENDED).survival()
    product, lower, upper = np.ones(draws), {0.0: 0.0}, {0.0: 1.0}
    for week, risk, events in zip(step, at_risk, learned, strict=True):
        product = product * (rng.beta(risk - events + 1, events, draws) if events else 1)
        after = int(np.sum(week < WEEKS))
        lower[week] = np.mean(product * (rng.beta(after, 1, draws) if after else 0) <= 0.5)
        upper[week] = np.mean(product >= 0.5)
    for confidence in (0.5, 0.8, 0.95):
        low, high = CensoredTimes(WEEKS, ENDED).interval(confidence=confidence)
        tail, before = (1 - confidence) / 2, [week for week in lower if week < low][-1]
        assert lower[before] < tail + 0.004 and lower[low] > tail - 0.004
        reached = [week for week in upper if upper[week] < tail]
        assert high == (reached[0] if reached else math.inf)


@pytest.mark.parametrize("size", [*range(1, 30), 100, 101, 500])
def test_without_censoring_the_interval_is_that_of_order_statistics(size):
    """By counting: the interval of every quantile is the narrowest whose ends miss with at most 2.5% each."""
    times = np.sort(draw(np.random.default_rng(size), size))
    everyone = CensoredTimes(times, np.ones(size, bool))
    low, high = everyone.interval(0.5)
    assert (low, high) == median_interval(times)
    for q in (0.1, 0.5, 0.9):
        # The quantile is below the j-th smallest if fewer than j runs are; above it if at least j are.
        first = next((j for j in range(1, size + 1) if binom.cdf(j, size, q) >= 0.025), None)
        last = next((j for j in range(1, size + 1) if binom.cdf(j - 1, size, q) > 0.975), None)
        rank = 0 if binom.cdf(0, size, q) >= 0.025 else first
        expected = (0.0 if rank == 0 else times[rank - 1], math.inf if last is None else times[last - 1])
        assert everyone.interval(q) == expected


def test_quantiles_are_steps_at_which_a_run_learned():
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 10, 25, 200):
        times = draw(rng, size)
        everyone = CensoredTimes(times, np.ones(size, bool))
        for q in (0.1, 0.5, 0.9, 1.0):
            found = everyone.quantile(q)
            assert found in times and np.mean(times <= found) >= q - 1e-12 > np.mean(times < found) - 1e-12


def test_runs_that_never_learn_or_never_began():
    step, learned = np.array([10.0, 20.0, np.inf, np.inf]), np.array([True, True, False, False])
    assert CensoredTimes(step, learned).quantile(0.5) == 20
    assert CensoredTimes(step, learned).quantile(0.51) == math.inf
    with_others = CensoredTimes(np.append(step, [0.0] * 9), np.append(learned, [False] * 9))
    assert with_others.quantile(0.5) == 20, "runs that were never started say nothing"
    assert with_others.interval() == CensoredTimes(step, learned).interval()
    nobody = CensoredTimes(np.zeros(3), np.zeros(3, bool))
    assert nobody.quantile(0.5) == math.inf and nobody.interval() == (0, math.inf)
    assert CensoredTimes(np.full(25, np.inf), np.zeros(25, bool)).interval() == (math.inf, math.inf)


def started(times, lanes):
    """The moment at which each run begins, if each free lane takes the next one."""
    free, begin = [0.0] * lanes, np.zeros(len(times))
    for run, time in enumerate(times):
        begin[run] = heapq.heappop(free)
        heapq.heappush(free, begin[run] + time)
    return begin


def step_limit(rng, size):
    """The paper's way: every run has the same number of steps."""
    times, limit = draw(rng, size), true_median() + rng.integers(-3, 8) * EVERY
    return np.minimum(times, limit), times <= limit


def stopped_early(rng, size):
    """Ctrl-C once a share of the runs has learned: those that take long are over-represented among the others."""
    times = draw(rng, size)
    begin = started(times, lanes=max(2, size // 3))
    now = np.sort(begin + times)[int(rng.uniform(0.2, 0.8) * size)]
    watched = EVERY * np.floor(np.clip(now - begin, 0, None) / EVERY)
    return np.minimum(times, watched), times <= watched


def everything(rng, size):
    return draw(rng, size), np.ones(size, bool)


@pytest.mark.parametrize("size", [6, *(pytest.param(size, marks=pytest.mark.acceptance) for size in (10, 25)), 100])
@pytest.mark.parametrize("way", [everything, step_limit, stopped_early])
def test_intervals_of_the_median_cover_it(way, size):
    rng = np.random.default_rng([size, len(way.__name__)])
    truth, covered, naive = true_median(), 0, 0
    for _ in range(REPETITIONS):
        step, learned = way(rng, size)
        low, high = CensoredTimes(step, learned).interval()
        covered += low <= truth <= high
        low, high = median_interval(step[learned])
        naive += low <= truth <= high
    assert covered >= 0.94 * REPETITIONS, covered / REPETITIONS
    if way is stopped_early and size == 100:
        assert naive < 0.6 * REPETITIONS, "who leaves out the unfinished runs is wrong, and this test would see it"


def race(rng, size, slower, lanes, call=8):
    """A race of rates on some lanes, judged at every visit of the host; per rate what is known of its runs."""
    entrant = np.repeat(np.arange(len(slower)), size)
    races = Races(np.zeros(len(entrant), int), entrant, [0.1], EVERY)
    times = draw(rng, len(entrant), np.asarray(slower)[entrant])
    order, step = list(races.order()), np.zeros(len(entrant), int)
    outcome, out = np.full(len(entrant), Outcome.RUNNING), np.zeros(len(entrant), bool)
    held: list[int] = []
    while order or held:
        while order and len(held) < lanes:
            held.append(order.pop(0))
        here = np.array(held)
        step[here] = np.where(out[here], step[here], np.minimum(times[here], step[here] + call * EVERY))
        outcome[here] = np.where(step[here] == times[here], Outcome.LEARNED, Outcome.RUNNING)
        out = races.lost(outcome, step, out)
        held = [run for run in held if outcome[run] == Outcome.RUNNING and not out[run]]
    learned = outcome == Outcome.LEARNED
    return [CensoredTimes(step[entrant == i].astype(float), learned[entrant == i]) for i in range(len(slower))]


@pytest.mark.acceptance
@pytest.mark.parametrize("slower", [(1.0, 1.3, 2.0), (1.0, 1.0, 1.0)], ids=["unlike", "alike"])
def test_intervals_cover_in_races(slower):
    rng = np.random.default_rng(len(set(slower)))
    covered, given_up = np.zeros(len(slower)), 0
    for _ in range(REPETITIONS):
        for i, times in enumerate(race(rng, 12, slower, lanes=9)):
            low, high = times.interval()
            covered[i] += low <= true_median(slower[i]) <= high
            given_up += not times.learned.all()
    assert given_up > REPETITIONS / 2
    assert np.all(covered >= 0.94 * REPETITIONS), covered / REPETITIONS


def test_survival_is_that_of_scipy():
    """With censoring: at each step at which runs ended, SciPy's empirical survival function."""
    theirs = ecdf(CensoredData(uncensored=WEEKS[ENDED], right=WEEKS[~ENDED])).sf
    ours = CensoredTimes(WEEKS, ENDED).survival()
    np.testing.assert_allclose(ours.share, theirs.evaluate(ours.step), atol=1e-12)


def test_without_censoring_the_band_is_kolmogorovs():
    low, high = CensoredTimes(np.arange(1.0, 401.0), np.ones(400, bool)).survival().band()
    half = kstwobign.ppf(0.95) / 20
    share = 1 - np.arange(1, 401) / 400
    np.testing.assert_allclose(low, np.maximum(share - half, 0), atol=1e-9)
    np.testing.assert_allclose(high, np.minimum(share + half, 1), atol=1e-9)


def test_the_band_holds_the_whole_curve():
    """Exponential times, censored at random; of 400 repetitions at 95%, fewer than 366 by chance once in 1,000."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(400):
        time, lost = rng.exponential(1, 100), rng.exponential(2, 100)
        curve = CensoredTimes(np.minimum(time, lost), time <= lost).survival()
        low, high = curve.band()
        truth, before = np.exp(-curve.step), np.exp(-np.append(curve.step[1:], curve.step[-1]))
        held += bool(np.all((low <= truth) & (before <= high)))
    assert held >= 366


def test_hazards_of_an_exponential_law_are_its_rate():
    """Censored at 2; each of four intervals holds the rate but for about one in twenty, so that three of them do."""
    time = np.random.default_rng(0).exponential(1 / 0.7, 5000)
    times = CensoredTimes(np.minimum(time, 2), time <= 2)
    rates = times.hazards((0, 0.5, 1, 1.5, 2))
    assert sum(low <= 0.7 <= high for _, (low, high), _ in rates) >= 3
    assert sum(each.events for each in rates) == np.sum(time <= 2)
    whole, fitted = times.hazards((0, 2))[0], expon.fit(CensoredData.right_censored(times.step, ~times.learned), floc=0)
    np.testing.assert_allclose(whole.value, 1 / fitted[1], rtol=1e-3)


def test_garwoods_interval_is_where_the_poisson_tails_are_a_fortieth():
    _, (low, high), _ = rate_of(7, 1.0)
    np.testing.assert_allclose([poisson.sf(6, low), poisson.cdf(7, high)], 0.025, rtol=1e-9)
    assert rate_of(0, 2.0).interval[0] == 0 and rate_of(0, 0.0).interval == (0, math.inf)


def test_a_tail_exponent_knows_what_was_cut_off():
    """P(T > t) = t^-3 beyond 1, an eighth cut off at 2: held by the interval, unless those count as ended."""
    time = np.random.default_rng(0).uniform(size=3000) ** (-1 / 3)
    cut, seen = np.minimum(time, 2), time <= 2
    found = CensoredTimes(cut, seen).tail_exponent(1.0)
    assert found.interval[0] < 3 < found.interval[1]
    assert CensoredTimes(cut, np.ones(3000, bool)).tail_exponent(1.0).interval[0] > 3
    fitted = expon.fit(CensoredData.right_censored(np.log(cut), ~seen), floc=0)
    np.testing.assert_allclose(found.value, 1 / fitted[1], rtol=1e-3)


def test_what_has_no_rate_or_tail_says_so():
    times = CensoredTimes(np.array([1.0, np.inf]), np.array([True, False]))
    with pytest.raises(ValueError, match="runs that never learn"):
        times.tail_exponent(0.5)
    with pytest.raises(ValueError, match="positive and finite threshold"):
        times.tail_exponent(0)
    with pytest.raises(ValueError, match="edges >= 0 that rise"):
        times.hazards((2, 1))
    with pytest.raises(ValueError, match="finite exposure"):
        rate_of(1, math.inf)
