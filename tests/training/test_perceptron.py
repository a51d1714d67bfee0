"""The modified perceptron of symmetry's Algorithm 1, against its bounds and against a loop of its own."""

import numpy as np
import pytest

from paritylab.analysis import maximal_margin, modified_perceptron_bounds, symmetric_embedding
from paritylab.training.perceptron import count_ties, modified_perceptron


@pytest.mark.parametrize("units", [0.0, 1.0, 30.0])
def test_it_keeps_its_bounds_and_ends_where_every_margin_holds(units):
    points, labels = symmetric_embedding(5), np.array([1, -1, -1, 1, -1, 1])
    radius, step = float(np.linalg.norm(points, axis=1).max()), 0.01
    confidence = units * radius**2 * step
    trace = modified_perceptron(points, labels, step, confidence, rng=np.random.default_rng(0))
    bounds = modified_perceptron_bounds(radius, maximal_margin(points, labels).margin, step, confidence)
    assert 0 < trace.updates <= bounds.updates and trace.margin >= bounds.margin
    assert np.all(labels * (points @ trace.weights) > confidence * (1 - 1e-12))


def test_with_whole_numbers_every_tie_is_seen():
    """The same choices in Python's integers, in units of h = 0.1; 0.1 has no exact sum in floating point."""
    points, labels = symmetric_embedding(6).astype(int), np.array([1, -1, 1, 1, -1, -1, 1])
    trace = modified_perceptron(points, labels, 0.1, 0.1 * 100, rng=np.random.default_rng(0))
    signed, rng = (points * labels[:, None]).tolist(), np.random.default_rng(0)
    weights, updates, ties = [0] * len(signed[0]), 0, 0
    margins = lambda: [sum(w * v for w, v in zip(weights, point, strict=True)) for point in signed]
    while asking := [i for i, margin in enumerate(margins()) if margin <= 100]:
        ties += 100 in margins()
        weights = [w + v for w, v in zip(weights, signed[asking[rng.integers(len(asking))]], strict=True)]
        updates += 1
    assert ties > 0 and trace.updates == updates
    np.testing.assert_array_equal(trace.weights, 0.1 * np.array(weights))
    np.testing.assert_allclose(trace.margin, min(margins()) / np.linalg.norm(weights), rtol=1e-15)


def test_it_says_when_points_cannot_be_separated():
    with pytest.raises(ValueError, match="not ended after 100 updates"):
        modified_perceptron(
            np.array([[1.0], [1.0]]), np.array([1, -1]), 1.0, 0.0, rng=np.random.default_rng(0), most=100
        )


def test_powers_of_two_never_part():
    rng = np.random.default_rng(3)
    points, labels = symmetric_embedding(8).astype(int), rng.choice([-1, 1], 9)
    order = rng.integers(0, 9, 3000)
    exact = count_ties(points, labels, order, 2.0**-20, 8**3)
    assert exact.parted == 0 and exact.ties > 0
    rounded = count_ties(points, labels, order, 8.1**-6, 8**3)
    assert rounded.parted_elsewhere == 0
