"""Figures 1 (right), 2, 9 and 10 of hidden-progress: what they measure, on times whose law is known."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from judging import results_of, values, verdicts

from paritylab.experiments.hidden_progress import (
    figure1_right,
    figure2_centre,
    figure2_left,
    figure2_right,
    figure9,
    figure10,
)
from paritylab.experiments.hidden_progress.shared.grid import RATES
from paritylab.experiments.hidden_progress.shared.medians import known
from paritylab.experiments.measures import UNKNOWN
from paritylab.sweep import Results, Sweep


def trained(rows: pd.DataFrame) -> Results:
    """Results as a sweep would give them; an infinite time is a run that did not learn."""
    times = [int(time) if math.isfinite(time) else None for time in rows.converged_at]
    outcomes = ["out_of_steps" if time is None else "learned" for time in times]
    ended = [{"converged_at": time, "outcome": outcome} for time, outcome in zip(times, outcomes, strict=True)]
    return results_of([{**row, **end} for row, end in zip(rows.to_dict("records"), ended, strict=True)])


def power_laws(panels, exponent, steps=math.inf):
    """Times that scatter about 100 n^exponent(n, k), rounded to tens."""
    rng = np.random.default_rng(0)
    rows = []
    for curves in panels:
        for n, k, seed in itertools.product(curves.sizes, curves.degrees, range(curves.seeds)):
            time = 10 * round(10 * n ** exponent(n, k) * math.exp(0.1 * rng.normal()))
            row = {"setting": curves.setting, "rate": curves.rate, "n": n, "k": k, "seed": seed}
            row["validation"] = curves.validation
            rows.append({**row, "converged_at": time if time <= steps else math.inf})
    return trained(pd.DataFrame(rows).drop_duplicates(["setting", "rate", "n", "k", "seed", "validation"]))


def test_exponents_of_figure_1_are_found():
    settings = figure1_right.SETTINGS["quick"]
    both = [settings.curves, settings.reading]
    results = power_laws(both, lambda n, k: 0.25 * k)
    found = verdicts(figure1_right, settings, results)
    assert {verdict for name, verdict in found.items() if name != "k3/power"} == {"holds"}
    ours = values(figure1_right, settings, results)
    for k in (2, 3, 4):
        low, high = ours[f"k{k}/exponent"].interval
        assert low <= 0.25 * k <= high and high - low < 0.2
    exponential = power_laws(both, lambda n, k: k * n / 40 / math.log(n))
    assert verdicts(figure1_right, settings, exponential)["k4/power"] == "fails"
    constant = verdicts(figure1_right, settings, power_laws(both, lambda n, k: 0.0))
    assert constant["k3/exponent"] == constant["8192/k3/exponent"] == "fails" and constant["k3/steeper"] != "holds"
    search = verdicts(figure1_right, settings, power_laws(both, lambda n, k: 1.2 * k))
    assert search["k3/exponent"] == "fails"


def test_a_curve_halts_where_more_than_half_do_not_learn():
    curves, reading = figure1_right.SETTINGS["quick"].curves, figure1_right.SETTINGS["quick"].reading
    times = np.array([[10.0, 20, 30, 40]] * 20 + [[10.0, 20, np.inf, 40]] * 20)
    assert known(times) == 2
    settings = figure1_right.Settings(curves, reading, (2, 3))
    results = power_laws(
        [curves, reading], lambda n, k: 0.25 * k, steps=650
    )  # k = 3 learns within that at n = 10 alone
    found = verdicts(figure1_right, settings, results)
    assert found["k2/exponent"] == "holds" and found["k3/steeper"] == "inconclusive"
    assert values(figure1_right, settings, results)["k3/exponent"] == UNKNOWN


@pytest.mark.parametrize(("curvature", "verdict"), [(0.02, "holds"), (-0.02, "fails")])
def test_figure_2_right_tells_a_steeper_law_from_a_flatter(curvature, verdict):
    settings = figure2_right.SETTINGS["quick"]
    results = power_laws([settings.curves], lambda n, k: 0.15 * k + curvature * n / math.log(n))
    assert set(verdicts(figure2_right, settings, results).values()) == {verdict}


def test_figure_10_shares_points_between_panels():
    sizes = ("ii", (10, 30)), ("ii-larger", (10, 30, 60, 90)), ("v", (10, 30))
    curves = tuple(figure10.curves_of(name, chosen, (2, 3), 40, 10**6) for name, chosen in sizes)
    settings = figure10.Settings(curves, (2, 3), figure10.SETTINGS["quick"].printed)
    assert len(list(figure10.plan(settings))) == 2 * 4 + 2 * 2 + 2  # each point once
    results = power_laws(settings.everything, lambda n, k: 0.3 * k + 0.01 * n / math.log(n))
    found = verdicts(figure10, settings, results)
    assert set(found.values()) == {"holds"} and "ii-larger/k3/degrades" in found


@pytest.mark.parametrize(("slower", "verdict"), [(0.3, "holds"), (0.0, "fails")])
def test_figure_10_tells_what_validation_does(slower, verdict):
    """On 8,192 points the exponent of the easier degree is larger, or is not."""
    curves = tuple(figure10.curves_of(name, (10, 20, 30), (2, 3), 40, 10_000) for name in ("iii", "v"))
    reading = figure10.validated(curves[0], figure10.READING)
    settings = figure10.Settings(curves, (2, 3), figure10.SETTINGS["quick"].printed, (reading,))
    own = power_laws([*curves, settings.printed], lambda n, k: 0.3 * k).table()
    other = power_laws([reading], lambda n, k: 0.3 * k + slower * (k == 2)).table()
    found = verdicts(figure10, settings, trained(pd.concat([own, other]).drop(columns=["run", "outcome"])))
    assert found["iii/k3/validation"] == verdict


def test_random_search_fails_every_claim_of_figure_2_left():
    trials = 4000
    rng = np.random.default_rng(0)
    frames = []
    for panel in figure2_left.PANELS:
        times = rng.geometric(1 / math.comb(30, 3), trials).astype(float)
        frames.append(pd.DataFrame({"panel": panel.name, "converged_at": times}))
    settings = figure2_left.Settings({"xiv": trials, "ii": trials})
    results = trained(pd.concat(frames))
    found, ours = verdicts(figure2_left, settings, results), values(figure2_left, settings, results)
    assert found["ii/early"] == found["ii/rises"] == "fails"
    # In closed form: 1 - 2^(-1/4), (1 - 2^(-1/2)) / (1/2), and a tail like its own.
    for name, value in (("early", 1 - 2**-0.25), ("rises", 2 - math.sqrt(2)), ("heavier-than-search", 1)):
        low, high = ours[f"xiv/{name}"].interval
        assert low <= value <= high
    assert ours["xiv/upper-tail"].value == pytest.approx(math.log(50) / math.log(1.98), rel=0.15)


def centre(init_share):
    """Logarithms of times are Gaussian, and the initialization makes the given part of their variance."""
    rng = np.random.default_rng(0)
    rows = []
    for panel in figure2_centre.PANELS:
        inits, sequences = figure2_centre.SETTINGS["quick"].grids[panel.name]
        own = math.sqrt(init_share) * rng.normal(size=(inits, 1))
        log_times = 6 + own + math.sqrt(1 - init_share) * rng.normal(size=(inits, sequences))
        for (seed, sequence), value in np.ndenumerate(log_times):
            time = 10 * math.ceil(math.exp(value) / 10)
            rows.append({"panel": panel.name, "seed": seed, "sequence": sequence, "converged_at": time})
    frame = pd.DataFrame(rows)
    frame["recorded_step"] = [[0, time] for time in frame.converged_at]
    frame["fresh_loss"] = [[1.0, 0.0]] * len(frame)
    return trained(frame)


def test_figure_2_centre_finds_the_part_of_the_initialization():
    settings = figure2_centre.SETTINGS["quick"]
    found, ours = verdicts(figure2_centre, settings, centre(0.9)), values(figure2_centre, settings, centre(0.9))
    # Of ranks of Gaussians the correlation is 6/pi asin(rho/2).
    assert ours["xiv/time"].value == pytest.approx(6 / math.pi * math.asin(0.45), abs=0.1)
    assert found["xiv/time"] == found["xiv/path"] == "holds"
    assert verdicts(figure2_centre, settings, centre(0.1))["xiv/time"] == "fails"


def test_figure_2_centre_crosses_initializations_with_batches():
    work = Sweep(figure2_centre.plan(figure2_centre.SETTINGS["quick"])).works[0]
    seeds, (inits, sequences) = work.plan.seeds, figure2_centre.SETTINGS["quick"].grids["xiv"]
    pairs = set(zip(seeds.init.tolist(), seeds.data.tolist(), strict=True))
    assert pairs == set(itertools.product(range(inits), range(sequences))) and len(set(work.names)) == len(pairs)
    assert len({cell.task.target.support for cell in work.plan.cells}) == 1


def test_alpha_is_the_smallest_exponent_that_bounds_the_times():
    rng = np.random.default_rng(0)
    times = 10.0 * rng.integers(1, 40, (25, 3, 4)) * np.array([1, 3, 8])[:, None]
    c, alpha = figure9.scaling(times)
    t10 = [min(np.percentile(times[:, place, rate], 10) for rate in range(4)) for place in range(3)]
    bounded = lambda exponent: all(
        t <= c * (n - 9) ** exponent * (1 + 1e-12) for n, t in zip(figure9.SIZES, t10, strict=True)
    )
    assert c == t10[0] and bounded(alpha) and not bounded(alpha - 1e-6)
    times[:23, 2] = np.inf
    assert figure9.scaling(times)[1] == math.inf


def test_figure_9_on_power_laws():
    quick = figure9.SETTINGS["quick"]
    settings = figure9.Settings(60, 10**7, quick.architectures, quick.degrees, quick.batches, quick.readings)
    rng = np.random.default_rng(0)
    rows = []
    for (setting, k, batch, points), n, rate in itertools.product(settings.cells, figure9.SIZES, RATES):
        times = 100 * (n - 9) ** (0.4 * k) / min(rate, 0.1) * np.exp(0.1 * rng.normal(size=60))
        point = {"setting": setting, "k": k, "batch": batch, "validation": points, "n": n, "rate": rate}
        rows.append(pd.DataFrame({**point, "seed": range(60), "converged_at": 10 * np.ceil(times / 10)}))
    results = trained(pd.concat(rows))
    assert set(verdicts(figure9, settings, results).values()) == {"holds"}
    assert values(figure9, settings, results)["polynet/k3/exponent"].value == pytest.approx(1.2, abs=0.05)
