"""Theorem II: the constants of its proof, step by step, and the number of examples by another route."""

import math

import numpy as np
import pytest

import paritylab as pl
from paritylab import bounds
from paritylab.bounds.units import (
    DRIFT,
    DRIFTS,
    LARGEST_STEP,
    PHASES,
    PULLS,
    RADIUS,
    TIME,
    path_distances,
    proven_radius,
)
from paritylab.circuits import gate_tables, train_units
from paritylab.circuits.unit_training import LIFTED

OR, AND = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, -1.0, -1.0, -1.0])


def test_the_constants_of_the_proof():
    gram = LIFTED.T @ LIFTED
    np.testing.assert_array_equal(gram, 4 * np.eye(3))  # so a sum of the four with weights to r has a length to 4 r
    assert DRIFTS[0] == pytest.approx(4 / 8)
    mixed, single = np.sqrt(8), 2 / 9 * np.sqrt(3)  # the second phase by the triangle inequality, for both signs
    assert DRIFTS[1] <= 3 / 4 * (mixed + single)
    assert proven_radius(LARGEST_STEP) > RADIUS
    first, last = path_distances(RADIUS, LARGEST_STEP)
    assert math.sqrt(3) * first < 1 and math.sqrt(3) * last < 2
    slope = math.sqrt(3) * RADIUS * DRIFTS[1] / (3 / 4)
    assert slope < 4 / 3  # in between g pre rises faster than the paths drift apart
    assert np.all(PULLS @ np.ones(3) >= 1)  # each active pattern drives w_1 + w_2 + b by its |A| or more
    assert (3 + math.sqrt(3) * last) / (1 - RADIUS) <= TIME


def test_the_flow_of_the_exact_table():
    """Its velocities in both phases are what the shares of time say, and those of no table turn against them."""
    exact = np.array([1.0, 1.0, 1.0, 3.0])
    place = np.zeros(3)
    for time, shares in PHASES:
        velocity = (exact * shares) @ PULLS
        assert np.all(PULLS @ velocity >= -1e-12)
        assert np.all((PULLS @ place)[np.array(shares) == 1] < 1)  # whole shares: inside
        place = place + time * velocity
        assert np.all((PULLS @ place)[np.array(shares) < 1] >= 1 - 1e-12)
    np.testing.assert_allclose(place, 1)


@pytest.mark.parametrize("step", [0.002, 0.01, 0.05])
def test_steps_stay_as_near_to_the_flow_as_proven(step):
    """800 tables of the largest proven box beside the path of the exact one, at every step; no g pre falls to -1."""
    rng, radius = np.random.default_rng(1), proven_radius(step)
    off = np.where(rng.random((800, 1)) < 0.5, rng.choice([-1, 1], (800, 4)), rng.uniform(-1, 1, (800, 4)))
    tables = np.array([1.0, 1.0, 1.0, 3.0]) + radius * off
    first, last = path_distances(radius, step)
    ends = np.cumsum([time for time, _ in PHASES])
    corners = np.array([[0.0, 0, 0], [0.5, 0.5, 0], [1, 1, 1]])
    place, largest, now = np.zeros((800, 3)), 0.0, 0.0
    while now <= TIME:
        flow = np.array([np.interp(now, [0, *ends], axis) for axis in corners.T])
        apart = np.linalg.norm(place - flow, axis=1).max()
        assert apart <= (first if now <= ends[0] else last)
        largest = max(largest, apart)
        pre = place @ PULLS.T
        assert pre.min() > -1
        place, now = place + step * DRIFT * (tables * (pre < 1)) @ PULLS, now + step * DRIFT
    assert np.all(place @ PULLS.T >= 1)
    assert largest > radius * DRIFTS[0]  # the bound is not idle


def test_tables_in_the_box_become_the_gate():
    """3,000 tables, on the corners and inside, of both gates, by the largest step; within the time of the theorem."""
    rng = np.random.default_rng(0)
    off = RADIUS * np.where(rng.random((3000, 1)) < 0.5, rng.choice([-1, 1], (3000, 4)), rng.uniform(-1, 1, (3000, 4)))
    gates = np.where(np.arange(3000)[:, None] % 2, OR, AND)
    ideal = np.where(np.arange(3000)[:, None] % 2, [1, 1, 1, -3], [3, -1, -1, -1])
    trained = train_units(DRIFT * (ideal + off), rate=LARGEST_STEP)
    np.testing.assert_array_equal(trained.outputs, gates)
    assert LARGEST_STEP * trained.steps.max() <= TIME / DRIFT


@pytest.mark.parametrize("n", [9, 51, 401])
def test_the_number_of_examples(n):
    """Bernstein's bound again, from the tables of the mixture itself."""
    target = pl.GateProduct(np.where(np.arange(n) % 2, -1.0, 1.0))
    tables = gate_tables(target, pl.distributions.separation(pl.distributions.equal_gates(target)))
    found = bounds.unit_gate_examples(n, failure=0.1)
    single = np.abs(tables.signal) > 0.2
    limits = np.where(single, 3, 1) * DRIFT * np.sign(tables.signal)
    allowed = RADIUS * DRIFT - np.abs(tables.signal - limits)
    variance, largest = tables.probability - tables.signal**2, 1 + np.abs(tables.signal)
    failure = lambda size: np.sum(2 * np.exp(-size * allowed**2 / (2 * (variance + largest * allowed / 3))))
    assert failure(found.value) <= 0.1 * (1 + 1e-9)
    assert failure(found.value * 0.98) > 0.1 or n == 9  # there the signs of terms of 2^-n matter
    assert found.value <= found.part("by the formula") * (1.0 if n > 9 else 1.2)


def test_what_theorem_two_refuses():
    with pytest.raises(ValueError, match="odd number of gates, got 10"):
        bounds.unit_gate_examples(10)
    with pytest.raises(ValueError, match="so few gates"):
        bounds.unit_gate_examples(3)
    with pytest.raises(ValueError, match="got failure=0"):
        bounds.unit_gate_examples(9, failure=0)
