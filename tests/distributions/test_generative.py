import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab import TreeCircuit, root_key
from paritylab.cube import cube
from paritylab.distributions import Generative
from paritylab.targets import GATES, circuit_from_formula, random_circuit

TWO_VALUED = tuple(name for name in GATES if name not in ("TRUE", "FALSE"))

sample = eqx.filter_jit(lambda distribution, key, batch: distribution.sample(key, batch))


def by_definition(circuit):
    """The probability of every point, level by level as the paper builds D^(0), ..., D^(d)."""
    distribution = {(1.0,): 0.5, (-1.0,): 0.5}
    for level in range(circuit.depth):
        tables = np.asarray(circuit.tables)[2**level - 1 : 2 ** (level + 1) - 1]
        wider = {}
        for values, probability in distribution.items():
            parts = {(): probability}
            for value, table in zip(values, tables, strict=True):
                fitting = [(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0) if table[int(a < 0)][int(b < 0)] == value]
                parts = {(*done, *pair): p / len(fitting) for done, p in parts.items() for pair in fitting}
            for point, p in parts.items():
                wider[point] = wider.get(point, 0.0) + p
        distribution = wider
    return distribution


@pytest.mark.parametrize("gates", [("AND", "OR", "NAND", "NOR"), TWO_VALUED], ids=["and-or", "all but constants"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_probability_of_a_point_is_that_of_the_definition(depth, gates):
    circuit = random_circuit(2**depth, gates, key=root_key(depth))
    expected = by_definition(circuit)
    points, labels, probability = Generative(circuit).support()
    assert len(expected) == 2 ** (2**depth)  # full support
    by_hand = [expected[tuple(row)] for row in np.asarray(points).tolist()]
    np.testing.assert_allclose(probability, by_hand, rtol=1e-6)  # float32, at most seven factors
    np.testing.assert_array_equal(labels, jax.vmap(circuit)(cube(2**depth)))
    with jax.enable_x64(True):
        exact = jax.vmap(Generative(circuit).probability)(jnp.asarray(points, jnp.float64))
    np.testing.assert_allclose(exact, by_hand, rtol=1e-14)


def test_every_level_has_the_distribution_of_the_shallower_circuit():
    """Lemma 9: the gates of the lowest level take D^(i) to D^(i-1)."""
    circuit = random_circuit(8, key=root_key(5))
    above = TreeCircuit(4, circuit.gates[:3])
    points, _, probability = Generative(circuit).support()
    outputs = np.asarray(jax.vmap(circuit.gate_outputs)(points)[2])
    rows = ((outputs < 0) @ np.array([1, 2, 4, 8])).astype(int)
    pushed = np.bincount(rows, np.asarray(probability, float), 16)
    np.testing.assert_allclose(pushed, Generative(above).support()[2], rtol=1e-5)


def test_a_sample_has_the_distribution_of_the_support():
    distribution, batch = Generative(circuit_from_formula("OR(NAND(x0,x1),AND(x2,x3))")), 40_000
    x, y = sample(distribution, root_key(0), batch)
    np.testing.assert_array_equal(y, jax.vmap(distribution.target)(x))
    counts = np.bincount(((np.asarray(x) < 0) @ np.array([1, 2, 4, 8])).astype(int), minlength=16)
    p = np.asarray(distribution.support()[2], float)
    assert np.all(np.abs(counts / batch - p) <= 5 * np.sqrt(p * (1 - p) / batch))


def test_a_deep_sample_is_labelled_by_its_circuit():
    distribution = Generative(random_circuit(256, key=root_key(1)))
    x, y = sample(distribution, root_key(0), 200)
    np.testing.assert_array_equal(y, jax.jit(jax.vmap(distribution.target))(x))
    assert set(np.unique(y)) == {-1, 1}


def test_a_constant_gate_says_so():
    with pytest.raises(ValueError, match=r"gates that take both values, got TRUE at place 2\. Use a product"):
        Generative(TreeCircuit(4, ("AND", "OR", "TRUE")))
