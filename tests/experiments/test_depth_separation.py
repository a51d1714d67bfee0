"""What the experiments of depth-separation compute, small."""

import jax
import numpy as np
import pytest

import paritylab as pl
from paritylab.circuits import gate_tables, sharp_embedding, sign_parity
from paritylab.experiments.depth_separation import audit, layerwise, pairing, samples, stage_two
from paritylab.experiments.depth_separation.shared import recovery
from paritylab.experiments.depth_separation.shared.families import (
    gate_values,
    mixture_of,
    odd_near,
    random_target,
    signals_of_prefixes,
    signs_of,
)
from paritylab.training.perceptron import streamed_perceptron


@pytest.mark.parametrize("family", audit.NAMES)
def test_the_formulas_by_hand_are_the_closed_forms(family):
    target = random_target(audit.count_of(family, 5), 2)
    exact = gate_tables(target, mixture_of(family, target))
    correlation, label, inputs = audit.mixed(family, target)
    np.testing.assert_allclose(exact.correlation, correlation, atol=1e-14)
    np.testing.assert_allclose(exact.input_mean, np.stack([inputs, inputs], axis=1), atol=1e-14)
    assert exact.label_mean == pytest.approx(label, abs=1e-14)


def test_odd_numbers():
    assert [odd_near(value) for value in (0.3, 1.67, 3.0, 4.9, 8.33)] == [1, 1, 3, 5, 9]


def test_what_the_first_layer_sees():
    target = random_target(3, 0)
    x, y = (np.asarray(part) for part in pl.Uniform(target).support()[:2])
    np.testing.assert_array_equal(gate_values(signs_of(target), x), jax.vmap(target.gate_outputs)(x))
    signals = signals_of_prefixes(x, y, (10, 64))
    np.testing.assert_allclose(signals[1], gate_tables(target, pl.Uniform(target)).signal, atol=1e-12)
    seen = np.all((x[:10, [0, 3]] > 0), axis=1)
    assert signals[0, 0, 0] == pytest.approx(np.mean(y[:10] * seen))


def test_partners_are_told_apart_by_the_numbers_that_the_prediction_has():
    """E over the easy half by enumeration, twice those in the mixture up to 2^-n."""
    target = pl.GateProduct(("OR", "OR", "AND"))
    x, y, chance = (np.asarray(part, float) for part in pl.distributions.equal_gates(target).support())
    labelled = lambda i, j: float(np.sum(chance * x[:, i] * x[:, 3 + j] * (y == (1 if i < 2 else -1))))
    found = [labelled(0, 0), labelled(2, 2), labelled(0, 1), labelled(0, 2), labelled(2, 0)]
    np.testing.assert_allclose(found, [-1 / 6, -1 / 6, 1 / 18, 1 / 6, 1 / 6], atol=1e-6)
    unlabelled = lambda i, j: float(np.sum(chance * x[:, i] * x[:, 3 + j]))
    np.testing.assert_allclose([unlabelled(0, 0), unlabelled(0, 1), unlabelled(0, 2)], [1 / 3, 5 / 9, 1 / 3], atol=1e-6)


def test_the_pairing_is_found_from_enough_examples():
    for labelled in (True, False):
        rows = pairing.runs(5, 2, labelled)
        assert [row["pairs"] for row in rows if row["multiple"] == 2.0] == [1.0, 1.0]
    assert pairing.predicted(random_target(25, 0), True) < pairing.predicted(random_target(25, 0), False)


def test_runs_recover_more_often_from_more_examples():
    rows = recovery.trials_of(lambda target: mixture_of("E1", target), 5, 12)
    shares = [np.mean([row["recovered"] for row in rows if row["multiple"] == m]) for m in (0.5, 2.0)]
    assert shares[0] < shares[1] == 1.0
    assert not any(row["recovered"] for row in samples.hopeless("hard", 5, 1) if row["predicted"] > 10**9)


def test_a_whole_run_learns_both_halves():
    rows = layerwise.on_staircase(5, first=0, seeds=2)
    largest = [row for row in rows if row["size"] == max(layerwise.SIZES)]
    assert all(row["gates_right"] and row["hard_error"] < 1e-12 and row["easy_error"] < 1e-12 for row in largest)
    assert layerwise.size_of(5) in layerwise.SIZES
    found = layerwise.without_layers(15, 0)
    assert found["gates_right"] and found["size"] == 1225 and found["hard_error"] <= 0.05 and found["easy_error"] == 0


def test_both_staircases_stay_within_their_bounds():
    sharp, ramps = (stage_two.streamed(5, units, 3) for units in ("hard-tanh", "relu"))
    assert all(row["updates"] <= 30 for row in sharp)
    assert np.median([row["updates"] for row in ramps]) > np.median([row["updates"] for row in sharp])


def test_gate_outputs_have_the_law_of_the_gates():
    task = stage_two.GateOutputs(5)(pl.root_key(3))
    means = np.asarray(pl.targets.random_gate_product(5, key=pl.root_key(3)).ors) / 2
    s, y = task.clean().sample(pl.root_key(0), 4000)
    np.testing.assert_array_equal(np.prod(np.asarray(s), axis=1), y)
    assert np.all(np.abs(np.asarray(s).mean(axis=0) - means) <= 5 * np.sqrt(0.75 / 4000))
    s, y = task.sample(pl.root_key(1), 1000)
    np.testing.assert_array_equal(np.prod(np.asarray(s), axis=1), y)
    equal = np.abs(np.asarray(s).sum(axis=1)) == 5
    assert 0.5 <= equal.mean() <= 0.75


@pytest.mark.parametrize("n", [5, 15, 51])
def test_the_hinge_loss_of_a_perceptron_on_the_staircase(n):
    """0 on the counts that it has seen, and at most 1 + (n + 1)^2 on the others, for its weights are whole numbers."""
    points, labels, rng = sharp_embedding(n), sign_parity(n), np.random.default_rng(n)
    for _ in range(5):
        seen = rng.random(n + 1) < 0.6
        chances = np.full(int(seen.sum()), 1 / seen.sum())
        faultless = lambda wrong: not wrong.any()
        found = streamed_perceptron(points[seen], labels[seen], chances, until=faultless, rng=rng)
        losses = np.maximum(1 - labels * (points @ found.weights), 0)
        np.testing.assert_array_equal(found.weights, np.round(found.weights))
        assert found.updates <= n * (n + 1) and np.all(losses[seen] == 0) and np.all(losses <= 1 + (n + 1) ** 2)
        assert np.linalg.norm(found.weights) <= np.sqrt(found.updates * (n + 1)) + 1e-9
