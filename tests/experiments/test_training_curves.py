"""Figures 3, 5, 6, 13, 16, 17 and 18 of hidden-progress: what they measure, on made-up curves and by other routes."""

import numpy as np
import pandas as pd
import pytest
from judging import results_of, values

from paritylab.experiments.hidden_progress import (
    figure1_left,
    figure3,
    figure5,
    figure6,
    figure13,
    figure16,
    figure17,
    figure18,
)
from paritylab.experiments.hidden_progress.shared import curves, measures, progress
from paritylab.sweep import Results

STEPS = np.arange(0, 101, 10)


def made_up(runs: list[dict]) -> Results:
    """Results of runs that were recorded at `STEPS`, unless they say otherwise."""
    return results_of([{"recorded_step": STEPS, **run} for run in runs])


def falling(left: int, past: int) -> np.ndarray:
    """An error that is below 0.4 from step `left` on and below 0.1 from step `past` on."""
    return np.where(left > STEPS, 0.5, np.where(past > STEPS, 0.3, 0.0))


def run(panel: str, seed: int, error: np.ndarray, outcome: str = "learned", **more) -> dict:
    ended = 100 if outcome == "learned" else None
    return {"panel": panel, "seed": seed, "outcome": outcome, "converged_at": ended, "fresh_error": error, **more}


def test_the_plateau_is_what_comes_before_the_drop():
    results = made_up(
        [run("a", 0, falling(60, 80)), run("a", 1, falling(20, 80)), run("a", 2, falling(0, 0), "diverged")]
    )
    assert curves.plateau_fractions(results.curves()).fraction.tolist() == [0.75, 0.25]


def test_a_slowdown_may_be_infinite():
    slow = measures.slowdown(np.array([np.inf, np.inf, 30.0] * 2), np.array([10.0] * 6))
    assert slow.value == np.inf and slow.interval[0] == 3.0
    assert measures.slowdown(np.full(5, np.inf), np.full(5, 10.0)).interval == (-np.inf, np.inf)


def test_figure_1_counts_what_is_learned_and_how_long_it_is_flat():
    settings = figure1_left.SETTINGS["quick"]
    names = [panel.name for panel in settings.panels]
    stuck = np.full(len(STEPS), 0.5)
    results = made_up([
        run(name, seed, falling(20 * (1 + number), 80)) for number, name in enumerate(names[:3]) for seed in range(6)
    ] + [
        run(name, seed, falling(60, 80) if seed else stuck, "running" if seed == 0 else "learned")
        for name in names[3:] for seed in range(6)
    ])  # fmt: skip
    measured = values(figure1_left, settings, results)
    assert [measured[f"{name}/plateau"].value for name in names] == [0.25, 0.5, 0.75, 0.75, 0.75, 0.75, 0.75]
    assert [measured[f"{name}/learns"].value for name in names] == [1, 1, 1, *[5 / 6] * 4]


def test_figures_6_and_17_tell_a_plateau_from_continuous_progress():
    names = [panel.name for panel in (*figure6.SETTINGS["paper"].panels, *figure17.SETTINGS["quick"].panels)]
    flat = lambda name: "cubic-1000" not in name or name.endswith("B32")
    seeds = range(6)
    results = made_up([
        run(name, seed, falling(60, 80) if flat(name) else falling(20, 80)) for name in names for seed in seeds
    ])  # fmt: skip
    measured = values(figure6, figure6.SETTINGS["paper"], results)
    assert measured["polynet/B1/plateau"].value == 0.75 and measured["cubic-1000/B1/plateau"].value == 0.25
    assert measured["harder-n"].value == 1.0
    measured = values(figure17, figure17.SETTINGS["quick"], results)
    assert measured[f"{figure17.WIDE.name}/early"].value == 0.3  # at step 20 of 100
    assert measured[f"{figure17.RECTIFIED.name}/late"].value == 0.5
    assert measured["larger-batch"].value == measured["against-relu"].value == 0.5
    assert measured["batch-slope"].value == pytest.approx(-0.1)  # 0.5 in five doublings


def test_figure_16_counts_what_is_learned():
    settings = figure16.SETTINGS["quick"]
    outcome = lambda seed: "learned" if seed < 9 else "out_of_steps"
    left = {0.0: 20, 0.1: 30, 0.25: 80}  # nearly as 1 / (1 - 2p)^2
    runs = [
        run(figure16.name_of(batch, flip), seed, falling(left[flip], 80), outcome(seed))
        for batch in settings.batches
        for flip in settings.flips
        for seed in range(settings.seeds)
    ]
    results = made_up([*runs, {"panel": "factor", "factor": 0.5, "recorded_step": None}])
    measured = values(figure16, settings, results)
    assert measured["B32/p0.25/learns"].value == 9 / 12 and measured["B32/p0.25/nontrivial"].value == 1
    assert measured["B128/slower"].value == pytest.approx(2, abs=0.05)
    bits = np.log2(30 * 29 * 28 / 6)
    assert measured["noise-limit"].value == pytest.approx(32 * 100 * figure16.capacity(0.25) / bits)
    alike = [{**each, "fresh_error": falling(20, 80)} for each in runs]
    results = made_up([*alike, {"panel": "factor", "factor": 0.5, "recorded_step": None}])
    assert values(figure16, settings, results)["B128/slower"].value == pytest.approx(0)


@pytest.mark.parametrize("flip", [0.1, 0.49])
def test_noise_multiplies_correlations(flip):
    assert figure16.noise_factor(flip)["factor"] == pytest.approx(1 - 2 * flip, abs=1e-5)


def movement(case, relevant: float) -> np.ndarray:
    """Weights of a run: relevant ones move by `relevant` a step, one other by 0.001 a step."""
    weights = np.zeros((len(STEPS), case.neurons, progress.N))
    weights[:, -1, 1] = relevant * STEPS
    weights[:, 0, 7] = 0.001 * STEPS
    return weights


def test_figures_3_and_13_compare_with_noise():
    """The relevant weight moves four times as fast as noise, and is outside of the band from the first step on."""
    rows = []
    for case in progress.TRAINED:
        for seed in range(6):
            for labels, speed in (("parity", 0.004), ("noise", 0.0)):
                weights = movement(case, speed)
                rho = np.sqrt(STEPS) if labels == "noise" else np.abs(weights).max(axis=(1, 2)) / 0.001
                rows.append(
                    run(
                        case.name,
                        seed,
                        falling(60, 80),
                        "learned" if speed else "out_of_steps",
                        labels=labels,
                        weights=weights / 0.001,
                        progress=rho,
                        fresh_loss=2 * falling(60, 80),
                    )
                )
    results = made_up(rows)
    for experiment in (figure3, figure13):
        measured = values(experiment, experiment.SETTINGS["quick"], results)
        large = progress.CASES[3].name
        assert measured[f"{large}/flat"].value == 0.5  # at step 50 of 100
        assert measured[f"{large}/distinguishable"].value == 1.0
        assert measured[f"{large}/leaves"].value == pytest.approx(10 / 60)
    measured = values(figure13, figure13.SETTINGS["quick"], results)
    assert measured["account/batch"].value == pytest.approx(0)
    assert np.isnan(measured["relu-10/B32/different-times"].value)  # one neuron moves
    measured = values(figure3, figure3.SETTINGS["quick"], results)
    assert measured["neuron/B512/relevant"].value == 1.0
    assert measured["neuron/B512/noise/root"].value == pytest.approx(0.5)
    assert measured["neuron/B512/drift"].value == pytest.approx(400 / 10)


def test_neurons_that_learn_one_after_the_other():
    """Two neurons move to 1, at steps 30 and 90; the controls stay."""
    weights = np.zeros((len(STEPS), 2, progress.N))
    weights[STEPS >= 30, 0, 0] = weights[STEPS >= 90, 1, 2] = 1.0
    rows = [
        run("a", 0, falling(60, 80), labels="parity", weights=weights, progress=np.ones(len(STEPS))),
        run("a", 0, falling(60, 80), labels="noise", weights=weights, progress=0.01 * np.sqrt(STEPS)),
    ]
    assert progress.spreads(made_up(rows).curves()) == [pytest.approx(60 / 90)]
    weights[:, 1, 2] = weights[:, 0, 0]
    assert progress.spreads(made_up(rows).curves()) == [0.0]


def test_times_of_figure_5_lie_on_its_curve():
    times, curve = figure5.times_of_descent(60, 0.01, 2), figure5.curve_of_descent(60, 0.01, 2, 40)
    error = pd.Series(curve.exact_error.to_numpy(), index=curve.step)
    assert np.all(np.diff(error) <= 1e-9) and error.iloc[-1] == 0.0 and error.index[-1] == times["zero"]
    for name, level in (("near_chance", 0.49), ("left", 0.4), ("past", 0.1)):
        assert np.all(error[error.index >= times[name]] < level) and np.all(error[error.index < times[name]] >= level)


def test_figure_18_sees_a_wrong_activation():
    (zigzag,) = figure18.properties("Zigzag", (3,))
    (wave,) = figure18.properties("TriangleWave", (3,))
    assert (zigzag["off_points"], zigzag["pieces"]) == (0.0, 3) and zigzag["off_wave"] > 1
    assert (wave["off_points"], wave["off_wave"], wave["off_half_period"]) == (0.0, 0.0, 0.0)
    assert figure18.printed_wave((2, 3)) == [{"k": 2, "off_points": 2.0}, {"k": 3, "off_points": 2.0}]
    k = np.arange(-4, 5, 2)
    assert figure18.parity_of_sum(4, k).tolist() == [1.0, -1.0, 1.0, -1.0, 1.0]
