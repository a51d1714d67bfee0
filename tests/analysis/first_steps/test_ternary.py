"""The network after its exact first step: neuron by neuron, by table, by the engine on a population."""

import equinox as eqx
import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis import (
    AfterFirstStep,
    cosine_correlations,
    first_correlations,
    first_step,
    step_table,
    ternary_correlations,
    ternary_gate_correlations,
)
from paritylab.cube import cube
from paritylab.training.engine.loop import init_key


@pytest.mark.parametrize(("n", "k"), [(9, 3), (41, 5)])
def test_the_table_holds_what_every_neuron_has(n, k):
    rng = np.random.default_rng(n)
    for weights in rng.integers(-1, 2, (20, n)):
        inside = weights[:k]
        kind = np.count_nonzero(weights[k:]), np.sum(inside == 1), np.sum(inside == -1)
        for leak, expected in enumerate(first_correlations(weights, 0.1, range(k))):
            table = step_table(n, k, 0.1, float(leak))
            found = np.append(table.inside[kind][inside + 1], weights[k:] * table.outside[kind])
            np.testing.assert_allclose(found, np.sqrt(n) * expected.weight, rtol=0, atol=1e-14)
            assert table.bias[kind] == pytest.approx(expected.bias, abs=1e-14)
            assert table.output[kind] == pytest.approx(expected.output, abs=1e-14)


@pytest.mark.parametrize("k", [3, 5, 7])
def test_good_neurons_move_in_a_alone(k):
    """k odd and weights in A of sum 0: one of them is 0, and all else is exactly 0 (C_2 = C_3 = 0 in Lemma 9)."""
    table, even = step_table(40, k, 1 / (8 * k)), np.arange((k + 1) // 2)
    assert np.all(table.outside[:, even, even] == 0) and np.all(table.bias[:, even, even] == 0)
    assert np.any(table.outside[:, 1, 0] != 0)


def test_the_recipe_is_the_first_step_from_its_start():
    recipe, support, n = AfterFirstStep(10, (1, 3, 8)), (1, 3, 8), 31
    start, after = recipe.start(n, key=pl.root_key(3)), recipe(n, key=pl.root_key(3))
    numbers = [np.asarray(each, float) for each in (start.hidden[0].weight, start.hidden[0].bias, start.output.weight)]
    expected = first_step(numbers[0].astype(int), *numbers[1:], support)
    # float32: one rounding of the table, one of u, two products.
    np.testing.assert_allclose(after.hidden[0].weight, expected.weight, rtol=4e-7, atol=1e-9)
    np.testing.assert_allclose(after.hidden[0].bias, expected.bias, rtol=4e-7, atol=1e-7)
    np.testing.assert_allclose(after.output.weight, expected.output, rtol=2e-7)
    assert float(after.output.bias) == 0


@pytest.mark.acceptance
def test_the_engine_takes_the_theorem_s_first_step_on_the_population():
    """Rate 1 and decay 1/2 first, then the theorem's; all of D_A in one batch; after a step it is the closed form."""
    n, support = 6, (0, 1, 2)
    points = pl.distributions.population(pl.distributions.leaky(pl.Parity(n, support)))
    runs = pl.train(
        points,
        pl.networks.TernaryPairs(6, 3),
        rate={"hidden": 1.0, "output.weight": 1.0},
        schedule=pl.training.FirstThen(1.0, 0.0),
        decay=pl.training.Decay({"hidden.0.weight": 0.5, "output.weight": 0.5}, convention="loss"),
        batch=len(points.x),
        sample=len(points.x),
        seeds=1,
        steps=2,
        every=1,
        validation=0,
        records=(pl.training.Parameters(), pl.training.LayerDrift()),
        keep=True,
        lanes=1,
    )
    expected = AfterFirstStep(6, support)(n, key=init_key(np.uint32(0)))
    arrays = np.concatenate(
        [np.ravel(each) for each in eqx.filter(expected, eqx.is_inexact_array).hidden[0].__dict__.values()]
    )
    parameters = np.stack(list(runs.curves().parameters))
    assert runs.curves().step.tolist() == [0, 1, 2]
    np.testing.assert_allclose(parameters[1][: len(arrays)], arrays, rtol=0, atol=3e-6)
    np.testing.assert_allclose(parameters[1][-7:-1], expected.output.weight, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(parameters[1], parameters[2])  # a rate of 0 afterwards
    start = pl.networks.TernaryPairs(6, 3)(n, key=init_key(np.uint32(0)))
    moved = np.linalg.norm(np.asarray(expected.hidden[0].weight - start.hidden[0].weight), axis=1).max()
    assert np.stack(list(runs.curves().layer_drift))[1][0] == pytest.approx(moved, rel=1e-5)


def test_correlations_of_features_with_a_parity_by_enumeration():
    x, chosen, rng = np.asarray(cube(9), float), np.array([1, 4, 7]), np.random.default_rng(0)
    y, weights = x[:, chosen].prod(axis=1), rng.integers(-1, 2, (20, 9))
    z = x @ weights.T / 3 + 1 / 24
    found = ternary_correlations(weights, 1 / 24, chosen)
    np.testing.assert_allclose(found, (y[:, None] * np.clip(z, 0, 6)).mean(axis=0), rtol=0, atol=1e-15)
    gates = (y[:, None] * ((z > 0) & (z < 6))).T @ x / len(x)
    np.testing.assert_allclose(ternary_gate_correlations(weights, 1 / 24, chosen), gates, rtol=0, atol=1e-15)
    waves, phases = rng.normal(size=(20, 9)), rng.uniform(0, 6, 20)
    cosines = (y[:, None] * np.cos(x @ waves.T + phases)).mean(axis=0)
    np.testing.assert_allclose(cosine_correlations(waves, phases, chosen), cosines, rtol=0, atol=1e-14)


def test_wrong_input_says_so():
    with pytest.raises(ValueError, match="odd k <= min"):
        step_table(9, 4, 0.1)
