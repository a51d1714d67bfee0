"""Figures 11 and 12 of hidden-progress: their gaps by another route, and the whole experiments made small."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from judging import values

import paritylab as pl
from paritylab.analysis.gradients.gaps import majority_gap, weak_gap
from paritylab.analysis.gradients.population import turns_of
from paritylab.cube import cube
from paritylab.experiments.hidden_progress import figure11, figure12
from paritylab.sweep import Sweep
from paritylab.training.engine.loop import init_key


def run(experiment, settings, folder):
    """All of an experiment but its size, in this process."""
    with ThreadPoolExecutor(1) as here:
        results = Sweep(experiment.plan(settings)).run(folder, executor=here)
    assert results.missing == 0
    return results, values(experiment, settings, results)


@pytest.mark.parametrize("law", figure11.DISTRIBUTIONS)
def test_gaps_of_figure_11_by_the_definition(law):
    """Brute force over all points, for the same weights."""
    n, k, draws = 9, 2, 20
    table = figure11.gaps_of_random_neurons(law, n, k, draws, 3)
    rng = np.random.default_rng([figure11.DISTRIBUTIONS.index(law), n, k, 3])
    weights = rng.uniform(-1, 1, (draws, n)) if law == "uniform" else rng.normal(size=(draws, n))
    x = np.asarray(cube(n), float)
    gradients = ((x @ weights.T > 0) * (x[:, 0] * x[:, 1])[:, None]).T @ x / len(x)
    np.testing.assert_allclose(table.gap, weak_gap(gradients, range(k)), atol=1e-14)


def test_figure_11_made_small(tmp_path):
    settings = figure11.Settings(draws=((15, 125), (101, 125)))
    results, measured = run(figure11, settings, tmp_path)
    table = results.table()
    assert len(table) == 125 * (2 * 3 + 2 * 2)
    # The medians of the prototype, 0.109 and 0.098 at k = 2: within its sampling error and ours.
    medians = table[(table.n == 15) & (table.k == 2)].groupby("law").gap.median()
    assert medians["uniform"] == pytest.approx(0.109, rel=0.2) and medians["gaussian"] == pytest.approx(0.098, rel=0.2)
    assert measured["n15/k3/uniform/zero"].value == 0
    assert measured["n101/k2/gaussian/limit"].value == pytest.approx(1, abs=0.03)
    assert measured["decay/k2/uniform"].value == pytest.approx(-0.5, abs=0.15)


def test_gaps_of_figure_12_by_the_definition():
    table = figure12.gaps_of_random_sinusoids("gaussian", 9, 4, 15)
    weights = np.random.default_rng([1, 9, 4]).normal(size=(15, 9))
    x = np.asarray(cube(9), float)
    gradients = (np.sin(x @ weights.T / 3) * np.prod(x[:, :4], axis=1)[:, None]).T @ x / len(x)
    np.testing.assert_allclose(table.gap, weak_gap(gradients, range(4)), atol=1e-14)


@pytest.mark.acceptance
def test_figure_12_made_small(tmp_path):
    settings = figure12.Settings(draws=200, seeds=6, steps=3_000)
    results, measured = run(figure12, settings, tmp_path)
    along = figure12.paths(results)
    start = along[(along.step == 0) & (along.panel == "right/sin")]
    assert len(start) == 6 and measured["right/sin/positive"].value == np.mean(start.gap > 0)
    # The recorded numbers are the network's: the gap of the first seed by enumeration of its own start.
    path = figure12.PATHS[0]
    network = pl.Neuron(path.activation)(figure12.N, key=init_key(np.uint32(0)))
    x = np.asarray(cube(figure12.N), float)
    frequency, phase = turns_of(path.activation)
    z = x @ np.asarray(network.hidden.weight, float) + float(network.hidden.bias)
    gradient = (np.prod(x[:, :4], axis=1) * frequency * np.cos(frequency * z + phase)) @ x / len(x)
    assert float(start[start.seed == 0].gap.iloc[0]) == pytest.approx(float(weak_gap(gradient, range(4))), abs=1e-9)


def test_the_lines_are_those_of_the_prototype():
    assert (majority_gap(15, 2).weak, majority_gap(15, 4).weak) == pytest.approx((0.0967, 0.0059), abs=5e-5)
