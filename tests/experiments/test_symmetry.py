"""Experiments on symmetry: the parts that are calculations, the task, and what the shared helpers make of curves."""

import math

import jax
import numpy as np
import pandas as pd
import pytest
from judging import results_of, values
from scipy.stats import binom

import paritylab as pl
from paritylab.analysis import largest_step, parity_margin
from paritylab.bounds.upper import symmetric_initialization
from paritylab.cube import cube, encode
from paritylab.experiments.base import judge, load, measured
from paritylab.experiments.symmetry import beyond, corrupted, figure1, starts, theorem1, theory
from paritylab.experiments.symmetry.shared import classes
from paritylab.experiments.symmetry.shared.runs import Curves, SymmetricTask, ends, low_degree_errors, sgd, unlike
from paritylab.experiments.symmetry.starts import high_quantile
from paritylab.networks.base import outputs
from paritylab.training.rules.weight_records import (
    CommonError,
    SeenError,
    SeenWeights,
    UnseenMass,
    VoteError,
    WeightError,
)


def test_the_lemmas_on_all_functions_of_three_bits():
    relu, sigmoid = (figure1.sums(3, name, whole_cube=True) for name in ("relu", "sigmoid"))
    assert relu == {"on": 1.0, "off": 0.0, "wrong": 0}
    bound = 2 * math.exp(-2.5) / (1 - math.exp(-5))
    assert sigmoid["wrong"] == 0 and sigmoid["on"] > 0.84 and 0.1 < sigmoid["off"] < bound
    on_weights = figure1.sums(3, "sigmoid", whole_cube=False)
    assert on_weights == pytest.approx(sigmoid)


def test_theorem_2_on_some_problems():
    rows = pd.DataFrame(theory.theorem2(first=5000, problems=15))
    assert rows.updates_ratio.min() > 0 and rows.updates_ratio.max() <= 1 and rows.margin_ratio.min() >= 1


def test_ties_are_counted_where_floating_point_parts():
    """Sums of 7^-6 that reach beta exactly round to either side of it; those of 8^-6, a power of two, do not."""
    seven, eight = (theory.ties(n, epochs=700) for n in (7, 8))
    assert seven["ties"] >= seven["parted"] > 0 and seven["parted_elsewhere"] == 0
    assert eight["ties"] > 0 and eight["parted"] == 0


def test_the_step_of_lemma_4_is_the_largest_power_that_it_allows():
    power, n = theory.small_power(), theory.SMALL
    limit = largest_step(parity_margin(n), theory.radius_of(n), math.sqrt(n))
    assert float(n) ** -power <= limit < float(n) ** -(power - 1)


@pytest.mark.parametrize("options", [{}, {"flips": 0.25}, {"shift": 0.1}, {"target": "parity"}], ids=str)
def test_the_task_labels_points_by_their_number_of_ones(options):
    task = SymmetricTask(6, **options)(pl.root_key(4))
    x, y = task.clean().sample(pl.root_key(0), 200)
    ones = np.asarray(x > 0.5).sum(axis=1)
    labels = pd.Series(np.asarray(y)).groupby(ones)
    assert labels.nunique().max() == 1
    if options.get("target") == "parity":
        assert all(labels.first()[weight] == (-1) ** weight for weight in set(ones))
    _, noisy = task.sample(pl.root_key(0), 200)
    assert bool(np.any(noisy != y)) == ("flips" in options)


def test_the_second_layer_counts_in_units_of_the_step():
    cell = sgd(SymmetricTask(5), "output", sample=5, power=6, epochs=4, every=2, seeds=1).cells[0]
    assert float(cell.loss.beta) == 5**3 and cell.optimizer.rate[""] == 1 and cell.steps == 20
    both = sgd(SymmetricTask(5), "both", sample=5, power=6, epochs=4, every=2, seeds=1).cells[0]
    assert float(both.loss.beta) == pytest.approx(5**-3) and both.optimizer.rate[""] == pytest.approx(5**-6)


def test_ends_of_curves():
    curve = pd.DataFrame(
        {
            "run": ["a", "a", "a", "b", "b"],
            "step": [0, 10, 20, 0, 10],
            "epoch": [0, 1, 2, 0, 1],
            "sample_error": [0.0, 0.0, 0.0, 1.0, 0.5],
            "updates": [0, 3, 7, 0, 9],
        }
    )
    last = ends(curve)
    assert last.zero_epoch.to_dict() == {"a": 1, "b": math.inf}
    assert last.updates.to_dict() == {"a": 7, "b": 9} and last.updates_at_zero["a"] == 3


def test_the_interval_of_a_high_quantile_has_its_coverage():
    """Among 100 uniform numbers the interval holds 0.95 with 95% at least, counted over 400 samples."""
    samples = np.random.default_rng(0).random((400, 100))
    intervals = np.array([high_quantile(pd.Series(each)).interval for each in samples])
    held = np.mean((intervals[:, 0] <= 0.95) & (intervals[:, 1] >= 0.95))
    assert held >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / 400)


def test_the_records_by_weight():
    """A short run of both layers: errors by enumeration of the cube, with the engine's own sample."""
    task = SymmetricTask(5, "parity")
    options = {"sample": 5, "power": 2, "epochs": 4, "every": 2, "seeds": 3}
    plan = sgd(task, "output", **options)
    runs = pl.train(
        task, plan.cells[0].network, rate=1.0, loss=plan.cells[0].loss, batch=1, sample=5, seeds=3, steps=20, every=10,
        validation=0, records=(WeightError(), UnseenMass(), SeenError(500)), float64=True, keep=True, lanes=16,
    )  # fmt: skip
    last = runs.curves().groupby("run").last()
    with jax.enable_x64(True):
        bits = encode(cube(5), "bits").astype(float)
        for run in range(3):
            wrong = np.asarray(outputs(runs.network(run), bits)) * (-1.0) ** np.asarray(bits.sum(axis=1)) <= 0
            assert last.true_error[run] == pytest.approx(wrong.mean(), abs=1e-6)
    masses = binom.pmf(np.arange(6), 5, 0.5)
    for mass in last.unseen_mass:
        subsets = [masses[[bool(k >> i & 1) for i in range(6)]].sum() for k in range(64)]
        assert min(abs(mass - each) for each in subsets) < 1e-6
    assert np.all(last.seen_error <= last.true_error + 5 * math.sqrt(0.25 / 500))


def test_the_promise_of_theorem_1():
    """The union over sets of weights is spent exactly; the sample that the theorem asks for keeps the promise."""
    n, delta = 20, theorem1.DELTA
    for sample in (40, 400):
        promise = theorem1.promised(n, sample)
        assert 2 ** (n + 1) * math.exp(-promise * sample) == pytest.approx(delta)
        bound = symmetric_initialization(n, error=promise, failure=delta)
        assert sample <= bound.value <= 1.5 * sample and all(assumption.holds for assumption in bound.assumptions)
    assert theorem1.promised(n, 1) == 1


def test_the_promise_of_theorem_1_is_kept_where_every_weight_is_as_likely():
    """A law for which it is hard: the unseen mass of 4,000 samples of weights; its mean is (1 - 1/21)^m."""
    n, sample = 20, 80
    weights = np.random.default_rng(0).integers(0, n + 1, (4000, sample))
    unseen = np.array([1 - len(np.unique(each)) / (n + 1) for each in weights])
    mean = (1 - 1 / (n + 1)) ** sample
    assert unseen.mean() == pytest.approx(mean, abs=5 * math.sqrt(mean / 4000))
    assert np.mean(unseen > theorem1.promised(n, sample)) <= theorem1.DELTA
    assert np.mean(unseen > theorem1.promised(n, sample) / 10) > theorem1.DELTA


@pytest.mark.parametrize("inputs", ["uniform", "sparse", "weights"])
def test_points_are_drawn_as_asked_for(inputs):
    """The numbers of ones, from the support itself."""
    n = 5
    x, _, probability = SymmetricTask(n, inputs=inputs)(pl.root_key(0)).support()
    ones = np.asarray(x, float).sum(axis=1).astype(int)
    mass = np.bincount(ones, np.asarray(probability, float), n + 1)
    even = np.full(n + 1, 1 / (n + 1))
    expected = even if inputs == "weights" else binom.pmf(np.arange(n + 1), n, 0.25 if inputs == "sparse" else 0.5)
    np.testing.assert_allclose(mass, expected, atol=1e-6)


def made_up_theorem1(error):
    settings = theorem1.SETTINGS["quick"]
    rows = [
        {"inputs": inputs, "units": units, "sample": m, "seed": seed, "true_error": error, "seen_error": error,
         "sample_error": error, "outcome": "settled", "updates": 100 if units == "relu" else 10}
        for inputs in theorem1.INPUTS for units in theorem1.UNITS for m in settings.samples for seed in range(80)
    ]  # fmt: skip
    data = Curves(pd.DataFrame(), pd.DataFrame(rows))
    found = measured(theorem1, settings, data)
    return {claim.name: judge(claim.region, ours.interval) for claim, ours in found.items()}


def test_theorem_1_holds_for_small_errors_and_fails_at_chance():
    assert set(made_up_theorem1(0.0).values()) == {"holds"}
    failed = {name for name, said in made_up_theorem1(0.5).items() if said == "fails"}
    assert failed == {name for name in made_up_theorem1(0.5) if name != "sigmoid/faster"}


@pytest.mark.parametrize("n", [3, 6])
def test_all_parities_are_orthogonal_and_symmetric_functions_span_few_dimensions(n):
    found = classes.dimensions(n)
    assert found["parities"] == 2**n and found["overlap"] == 0 and found["symmetric"] <= n + 1


def test_elimination_needs_n_examples():
    few, enough = (classes.eliminated(12, examples, 50, 0)["recovered"] for examples in (11, 24))
    assert few == 0 and enough == 50


def test_a_vote_and_common_weights_are_recorded():
    """Labels flipped in a tenth of a large sample: the vote has no error, and every weight's share is known."""
    task = SymmetricTask(5, "parity", flips=0.1)
    records = (VoteError(500), SeenWeights(), CommonError(0.01))
    runs = pl.train(
        task, pl.networks.Staircase(23), rate=1e-3, loss=pl.training.Confidence(0, block=1), batch=1, sample=400,
        seeds=2, steps=400, every=400, validation=0, records=records, float64=True, lanes=16,
    )  # fmt: skip
    last = runs.curves().groupby("run").last()
    assert np.all(last.vote_error < 0.1) and np.all(np.stack([*last.seen_weights]).sum(axis=1) >= 5)
    assert np.all(last.common_error <= 1)


def test_the_low_part_of_parity_is_of_no_use_and_that_of_majority_is():
    errors = low_degree_errors(20, pd.Index(range(30)))
    assert errors.min() < 0.2 and errors.max() > 0.4 and len(errors) == 30


def ends_of_starts(settings, random_error, zero=10, seen=0.0):
    """The ends of runs as the engine makes them, twenty seeds each."""
    rows = []
    for panel in settings.panels:
        for way in (starts.OURS, starts.HALF, starts.CONFIDENT_WAY, starts.SECOND, starts.RANDOM):
            error = random_error if way is starts.RANDOM else 0.002
            for seed in range(20):
                run = {"seed": seed, "exponent": panel.exponent, "trained": way.trained, "confidence": way.confidence}
                run |= {"outcome": "settled", "zero_epoch": zero if way is starts.OURS else 1e6, "true_error": error}
                run |= {
                    "unseen_mass": 0.003,
                    "seen_error": seen if way is starts.OURS else 0.3 * (way is starts.RANDOM),
                }
                run |= {"sample_error": 0.0, "common_error": 0.0, "epoch": panel.epochs, "step": 1, "target": "random"}
                rows.append(run | {"seen_weights": np.arange(21) > 5 + seed % 5})
                rows.append(rows[-1] | {"epoch": 1, "step": 0})
    return pd.DataFrame(rows)


@pytest.mark.parametrize("figure", ["fig5", "fig6"])
@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_every_claim_about_the_starts_is_measured(figure, scale):
    experiment = load(f"symmetry/{figure}")
    settings = experiment.SETTINGS[scale]
    made = ends_of_starts(settings, 0.45)
    found = {
        claim.name: ours for claim, ours in measured(experiment, settings, Curves(made, made[made.step == 1])).items()
    }
    assert found["m2/ours/unseen"].value == pytest.approx(-0.001 / math.sqrt(0.003 * 0.997 / 10_000))
    assert found["m2/second/unseen"].value == pytest.approx(-0.001)
    assert found["m1/random/true"].value == 0.45 and found["m1/random/worse"].value == pytest.approx(0.448)
    assert found["m1/ours/zero"].value == 1 and found["m1/confident/zero"].value == 0 and found["reading"].value == 1
    late = ends_of_starts(settings, 0.45, zero=1e5, seen=0.1)
    found = {
        claim.name: ours for claim, ours in measured(experiment, settings, Curves(late, late[late.step == 1])).items()
    }
    assert found["m1/ours/zero"].value == 0 and found["m1/ours/eventually"].value == 1
    assert found["m2/ours/seen"].value == 0.1 and found["m2/half/seen"].value == 0


def corrupted_runs(settings, cost):
    """Curves that never were: corruption costs the symmetric start so much, and the random one is at chance."""
    rows = []
    for panel in (*settings.panels, corrupted.CLEAN):
        for trained in ("both", "random"):
            for seed in range(20):
                error = 0.5 if trained == "random" else 0.01 + cost * (panel is not corrupted.CLEAN)
                for part in (0.3, 0.6, 0.9):
                    run = {"panel": panel.name, "trained": trained, "seed": seed, "epoch": part * settings.epochs}
                    run |= {"step": int(10 * part), "sample_error": error, "true_error": error, "run": f"{len(rows)}"}
                    rows.append(run | {"vote_error": 0.01 + 0.05 * (panel.shift > 0)})
    table = pd.DataFrame(rows)
    return Curves(table, table[table.step == 9])


@pytest.mark.parametrize("figure", ["fig7", "fig8"])
def test_corrupted_data_are_held_against_clean_ones(figure):
    experiment = load(f"symmetry/{figure}")
    settings = experiment.SETTINGS["quick"]
    said = {}
    for cost in (0.0, 0.3):
        found = measured(experiment, settings, corrupted_runs(settings, cost))
        said[cost] = {claim.name: judge(claim.region, ours.interval) for claim, ours in found.items()}
    assert set(said[0.0].values()) == {"holds"}
    panel = settings.panels[0].name
    assert said[0.3][f"{panel}/clean"] == said[0.3][f"{panel}/vote"] == "fails"


def test_figures_2_and_4_tell_two_ways_from_two_seeds():
    one = pd.Series([0.1, 0.3, 0.1, 0.3])
    assert (
        unlike(one, one + 0.01).value == pytest.approx(0.05) and unlike(one, one[::-1].set_axis(one.index)).value == 1
    )


def test_what_lies_beyond_the_paper_is_measured_at_the_last_record():
    """Runs that never were: every way learns but the random start, and exceptions cost what they are."""
    settings = beyond.SETTINGS["quick"]
    last = {way: 0.5 if way == "random" else 0.01 for way in beyond.WAYS}
    ends = [(way, 0, error) for way, error in last.items()]
    ends += [("nearly", size, 0.01 + 2.0**-size) for size in settings.exceptions]
    rows = [
        {
            "way": way,
            "exception": size,
            "seed": seed,
            "recorded_step": np.array([0, 10]),
            "fresh_error": np.array([1.0, error]),
        }
        for way, size, error in ends
        for seed in range(8)
    ]
    found = values(beyond, settings, results_of(rows))
    assert [found[f"{way}/learns"].value for way in (*beyond.PAPERS_WAYS, "random")] == [1.0] * 5 + [0.0]
    assert found["adam/better"].value == pytest.approx(0.49)
    assert found["nearly/rare"].value == pytest.approx(2.0 ** -max(settings.exceptions))
