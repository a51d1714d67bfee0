"""Products of gates of any fan-in: the norm of a split against tensor powers, units by enumeration."""

import itertools

import numpy as np
import pytest

from paritylab.bounds import best_split, block_hinge
from paritylab.cube import cube

OR3 = np.array([1.0] * 7 + [-1.0])
MAJORITY = np.sign(np.asarray(cube(7), float).sum(axis=1))


@pytest.mark.parametrize(
    ("gate", "norm"), [(OR3, 0.8660), (MAJORITY, 0.6895), (np.prod(np.asarray(cube(4)), axis=1), 1)]
)
def test_the_norm_of_the_best_split(gate, norm):
    found = best_split(np.asarray(gate, float))
    assert found.norm == pytest.approx(norm, abs=5e-5)
    inputs = len(gate).bit_length() - 1
    points, best = np.asarray(cube(inputs)) < 0, 1.0
    for chosen in itertools.chain.from_iterable(itertools.combinations(range(inputs), r) for r in range(inputs)):
        rest = [i for i in range(inputs) if i not in chosen]
        matrix = np.zeros((2 ** len(chosen), 2 ** len(rest)))
        rows = points[:, list(chosen)] @ (2 ** np.arange(len(chosen)))
        matrix[rows.astype(int), (points[:, rest] @ (2 ** np.arange(len(rest)))).astype(int)] = gate
        best = min(best, np.linalg.svd(matrix, compute_uv=False)[0] / 2 ** (inputs / 2))
    assert found.norm == pytest.approx(best, rel=1e-12)


def test_no_unit_on_a_product_of_gates_of_three_inputs_passes_the_bound():
    """Three blocks, nine inputs, 300 units of which some are integers; and the bound on the loss of their networks."""
    points, rng = np.asarray(cube(9), float), np.random.default_rng(0)
    labels = np.prod(np.where(np.all(points.reshape(-1, 3, 3) < 0, axis=2), -1.0, 1.0), axis=1)
    used = []
    for number in range(300):
        weights, bias = rng.normal(size=9), float(rng.normal())
        weights = np.round(2 * weights) if number % 3 == 0 else weights
        size = max(np.abs(weights).sum() + bias, 0)
        outputs = np.maximum(points @ weights + bias, 0)
        loss = np.mean(np.maximum(1 - labels * outputs, 0))
        assert block_hinge(OR3, 3, size=size).allows(loss)
        used.append(abs(np.mean(labels * outputs)) / max(size * best_split(OR3).norm ** 3, 1e-9))
    assert max(used) <= 1 and max(used) > 0.2


def test_what_no_gate_is():
    with pytest.raises(ValueError, match="got 3 values from -1 to 1"):
        best_split(np.array([1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match="got share=2"):
        block_hinge(OR3, 3, size=1.0, share=2)
    with pytest.raises(ValueError, match="blocks"):
        block_hinge(OR3, 0, size=1.0)
