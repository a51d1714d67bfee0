"""Theorem II: the constants of its proof, step by step, and the number of examples by another route."""

import math

import numpy as np
import pytest

import paritylab as pl
from paritylab import bounds
from paritylab.bounds.units import DRIFT, RADIUS, TIME
from paritylab.circuits import gate_tables, train_units
from paritylab.circuits.unit_training import LIFTED

OR, AND = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, -1.0, -1.0, -1.0])


def test_the_constants_of_the_proof():
    gram = LIFTED.T @ LIFTED
    np.testing.assert_array_equal(gram, 4 * np.eye(3))  # so a sum of the four with weights to r has a length to 4 r
    apart = 4 * RADIUS * 7 / 8
    assert math.sqrt(3) * apart < 1
    assert np.all(LIFTED @ np.ones(3) * OR >= 1)
    assert np.all(
        (LIFTED * OR[:, None]).sum(axis=1) >= 1
    )  # each active pattern drives w_1 + w_2 + b by its |A| or more
    longest = 2 * math.sqrt(3) * apart / (1 - RADIUS)
    assert 7 / 8 + longest <= TIME


def test_tables_in_the_box_become_the_gate():
    """3,000 tables, on the corners and inside, of both gates, by small steps; and within the time of the theorem."""
    rng = np.random.default_rng(0)
    off = RADIUS * np.where(rng.random((3000, 1)) < 0.5, rng.choice([-1, 1], (3000, 4)), rng.uniform(-1, 1, (3000, 4)))
    gates = np.where(np.arange(3000)[:, None] % 2, OR, AND)
    ideal = np.where(np.arange(3000)[:, None] % 2, [1, 1, 1, -3], [3, -1, -1, -1])
    rate = 0.02
    trained = train_units(DRIFT * (ideal + off), rate=rate)
    np.testing.assert_array_equal(trained.outputs, gates)
    assert rate * trained.steps.max() <= TIME / DRIFT


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
