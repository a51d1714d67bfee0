"""A race gives up what cannot be the best, and changes nothing about what is."""

import numpy as np
import pytest

import paritylab as pl
from paritylab.statistics import quantile
from paritylab.sweep import Store, Sweep
from paritylab.training.host.early_stopping import Races
from paritylab.training.rules.outcomes import Outcome

RATES = (1.0, 0.1, 0.01, 0.001)


def plan(race=None, seeds=10, support=(0, 1)):
    task = pl.Uniform(pl.Parity(12, support))
    return pl.plan(task, pl.MLP(10), rate=RATES, seeds=seeds, steps=6000, validation=512, lanes=16, race=race)


@pytest.fixture(scope="module")
def plain():
    return plan().run().table()


def t10(table):
    times = table.converged_at.to_numpy(float, na_value=np.inf)
    return {rate: quantile(times[table.rate == rate], 0.1) for rate in RATES}


def test_the_best_rate_has_the_same_runs_and_the_others_end_early(plain):
    raced = plan(race=0.1).run().table()
    given_up = raced.outcome == "raced_out"
    best = min(t10(plain), key=t10(plain).get)
    assert raced[raced.rate == best].equals(plain[plain.rate == best])
    assert raced[~given_up].equals(plain[~given_up])
    assert given_up.sum() > 10
    assert min(t10(raced).values()) == t10(plain)[best]
    assert raced.steps.sum() < plain.steps.sum() / 2


def test_times_of_a_rate_that_was_given_up_are_only_bounded_below(plain):
    known = {row["rate"]: row for row in plan(race=0.1).run().summary()}
    best = min(t10(plain), key=t10(plain).get)
    assert known[best]["unfinished"] == known[best]["not_started"] == 0
    assert np.isfinite(known[best]["interval"]).all()
    given_up = known[0.001]
    assert given_up["runs"] == 10 == given_up["learned"] + given_up["unfinished"] + given_up["not_started"]
    assert given_up["t10"] == given_up["median"] == np.inf
    assert given_up["interval"] is None or given_up["interval"][1] == np.inf


def test_no_entrant_is_given_up_that_could_still_win_by_any_continuation():
    """Random states of a race, each continued at random in many ways: who was given up never has the least t10."""
    rng = np.random.default_rng(0)
    entrant, race = np.repeat(np.arange(3), 8), np.zeros(24, int)
    races, gave_up = Races(race, entrant, [0.1], every=10), 0
    for _ in range(200):
        final = np.where(rng.random(24) < 0.2, np.inf, 10 * rng.geometric(0.1, 24) * (1 + entrant))
        now = 10 * rng.integers(1, 20, 24)
        outcome = np.where(final <= now, Outcome.LEARNED, Outcome.RUNNING)
        lost = races.lost(outcome, np.minimum(final, now).astype(int), np.zeros(24, bool))
        gave_up += lost.any()
        least = [quantile(final[entrant == i], 0.1) for i in range(3)]
        for i in range(3):
            if lost[entrant == i].any():
                assert least[i] > min(least)
    assert gave_up > 20


def test_a_run_that_was_given_up_is_no_result_for_others(tmp_path, plain):
    store = Store.create(tmp_path)
    raced = Sweep([plan(race=0.1)]).run(store).table()
    assert (raced.outcome == "raced_out").any()
    assert len(Sweep([plan(race=0.1)]).jobs()) == 1
    assert Sweep([plan(race=0.1)]).results(store).missing == 0
    assert Sweep([plan()]).results(store).missing == (raced.outcome == "raced_out").sum()
    assert Sweep([plan(race=0.1, seeds=9)]).results(store).missing == 9 * len(RATES), "another race"
    whole = Sweep([plan()]).run(store).table()
    assert whole.outcome.tolist() == plain.outcome.tolist()
    # What is now known in full is not hidden by the race.
    assert Sweep([plan(race=0.1)]).results(store).table().outcome.tolist() == plain.outcome.tolist()


def test_jobs_do_not_cut_a_race():
    sweep = Sweep([plan(race=0.1, seeds=3), plan(race=0.1, seeds=3, support=(1, 2)), plan(support=(2, 3), seeds=3)])
    assert [len(job.runs) for job in sweep.jobs(runs_per_job=5)] == [12, 12, 5, 5, 2]


def test_a_quantile_outside_zero_to_one_is_said():
    with pytest.raises(ValueError, match="race=2"):
        plan(race=2.0)
