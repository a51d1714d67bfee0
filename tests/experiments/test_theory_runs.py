"""The theory runs of hidden-progress, made small: their claims come out, and their numbers by another route."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from judging import results_of, values, verdicts

from paritylab.analysis.gradients.gaps import majority_gap
from paritylab.analysis.gradients.sums import gradient_by_sums
from paritylab.experiments.base import judge
from paritylab.experiments.hidden_progress import proposition5, theorem4, theorem7, theorem8
from paritylab.networks import relu
from paritylab.sweep import Sweep


def run(experiment, settings, folder):
    """All of an experiment but its size, in this process: its results, and verdict and value of each claim."""
    with ThreadPoolExecutor(1) as here:
        results = Sweep(experiment.plan(settings)).run(folder, executor=here)
    assert results.missing == 0
    measured = values(experiment, settings, results)
    return results, {
        name: (said, measured[name].value) for name, said in verdicts(experiment, settings, results).items()
    }


def test_proposition_5_made_small(tmp_path):
    settings = proposition5.Settings(((9, 2), (31, 4)), 5, ((9, 2), (15, 2)), 30, ((9, 2),))
    _, claims = run(proposition5, settings, tmp_path)
    for neuron in proposition5.NEURONS:
        assert claims[f"noise/{neuron}/below"] == ("holds", 1) and claims[f"noise/{neuron}/above"] == ("holds", 0)
    assert claims["noise/tie"] == ("fails", 0)
    assert claims["samples/n9/k2/hoeffding"][1] == 1


def test_sums_over_examples_are_the_gradient_that_is_meant():
    n, k, count = 15, 4, 200_000
    mean = proposition5.sum_over(np.random.default_rng(0), n, k, count) / count
    exact = gradient_by_sums(np.ones(n, int), range(k), relu).weight
    assert np.abs(mean - exact).max() < 5 * np.sqrt(0.5 / count)
    assert np.abs(exact[:k]) == pytest.approx(majority_gap(n, k).gamma)


def test_theorem_7_made_small(tmp_path, monkeypatch):
    monkeypatch.setattr(theorem7, "BLOCKS", (64, 512))
    monkeypatch.setattr(theorem7, "CHUNK", 5)
    settings = theorem7.Settings(draws=20, starts=5, blocks=(12, 64))
    _, claims = run(theorem7, settings, tmp_path)
    for k in theorem7.DEGREES:
        for name in ("solver", "unequal", "corollary11"):
            assert claims[f"k{k}/{name}"][0] == "holds"
    assert claims["k3/share"][1] == pytest.approx(1 - 2.88 / np.sqrt(512), abs=0.03)
    for name in ("k3/corollary12", "k4/corollary12", "lemma5/low", "lemma5/high", "lemma6/low", "lemma6/high"):
        assert claims[name] == ("holds", 0), name
    assert claims["lemma6/printed-low"][0] == claims["lemma6/printed-high"][0] == "fails"


def test_theorem_8_made_small(tmp_path, monkeypatch):
    monkeypatch.setattr(theorem8, "CASES", ((2, 2),))
    settings = theorem8.Settings(24, 0.45, 0.45, ((2, (2, 3)),), lanes=24)
    results, claims = run(theorem8, settings, tmp_path)
    assert {verdict for name, (verdict, _) in claims.items() if name != "k2/exponent"} == {"holds"}
    runs = theorem8.histories(settings, results, 2, 2)
    # For two blocks the population's part of the movement is rate * (w_j1 / |w_j|_1) with j the other block, summed
    # over all steps: half of the rate a step at the start, where all weights are signs.
    first, then = (
        theorem8.drift(runs.weights[:, :2], 1.0, runs.steps[:2])[:, 1],
        np.abs(runs.weights[:, 1]),
    )
    part = (then[..., 0] / then.sum(axis=-1))[:, ::-1]
    assert np.abs(first) == pytest.approx(theorem8.EVERY * (0.5 + part) / 2, rel=1e-6)
    assert 0 < runs.martingale[runs.good, -1].max() < 0.2


@pytest.mark.parametrize(("power", "verdict"), [(3, "holds"), (0, "fails")])
def test_the_exponent_of_theorem_8_is_found(power, verdict):
    settings = theorem8.SETTINGS["quick"]
    rng = np.random.default_rng(0)
    logs = {block: theorem8.Schedule.of(2, block, settings).steps / (3 * block - 2) ** 3 for block in (3, 5)}
    times = {(2, n): part * (3 * n - 2) ** power * np.exp(0.1 * rng.normal(size=30)) for n, part in logs.items()}
    ours = theorem8.exponent(settings, 2, (3, 5), theorem8.Data({}, times))
    (claim,) = [each for each in theorem8.claims(settings) if each.name == "k2/exponent"]
    assert judge(claim.region, ours.interval) == verdict and ours.value == pytest.approx(power, abs=0.1)


def test_lemma_4_by_drawing_starts():
    width = theorem4.lemma4_width(4)
    drawn, fewer = (theorem4.drawn_starts(each, 4, 400)["present"] for each in (width, width // 4 // 2 * 2))
    for present, units in ((drawn, width), (fewer, width // 4 // 2 * 2)):
        exact = theorem4.presence_probability(units, 4)
        assert abs(present - exact) < 5 * np.sqrt(exact * (1 - exact) / 400)
    assert fewer < 0.95 < drawn


@pytest.mark.parametrize("k", [3, 5])
def test_a_first_step_at_odd_k_needs_a_large_bias(k):
    assert theorem4.largest_gradient(k, 31, 0.5)["gradient"] == 0 < theorem4.largest_gradient(k, 31, 2.5)["gradient"]


def test_theorem_4_from_made_up_runs():
    settings = theorem4.Settings((31,), (21, 31), (0.1, 1.0, 3.2), 6, 100, starts=100)
    run = lambda n, first, share, error: {
        **{"part": None, "n": n, "degree": 4, "first": first, "share": share, "outcome": "out_of_steps"},
        **{"recorded_step": [0, 100], "fresh_error": [0.5, error], "fresh_loss": [1.0, 2 * error]},
    }
    rows = [{**run(31, "exact", np.inf, 0.0), "seed": seed} for seed in range(6)]
    rows += [
        {**run(n, "sampled", share, 0.5 if share < 0.5 else 0.0), "seed": seed}
        for n in (21, 31) for share in settings.shares for seed in range(6)
    ]  # fmt: skip
    rows += [{"part": f"lemma4/{part}", "present": share, "starts": 100} for part, share in ((1, 1.0), (4, 0.2))]
    for call in theorem4.calls(settings):
        if call.labels["part"].startswith("gradient"):
            rows.append({"part": call.labels["part"], **theorem4.largest_gradient(**call.configuration)})
    found = verdicts(theorem4, settings, results_of(rows))
    assert found["exact/n31/hinge"] == found["sampled/n21/drop"] == found["gradient/k3/b0.5"] == "holds"
    worse = [{**row, "fresh_loss": [1.0, 1.0]} if row.get("first") == "exact" else row for row in rows]
    assert verdicts(theorem4, settings, results_of(worse))["exact/n31/hinge"] == "fails"


def test_where_the_error_of_theorem_4_falls():
    shares = np.array([0.1, 1.0, 10.0])
    assert theorem4.crossing(shares, np.array([[0.5, 0.5, 0.0]])) == pytest.approx(10**0.5)
    assert theorem4.crossing(shares, np.array([[0.5, 0.0, 0.0], [0.5, 0.1, 0.0], [0.5, 0.2, 0.1]])) < 1
    assert theorem4.crossing(shares, np.full((2, 3), 0.5)) == 10 and theorem4.crossing(shares, np.zeros((2, 3))) == 0.1
    # The theorem's batch in units of n / xi**2, by the corrected formula.
    n, k, eps, r = 31, 4, 0.1, 767
    expected = 2**12 * k**2 * np.log(128 * k**3 * n / eps) * np.log(32 * n * r / eps)
    assert theorem4.theorem_share(n) == pytest.approx(expected, rel=1e-9)
