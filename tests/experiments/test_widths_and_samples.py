"""Figures 4, 14 and 15, section C.7 and the robust space of hidden-progress: what they compute from runs.

The runs are made up here, with times for which the answers are known; the whole experiments run at quick scale.
"""

import math

import numpy as np
import pandas as pd
import pytest
from judging import results_of, values, verdicts

import paritylab as pl
from paritylab.cube import cube
from paritylab.experiments.base import load
from paritylab.experiments.hidden_progress import (
    counterexample,
    figure4_right,
    figure15,
    robust_space,
    width_times,
)
from paritylab.experiments.hidden_progress.shared import finite_samples

# Times against width.


def width_rows(settings, time):
    """Runs whose time is a function of width and seed; those that are too narrow are good from step 200 on."""
    steps = np.arange(0, 1000, 10)
    return [
        {
            "size": n,
            "width": width,
            "seed": seed,
            "converged_at": None if width < width_times.K else time(width, seed),
            "recorded_step": steps.tolist() if width < width_times.K else None,
            "fresh_error": np.where(steps >= 200, 0.44, 0.46).tolist() if width < width_times.K else None,
        }
        for n in settings.sizes
        for width, seeds in settings.seeds[n]
        for seed in range(seeds)
    ]


def test_times_that_fall_like_random_search_fail_and_level_ones_hold():
    experiment = load("hidden-progress/fig4-left")
    settings = experiment.SETTINGS["quick"]
    falling = results_of(width_rows(settings, lambda width, seed: 10_000 * (100 + seed) // width))
    level = results_of(width_rows(settings, lambda width, seed: 1000 + 10_000 * seed // (40 * width)))
    found = verdicts(experiment, settings, falling)
    assert found["n40/no-speed-up"] == found["n40/plateau"] == "fails"
    ours = values(experiment, settings, falling)
    assert ours["n40/no-speed-up"].value == pytest.approx(-1, abs=0.1)  # widths have other seeds
    assert ours["n40/weak/r1"].value == 1
    assert set(verdicts(experiment, settings, level).values()) == {"holds"}
    alike = results_of(width_rows(settings, lambda width, seed: 1000 + 100 * seed))
    assert verdicts(experiment, settings, alike)["n40/tail"] != "holds"


def test_few_runs_of_the_widest_networks_can_be_judged():
    """At paper scale 10 runs stand beside 1,000; widths are drawn again each by itself."""
    experiment = load("hidden-progress/fig4-left")
    settings = experiment.SETTINGS["paper"]
    assert {10, 25, 1000} <= {seeds for _, seeds in settings.seeds[40]}
    level = results_of(width_rows(settings, lambda width, seed: 1000 + 10_000 * (seed % 10) // (4 * width)))
    assert set(verdicts(experiment, settings, level).values()) == {"holds"}


def test_figure_14_is_figure_4_for_several_n():
    experiment = load("hidden-progress/fig14")
    settings = experiment.SETTINGS["quick"]
    results = results_of(width_rows(settings, lambda width, seed: 1000 + 10_000 * seed // (40 * width)))
    assert set(verdicts(experiment, settings, results).values()) == {"holds"}


def test_a_streak_ends_at_its_tenth_good_look():
    steps = np.arange(0, 500, 10)
    good = np.ones(50, bool)
    good[:11] = False  # steps 0 to 100
    good[15] = False  # step 150: a streak of four is none
    curve = pd.DataFrame({"step": steps, "fresh_error": np.where(good, 57 / 128, 58 / 128)})
    assert width_times.end_of_streak(curve) == 160 + 90
    assert width_times.end_of_streak(curve[curve.step < 250]) == math.inf
    # The start is no look: a network that knows nothing has not been trained yet.
    assert width_times.end_of_streak(curve.assign(fresh_error=0.0)) == 100


# Finite samples.


def sample_rows(settings, train, test):
    """Runs with given times (or None) of zero train and test error, functions of m and decay."""
    steps = np.arange(0, settings.steps + 1, settings.record_every)
    zero = lambda time: np.where(steps >= (math.inf if time is None else time), 0.0, 0.3).tolist()
    return [
        {
            "m": m,
            "decay": decay,
            "seed": seed,
            "converged_at": test(m, decay),
            "recorded_step": steps.tolist(),
            "sample_error": zero(train(m, decay)),
            "fresh_error": zero(test(m, decay)),
        }
        for m in settings.samples
        for decay in settings.decays
        for seed in range(settings.seeds)
    ]


def grokking_test_time(m, decay):
    return None if m <= 200 or decay > 0.05 or (decay == 0 and m < 1000) else 2000 if m >= 1000 else 10_000


@pytest.mark.parametrize("experiment", [figure4_right, figure15])
def test_grokking_is_found_where_it_is(experiment):
    settings = experiment.SETTINGS["quick"]
    fitting = lambda m, decay: None if decay > 0.05 else 1500 if m >= 1000 else 1000
    results = results_of(sample_rows(settings, fitting, grokking_test_time))
    assert set(verdicts(experiment, settings, results).values()) == {"holds"}
    together = results_of(sample_rows(settings, grokking_test_time, grokking_test_time))
    found = verdicts(experiment, settings, together)
    assert {found[name] for name in found if name.endswith("groks")} == {"fails"}
    if experiment is figure4_right:
        ours = values(experiment, settings, results)
        assert ours["m500/delay"] == (9000, (9000, 9000)) and ours["m500/groks"].value == 10


def test_a_run_that_ends_between_two_records_fitted_by_then():
    settings = finite_samples.Settings(30, (400,), (0.01,), 1, 300, 100)
    rows = sample_rows(settings, lambda m, decay: 300, lambda m, decay: 250)
    (run,) = finite_samples.fits(results_of(rows)).itertuples()
    assert (run.train_time, run.test_time) == (250, 250)


# Section C.7.


def test_gradients_of_squares_by_the_definition():
    """Whole sums over the cube by numpy, the chain rule written out for two hidden layers."""
    n, k = 5, 4
    rows = counterexample.enumerated(3, n, k, draws=8)
    x, rng = np.asarray(cube(n), float), np.random.default_rng([3, n, k])
    y = np.prod(x[:, :k], axis=1)
    for row in rows:
        w1, b1, w2, b2, u = (
            rng.integers(-1, 2, (2, n)), rng.integers(-1, 2, 2), rng.integers(-1, 2, (1, 2)), rng.integers(-1, 2, 1),
            rng.choice([-1, 1], 1),
        )  # fmt: skip
        z1 = x @ w1.T + b1
        z2 = z1**2 @ w2.T + b2
        back = (y[:, None] * u * 2 * z2) @ w2 * 2 * z1
        assert row["end_to_end"] == np.abs(back.T @ x).max() / len(x)
        assert row["correlation"] == abs(np.mean(y * (z2**2 @ u)))
        assert row["alone"] == 0
    assert max(row["end_to_end"] for row in rows) > 0


def test_the_first_layer_alone_sees_two_bits_and_no_more():
    (row,) = counterexample.enumerated(2, 6, 2, draws=1)
    weights = np.random.default_rng([2, 6, 2]).integers(-1, 2, (4, 6))
    assert row["alone"] == 2 * np.abs(weights[:, :2]).max()  # E[x_0 x_1 x_0 2 (w . x + b)] = 2 w_1
    assert all(row["alone"] == row["correlation"] == 0 for row in counterexample.enumerated(2, 6, 3, draws=5))


def test_counterexample_from_made_up_runs():
    case = counterexample.Case(3, 10, (4,), 20_000)
    cases = (case._replace(degrees=(4, 5)),)
    settings = counterexample.Settings(40, cases, enumerated=9, draws=12, layerwise=(case,), readings=(case,))
    learned, stuck = ("learned", 600), ("out_of_steps", None)
    trained = [
        {"case": f"L3/n10/k{k}", "outcome": outcome, "converged_at": time}
        for k, (outcome, time) in ((4, learned), (5, stuck))
        for _ in range(40)
    ]
    others = {"zero-bias": learned} | dict.fromkeys(("first", "rest", "glorot", "larger", "128-points"), stuck)
    trained += [
        {"case": f"{name}/n10/k4", "outcome": outcome, "converged_at": time}
        for name, (outcome, time) in others.items()
        for _ in range(40)
    ]
    exact = [
        {"case": f"exact/L{layers}/k{k}", **row}
        for layers, degrees in counterexample.EXACT_DEGREES.items()
        for k in degrees
        for row in counterexample.enumerated(layers, 9, k, 12)
    ]
    found = verdicts(counterexample, settings, results_of([*trained, *exact]))
    assert found["L3/n10/k4/learns"] == found["L3/n10/k5/fails"] == "holds"
    assert found["layerwise/first/n10/k4"] == found["layerwise/rest/n10/k4"] == "holds"
    assert found["L3/glorot"] == "fails" != found["L3/zero-bias"]
    zeros = [claim.name for claim in counterexample.claims(settings) if claim.region == (0, 0)]
    assert len(zeros) == 8 and {found[name] for name in zeros} == {"holds"}


# The robust space.


def test_the_balanced_design_is_an_orthogonal_array_and_the_full_one_is_full():
    kinds = [*zip(*robust_space.BALANCED, strict=True)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert len(set(zip(kinds[i], kinds[j], strict=True))) == 9 == len(robust_space.BALANCED)
    robust = [place for place in robust_space.full_grid() if "*" not in place.setting]
    assert len(robust) * len(robust_space.ALL) == 15 * 3 * 3 * 11 * 3 * 3


def robust_rows(settings, seeds, learns):
    """Times and outcomes, if so many seeds learn."""
    return results_of([
        {
            "setting": place.setting, "n": place.n, "batch": place.batch, "k": each.k, "rate": rate, "seed": seed,
            "start": robust_space.STARTS[each.start], "loss_name": robust_space.LOSS_NAMES[each.loss],
            "outcome": "learned" if seed < learns(place, each, rate) else "diverged",
            "converged_at": 100 * (1 + 4 * (each.loss == 2)) if seed < learns(place, each, rate) else None,
        }
        for place in settings.places
        for each in settings.combinations
        for rate in robust_space.RATES
        for seed in range(seeds)
    ])  # fmt: skip


def test_combinations_count_at_their_best_rate():
    quick = robust_space.SETTINGS["quick"]
    settings = robust_space.Settings(10, quick.places[:2], quick.combinations)
    lost = settings.combinations[4]
    unsolved = lambda place, each: place.setting == "vii" and each == lost
    results = robust_rows(settings, 10, lambda place, each, rate: 1 if rate != 0.1 or unsolved(place, each) else 9)
    ours = values(robust_space, settings, results)
    assert {name: each.value for name, each in ours.items()} == {
        **{"i": 1.0, "vii": pytest.approx(8 / 9)},
        **{"loss/square": 1.0, "loss/logistic": 5.0},
    }
    assert ours["vii"].interval[1] == 1  # the steps of the quick scale are cut


@pytest.mark.parametrize(("steps", "verdict"), [(robust_space.STEPS, "fails"), (3000, "inconclusive")])
def test_what_was_cut_short_and_is_not_solved_is_not_known(steps, verdict):
    places = (robust_space.Place("i", 20, 64, steps), robust_space.Place("i", 20, 32, robust_space.STEPS))
    settings = robust_space.Settings(25, places, robust_space.ALL[:3])  # with each of the losses
    results = robust_rows(settings, 25, lambda place, each, rate: 25 * (place.batch == 32))
    assert verdicts(robust_space, settings, results)["i"] == verdict


def test_square_loss_and_powers_are_told_from_hinge_loss():
    place = robust_space.Place
    places = tuple(place(setting, n, 64) for setting in ("iv", "v", "vi", "*ii", "i") for n in (20, 30))
    settings = robust_space.Settings(25, places, robust_space.ALL)
    square = robust_space.LOSS_NAMES.index("square")
    lost = lambda place, each: place.setting != "i" and each.loss == square and each.start > 0
    found = robust_rows(settings, 25, lambda place, each, rate: 0 if lost(place, each) else 20)
    ours = verdicts(robust_space, settings, found)
    assert {ours[name] for name in ("hinge", "powers/diverge", "powers/hinge")} == {"holds"}
    assert ours["iv"] == "fails" and ours["i"] == "holds"
    everywhere = robust_rows(settings, 25, lambda place, each, rate: 0 if each.start > 0 else 20)
    ours = verdicts(robust_space, settings, everywhere)
    assert ours["hinge"] == ours["powers/hinge"] == "fails"


def test_initialization_and_loss_compile_nothing_new():
    quick = robust_space.SETTINGS["quick"]
    plans = list(robust_space.plan(robust_space.Settings(2, quick.places[:1], quick.combinations)))
    assert len(plans) == 9 and len({plan.cells[0].shape for plan in plans}) == 1
    drawn = [plan.cells[0].network(20, key=pl.root_key(1)) for plan in plans]
    assert len({float(np.abs(network.hidden[0].weight).sum()) for network in drawn}) == 3
