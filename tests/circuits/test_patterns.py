"""What all that gates can see keeps; how circuits are learned from it is in test_layerwise.py."""

import numpy as np
import pytest
from exports import Row, row, things, without_a_row

from paritylab import Product, circuits, root_key
from paritylab.circuits import PackedPatterns, SamplePatterns, TreePatterns, gate_tables
from paritylab.distributions import draw
from paritylab.targets import random_circuit

CIRCUIT = random_circuit(8, key=root_key(0))
LAW = Product(CIRCUIT, [0.5, -0.2, 0.9, 0.0, 0.3, 0.1, -0.6, 0.4])
SAMPLE = draw(LAW, 100, key=root_key(1))
SUPPORT = [np.asarray(part, float) for part in LAW.support()]
TABLES = gate_tables(CIRCUIT, LAW)

PATTERNS_UNDER_TEST = {
    "a sample": row(SamplePatterns, np.asarray(SAMPLE.x), np.asarray(SAMPLE.y)),
    "a support": row(SamplePatterns, *SUPPORT),
    "a packed sample": Row(PackedPatterns, PackedPatterns.of(np.asarray(SAMPLE.x), np.asarray(SAMPLE.y))),
    "a law": row(TreePatterns, CIRCUIT, TABLES.probability, TABLES.signal),
}


def test_all_patterns_are_under_test():
    assert not without_a_row(circuits, "patterns", PATTERNS_UNDER_TEST.values())


@pytest.mark.parametrize("patterns", things(PATTERNS_UNDER_TEST).values(), ids=PATTERNS_UNDER_TEST)
def test_all_patterns_keep_the_contract(patterns):
    rng = np.random.default_rng(0)
    for gates in (4, 2, 1):  # level by level, whatever the gates below give
        assert patterns.gates == gates
        probability, signal = patterns.tables()
        assert probability.shape == signal.shape == (gates, 4) and probability.dtype == signal.dtype == float
        np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-6)  # supports are in float32
        np.testing.assert_allclose(signal.sum(axis=1), signal.sum(axis=1)[0], atol=1e-6)  # E[y], whatever the gate
        assert np.all(probability >= -1e-12) and np.all(np.abs(signal) <= probability + 1e-12)
        patterns = patterns.above(rng.choice([-1.0, 1.0], (gates, 4)))
    assert patterns.gates == 0
