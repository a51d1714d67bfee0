import jax
import numpy as np
import pytest
from halves import HALVES as KNOWN, THREE

from paritylab import FlippedLabels, GateProduct, Mixture, Points, Product, Uniform, root_key
from paritylab.circuits import correlation_intervals, enumerated_tables, gate_tables, node_correlations, sampled_tables
from paritylab.cube import cube
from paritylab.distributions import (
    EasyHalf,
    Encoded,
    Generative,
    SharedSign,
    equal_gates,
    separation,
    sparse_pairs,
    stealth,
)
from paritylab.targets import GATES, random_circuit, random_gate_product

HALVES = KNOWN | {
    "own patterns": EasyHalf(
        GateProduct(("OR", "AND")),
        SharedSign(np.array([1.0, -1.0]), 0.4, 0.1),
        np.array([[0.5, 0.5, 0.0, 1.0], [1.0, 0.2, 0.3, 0.5]]),
    ),
}


def assert_same(tables, others, atol):
    for name in ("gates", "probability", "signal", "label_mean"):
        np.testing.assert_allclose(getattr(tables, name), getattr(others, name), atol=atol)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_product_by_recursion_and_by_enumeration(depth):
    circuit = random_circuit(2**depth, tuple(GATES), key=root_key(depth))
    task = Product(circuit, np.random.default_rng(depth).uniform(-1, 1, 2**depth))
    tables = gate_tables(circuit, task)
    assert tables.route == "recursion"
    assert_same(tables, enumerated_tables(circuit, task), 1e-13)
    assert_same(gate_tables(circuit, Uniform(circuit)), enumerated_tables(circuit, Uniform(circuit)), 1e-13)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_generative_by_recursion_and_by_enumeration(depth):
    names = tuple(name for name in GATES if name not in ("TRUE", "FALSE"))
    circuit = random_circuit(2**depth, names, key=root_key(depth))
    tables = gate_tables(circuit, Generative(circuit))
    assert tables.route == "recursion"
    assert_same(tables, enumerated_tables(circuit, Generative(circuit)), 1e-13)


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_easy_halves_in_closed_form_and_by_enumeration(half):
    tables = gate_tables(half.target, half)
    assert tables.route == "closed form"
    assert_same(tables, enumerated_tables(half.target, half), 1e-13)
    hard = Uniform(half.target)
    assert_same(gate_tables(half.target, hard), enumerated_tables(half.target, hard), 1e-13)
    # The support of a mixture is rounded to float32: 1e-6 covers a sum of 512 such probabilities.
    whole = separation(half, 0.3)
    assert_same(gate_tables(half.target, whole), enumerated_tables(half.target, whole), 1e-6)


def test_a_table_is_its_definition():
    """E[y 1{p}] and P(p) from a plain loop over points and gates, for one circuit."""
    circuit = random_circuit(4, key=root_key(8))
    mean = np.array([0.1, -0.6, 0.3, 0.8])
    tables = gate_tables(circuit, Product(circuit, mean))
    levels = [np.asarray(level) for level in jax.vmap(circuit.gate_outputs)(cube(4))]
    probability, signal = np.zeros((3, 4)), np.zeros((3, 4))
    for row, x in enumerate(np.asarray(cube(4))):
        chance = np.prod((1 + mean * x) / 2)
        for gate, (level, j) in enumerate([(0, 0), (1, 0), (1, 1)]):
            first, second = levels[level + 1][row, 2 * j], levels[level + 1][row, 2 * j + 1]
            pattern = int(first < 0) + 2 * int(second < 0)
            probability[gate, pattern] += chance
            signal[gate, pattern] += chance * levels[0][row, 0]
    np.testing.assert_allclose(tables.probability, probability, atol=1e-14)
    np.testing.assert_allclose(tables.signal, signal, atol=1e-14)
    np.testing.assert_allclose(tables.input_mean[1:].ravel(), mean, atol=1e-14)
    assert tables.names == tuple(
        f"gate ({i}, {j}) ({gate})" for (i, j), gate in zip([(0, 0), (1, 0), (1, 1)], circuit.gates, strict=True)
    )


def test_noise_and_mixtures_follow_from_their_parts():
    circuit = random_circuit(8, key=root_key(2))
    task = Mixture([FlippedLabels(Generative(circuit), 0.2), Product(circuit, 0.3)], [0.25, 0.75])
    tables = gate_tables(circuit, task)
    assert tables.route == "recursion"
    assert_same(tables, enumerated_tables(circuit, task), 1e-6)  # float32 support


def test_labels_of_another_target_are_enumerated():
    circuit, other = random_circuit(4, key=root_key(0)), random_circuit(4, key=root_key(1))
    tables = gate_tables(circuit, Generative(other))
    assert tables.route == "enumeration"
    levels = [np.asarray(level, float) for level in jax.vmap(circuit.gate_outputs)(cube(4))]
    y, probability = (np.asarray(part, float) for part in Generative(other).support()[1:])
    for found, level in zip(node_correlations(circuit, tables), levels, strict=True):
        np.testing.assert_allclose(found, (probability * y) @ level, atol=1e-6)


def test_the_tables_of_a_finite_sample_are_its_averages():
    target = random_gate_product(30, key=root_key(0))
    with pytest.raises(ValueError, match=r"has n=60 inputs and the distribution n=6\. Give both the same"):
        gate_tables(target, Uniform(THREE))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (500, 61)).astype(np.float32)
    sample = Points(signs[:, :60], signs[:, 60])
    tables = gate_tables(target, sample)
    s = np.asarray(jax.vmap(target.gate_outputs)(sample.x), float)
    np.testing.assert_allclose(tables.correlation, np.asarray(sample.y, float) @ s / 500, atol=1e-6)
    assert tables.label_mean == pytest.approx(float(np.mean(sample.y)), abs=1e-6)


@pytest.mark.parametrize("family", [equal_gates, stealth, lambda target: sparse_pairs(target, 0.25)])
def test_a_sample_at_101_gates_agrees_with_the_closed_form(family):
    target, size = random_gate_product(101, key=root_key(5)), 20_000
    task = separation(family(target))
    exact, sampled = gate_tables(target, task), sampled_tables(target, task, size, key=root_key(6))
    assert sampled.samples == size
    # 1{p} and y 1{p} have variances of at most P(p); 4 x 101 numbers each stay within five sigma.
    five_sigma = 5 * np.sqrt(exact.probability / size)
    assert np.all(np.abs(sampled.probability - exact.probability) <= five_sigma)
    assert np.all(np.abs(sampled.signal - exact.signal) <= five_sigma)


@pytest.mark.acceptance
def test_a_sample_of_a_deep_circuit_agrees_with_the_recursion_and_its_intervals_cover():
    circuit, size = random_circuit(128, key=root_key(5)), 20_000
    exact = gate_tables(circuit, Generative(circuit))
    sampled = sampled_tables(circuit, Generative(circuit), size, key=root_key(6))
    five_sigma = 5 * np.sqrt(exact.probability / size)
    assert np.all(np.abs(sampled.signal - exact.signal) <= five_sigma)
    low, high = correlation_intervals(sampled, 0.9999).T
    assert np.all((low <= exact.correlation + 1e-12) & (exact.correlation <= high + 1e-12))
    # Nine in ten intervals at 90%: at least 95 of 127 but with a chance below 1e-5 were they independent.
    low, high = correlation_intervals(sampled, 0.9).T
    assert np.sum((low <= exact.correlation + 1e-12) & (exact.correlation <= high + 1e-12)) >= 95
    assert np.all(correlation_intervals(exact) == exact.correlation[:, None])


def test_a_random_target_has_tables_in_float64():
    target = random_gate_product(7, key=root_key(0))  # its gates are drawn in float32
    named = GateProduct(target.gates)
    for family in (equal_gates, lambda target: sparse_pairs(target, 0.25)):
        assert_same(gate_tables(target, family(target)), gate_tables(named, family(named)), 1e-15)


def test_other_encodings_say_so():
    with pytest.raises(ValueError, match=r"points of -1 and \+1, got a coordinate 0\. Use the distribution without"):
        gate_tables(THREE, Encoded(Uniform(THREE), "bits"))


def test_too_many_points_say_so():
    circuit, other = random_circuit(32, key=root_key(0)), random_circuit(32, key=root_key(1))
    with pytest.raises(ValueError, match=r"on n=32 coordinates would need 1\.02e\+03 GiB; .* n <= 20\. Use `sampled_t"):
        gate_tables(circuit, Uniform(other))
    with pytest.raises(ValueError, match="at least one example, got size=0"):
        sampled_tables(circuit, Uniform(circuit), 0, key=root_key(0))
