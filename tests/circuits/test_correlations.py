import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from paritylab import GateProduct, Mixture, Product, TreeCircuit, Uniform, distributions as dist, root_key
from paritylab.circuits import (
    audit,
    gate_tables,
    influences,
    label_gap,
    node_correlations,
    reveals_gates,
    sampled_tables,
)
from paritylab.cube import cube
from paritylab.targets import GATES, circuit_from_formula, parity_circuit, random_circuit


@pytest.mark.parametrize("depth", range(1, 9))
def test_the_generative_distribution_gives_powers_of_two_thirds(depth):
    """boolean-circuits, Lemma 8 as corrected: |c_ij| = (2/3)**i at every node of every such circuit, E[y] = 0."""
    for seed in range(2):
        circuit = random_circuit(2**depth, key=root_key(100 * depth + seed))
        tables = gate_tables(circuit, dist.Generative(circuit))
        for i, level in enumerate(node_correlations(circuit, tables)):
            np.testing.assert_allclose(np.abs(level), (2 / 3) ** i, rtol=1e-13)
        found = audit(circuit, tables)
        assert tables.label_mean == 0
        assert found.property_1 and found.property_2
        assert found.slack == pytest.approx((2 / 3) ** (depth - 1), rel=1e-13)
        assert found.slack_with_inputs == pytest.approx((2 / 3) ** depth, rel=1e-13)
        # and not the printed (1/4)**depth, which is false at depth 1.
        assert found.least_probability >= (1 / 6) * (2 / 3) ** (depth - 1) * (1 - 1e-13)


@pytest.mark.parametrize("depth", range(1, 9))
def test_the_circuit_of_ands_has_the_least_probable_pattern(depth):
    circuit = TreeCircuit(2**depth, ("AND",) * (2**depth - 1))
    found = audit(circuit, dist.Generative(circuit))
    assert found.least_probability == pytest.approx((1 / 6) * (2 / 3) ** (depth - 1), rel=1e-13)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6))
def test_parity_circuits_have_products_of_biases(depth, seed):
    """boolean-circuits, Lemma 6: c_ij is the product of the means of the support outside node (i, j)."""
    n, rng = 2**depth, np.random.default_rng(seed)
    size = int(rng.integers(1, min(n, 10) + 1))
    support = np.sort(rng.choice(n, size, replace=False))
    xi = 0.05
    mean = rng.uniform(2 * xi, 1 - 2 * xi, n) * rng.choice([-1, 1], n)
    circuit = parity_circuit(n, support.tolist())
    tables = gate_tables(circuit, Product(circuit, mean))
    assert tables.label_mean == pytest.approx(np.prod(mean[support]), rel=1e-12)
    influence = influences(circuit)
    for i, level in enumerate(node_correlations(circuit, tables)):
        block = n >> i
        for j, c in enumerate(level):
            inside = (support >= j * block) & (support < (j + 1) * block)
            assert influence[i][j] == (1.0 if i == 0 or inside.any() or i < depth else 0.0)
            if inside.any():
                assert c == pytest.approx(np.prod(mean[support[~inside]]), rel=1e-12)
                assert abs(c) - abs(tables.label_mean) >= (2 * xi) ** size * (1 - 1e-12) * (i > 0)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_influences_by_flipping_every_node(depth, seed):
    circuit = random_circuit(2**depth, tuple(GATES), key=root_key(1000 * depth + seed))
    for i, found in enumerate(influences(circuit)):
        if i == 0:
            assert found.tolist() == [1.0]
            continue
        top = TreeCircuit(2**i, circuit.gates[: 2**i - 1])
        label = np.asarray(jax.vmap(top)(cube(2**i)))
        rows = np.arange(2 ** (2**i))
        by_flips = [np.mean(label != label[rows ^ (1 << j)]) for j in range(2**i)]
        np.testing.assert_allclose(found, by_flips, atol=1e-15)


def test_the_counter_example_to_the_printed_regularizer():
    """y = (x0 AND x1) OR (x2 AND x3) at p = 0.632 has E[y] = .279 and Delta = .148."""
    circuit = circuit_from_formula("OR(AND(x0,x1),AND(x2,x3))")
    found = audit(circuit, Product(circuit, 2 * 0.632 - 1))
    assert found.tables.label_mean == pytest.approx(0.279, abs=5e-4)
    assert found.slack_with_inputs == pytest.approx(0.148, abs=5e-4)
    assert found.property_1 and found.property_2


def test_uniform_parity_names_the_gate_without_correlation():
    circuit = parity_circuit(8, (0, 1, 4))
    found = audit(circuit, Uniform(circuit))
    assert not found.property_1 and found.slack == 0 and math.isinf(found.samples)
    assert found.verdict.startswith("Local correlation fails at gate (1, 0) (XNOR): |c| = 0 is not above |E[y]| = 0")


def test_gates_without_influence_need_no_correlation():
    circuit = circuit_from_formula("FIRST(OR(x0,x1),TRUE(x2,x3))")
    found = audit(circuit, Product(circuit, -0.3))
    assert found.influence.tolist() == [1, 1, 0]
    assert found.property_1 and found.tables.names[found.weakest] == "gate (0, 0) (FIRST)"
    # The same gate made to depend on the label by the distribution breaks property 1, not the slack.
    tied = circuit_from_formula("FIRST(OR(x0,x1),FIRST(x2,x3))")
    copies = Mixture([Product(tied, 0.9), Product(tied, -0.9)], [0.5, 0.5])
    broken = audit(tied, copies)
    assert broken.slack > 0 and not broken.property_1
    assert broken.verdict == "Property 1 fails: a gate without influence depends on the label. Make it constant."


def test_a_verdict_in_words():
    circuit = circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")
    assert audit(circuit, dist.Generative(circuit)).verdict == (
        "Local correlation holds with Delta = 0.667; the weakest is gate (1, 0) (AND) with c = 0.667; patterns are "
        "independent of the label given their gate; a pattern that occurs has probability at least 0.111; "
        "by the sign test about 61 examples are enough."
    )


def test_a_correlation_that_nobody_sees_holds_in_name_only():
    target = GateProduct(("OR",) * 51)
    verdict = audit(target, dist.separation(dist.balanced_gates(target))).verdict
    assert verdict.startswith("Local correlation holds in name only, with Delta = 2.22e-16; the weakest is gate 0 (OR)")
    assert verdict.endswith("by the sign test about 2.573e+32 examples are enough.")


def test_a_mixture_can_break_property_two_and_keep_property_one():
    target = GateProduct(("OR", "AND", "OR", "AND", "AND", "OR", "AND", "OR", "AND"))
    found = audit(target, dist.separation(dist.sparse_pairs(target, 0.25)))  # depth-separation
    assert found.property_1 and not found.property_2 and math.isfinite(found.samples)
    assert "but patterns are not independent" in found.verdict
    assert np.all(label_gap(gate_tables(target, dist.sparse_pairs(target, 0.25))) <= 0)  # each half alone keeps it


def test_few_sparse_pairs_can_lose_to_the_uniform_half():
    """With five pairs the uniform half's own 2**-n turns signs for some g: E5 fails there, and not from seven on."""
    by_ands = lambda n: [GateProduct(np.where(np.arange(n) < ands, -1.0, 1.0)) for ands in range(n + 1)]
    finite = lambda n: [
        math.isfinite(audit(t, dist.separation(dist.sparse_pairs(t, 0.25))).samples) for t in by_ands(n)
    ]
    assert finite(5) == [True, True, True, False, False, True]
    assert all(finite(7)) and all(finite(9)) and all(finite(25))


@pytest.mark.acceptance
def test_a_sample_is_judged_within_its_error():
    circuit = random_circuit(16, key=root_key(0))
    found = audit(circuit, sampled_tables(circuit, dist.Generative(circuit), 20_000, key=root_key(0)))
    assert found.property_1 and found.property_2
    target = GateProduct(("OR", "AND", "OR", "AND", "AND", "OR", "AND", "OR", "AND"))
    task = dist.separation(dist.sparse_pairs(target, 0.25))
    assert not audit(target, sampled_tables(target, task, 20_000, key=root_key(0))).property_2


# The table of depth-separation, at share 1/2. Each row: the family, n, and by (n, o, i) its exact c_i
# and E[y] of the easy half, the least pattern probability in the mixture, E[x_i] of the easy half, and what it reveals.
def rows(n):
    prod = lambda o: float(np.prod(o))
    b, c, e, r = 1 - 1 / n, 0.25, 0.5 / n, n - 2
    mu = lambda o: np.where(o > 0, 1 - 2 * c / n, 1 - 6 * c / n)
    others = lambda values: np.array([np.prod(np.delete(values, i)) for i in range(n)])
    ones = np.ones(n)
    return {
        "E1": (dist.equal_gates, lambda o: (ones, 0.0), 5 / 24, lambda o: -o / 3, "single pairs"),
        "E2": (
            lambda target: dist.random_subset(target, r),
            lambda o: (ones * r / n, 0.0),
            (1 / 4 + r / (6 * n)) / 2,
            lambda o: np.where(o > 0, 1 / 3, 1) - 2 * r / (3 * n),
            "single pairs",
        ),
        "E3": (
            lambda target: dist.independent_gates(target, b),
            lambda o: (ones * b ** (n - 1), b**n),
            (1 / 4 + (1 - b) / 6) / 2,
            lambda o: np.where(o > 0, (2 * b - 1) / 3, (1 + 2 * b) / 3),
            "single pairs",
        ),
        "E4": (dist.balanced_gates, lambda o: (0 * ones, 0.0), 5 / 24, lambda o: -o / 3, "single pairs"),
        "E5": (
            lambda target: dist.sparse_pairs(target, c),
            lambda o: (others(mu(o)), prod(mu(o))),
            (1 / 4 + c / n) / 2,
            lambda o: ones * (1 - 4 * c / n),
            "no",
        ),
        "E6": (
            lambda target: dist.noisy_equal(target, e),
            lambda o: (ones * (1 - 2 * e) ** (n - 1), 0.0),
            5 / 24,
            lambda o: -o / 3,
            "single pairs",
        ),
        "E7": (dist.stealth, lambda o: (o * prod(o), prod(o) / 2), 1 / 4, lambda o: 0 * ones, "two pairs"),
    }


def targets(n, count=3):
    rng = np.random.default_rng(n)
    mixed = [rng.choice([-1.0, 1.0], n) for _ in range(count)]
    return [GateProduct(o) for o in mixed if len(set(o)) == 2]


@pytest.mark.parametrize("n", [3, 5, 7, 101])
@pytest.mark.parametrize("name", rows(5))
def test_the_memos_table_by_formula(name, n):
    family, easy, least, x_mean, reveals = rows(n)[name]
    for target in targets(n):
        o = np.asarray(target.ors)
        half = gate_tables(target, family(target))
        c, label = easy(o)
        np.testing.assert_allclose(half.correlation, c, atol=1e-13)
        assert half.label_mean == pytest.approx(label, abs=1e-14)
        np.testing.assert_allclose(half.input_mean, np.column_stack([x_mean(o), x_mean(o)]), atol=1e-13)
        whole = audit(target, dist.separation(family(target)))
        hard = np.array([np.prod(np.delete(o, i)) for i in range(n)]) / 2.0 ** (n - 1)
        np.testing.assert_allclose(whole.correlation, (c + hard) / 2, rtol=1e-12, atol=1e-16)
        expected_label = (label + np.prod(o) / 2.0**n) / 2
        assert whole.tables.label_mean == pytest.approx(expected_label, rel=1e-12)
        assert whole.slack == pytest.approx(np.min(np.abs(c + hard)) / 2 - abs(expected_label), rel=1e-9)
        assert whole.least_probability == pytest.approx(least, rel=1e-12)
        if n < 101:
            assert reveals_gates(family, target) == reveals
            assert reveals_gates(lambda target: dist.separation(family(target)), target) == reveals


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("name", rows(5))
def test_the_memos_table_by_enumeration(name, n):
    """c_i, E[y], E[x_i] and the difference between input distributions from all 4**n points, without tables."""
    family, easy, _, x_mean, reveals = rows(n)[name]
    target = targets(n)[0]
    o = np.asarray(target.ors)
    points, labels, probability = (np.asarray(part, float) for part in family(target).support())
    s = np.asarray(jax.vmap(target.gate_outputs)(jnp.asarray(points, jnp.float32)), float)
    c, label = easy(o)
    # 1024 probabilities in float32: 1e-6.
    np.testing.assert_allclose((probability * labels) @ s, c, atol=1e-6)
    assert probability @ labels == pytest.approx(label, abs=1e-6)
    np.testing.assert_allclose(probability @ points, np.tile(x_mean(o), 2), atol=1e-6)
    distances = [
        np.abs(probability - np.asarray(family(GateProduct(np.where(np.arange(n) == i, -o, o))).support()[2])).sum()
        for i in range(n)
    ]
    assert (max(distances) > 1e-3) == (reveals != "no")


def test_slack_of_each_family_as_the_memo_prints_it():
    n = 5
    slack = lambda family, o: audit(GateProduct(o), dist.separation(family(GateProduct(o)))).slack
    all_gates = [np.array(o) for o in itertools.product((1.0, -1.0), repeat=n)]
    # E1: 1/2 - 3 * 2**(-n-1) at the worst g, exactly.
    assert min(slack(dist.equal_gates, o) for o in all_gates) == pytest.approx(1 / 2 - 3 / 2 ** (n + 1), rel=1e-12)
    for o in all_gates:
        assert slack(dist.stealth, o) == pytest.approx(1 / 4 + 1 / 2 ** (n + 1), rel=1e-12)
        assert slack(dist.balanced_gates, o) == pytest.approx(1 / 2 ** (n + 1), rel=1e-12)
        hard = audit(GateProduct(o), Uniform(GateProduct(o)))
        assert hard.slack == pytest.approx(1 / 2**n, rel=1e-12) and hard.least_probability == 0.25
    # For large n the uniform half adds nothing: r/(2n), b^(n-1)(1-b)/2 ~ 1/(2en), (1-2e)^(n-1)/2, and for E5
    # (c/n) times the product of the other means, about e^(-4c) where half the gates are AND.
    n, o = 101, np.where(np.arange(101) % 2, -1.0, 1.0)
    assert slack(lambda target: dist.random_subset(target, 33), o) == pytest.approx(33 / 202, rel=1e-12)
    b = 1 - 1 / n
    assert slack(lambda target: dist.independent_gates(target, b), o) == pytest.approx(b**100 * (1 - b) / 2, rel=1e-9)
    assert b**100 * (1 - b) / 2 == pytest.approx(1 / (2 * math.e * n), rel=0.01)
    assert slack(lambda target: dist.noisy_equal(target, 0.5 / n), o) == pytest.approx(
        (1 - 1 / n) ** 100 / 2, rel=1e-12
    )
    sparse = slack(lambda target: dist.sparse_pairs(target, 0.25), o)
    assert sparse == pytest.approx(0.25 / n * math.exp(-4 * 0.25), rel=0.02)


@pytest.mark.parametrize("n", [4, 6, 100])
def test_leaving_one_out_serves_even_numbers(n):
    for target in targets(n):
        half, whole = (
            gate_tables(target, dist.leave_one_out(target)),
            audit(target, dist.separation(dist.leave_one_out(target))),
        )
        np.testing.assert_allclose(half.correlation, 1 - 1 / n, rtol=1e-12)
        assert half.label_mean == 0
        assert whole.slack == pytest.approx((1 - 1 / n) / 2, abs=3 / 2 ** (n + 1) + 1e-13)
        assert whole.least_probability == pytest.approx(5 / 24 - 1 / (12 * n), rel=1e-12)
        if n < 100:
            assert reveals_gates(dist.leave_one_out, target) == "single pairs"
        # E1 itself makes the label constant there: no gate correlates, but for what the uniform half adds.
        equal = audit(target, dist.separation(dist.EasyHalf(target, dist.SharedSign(np.ones(n), 0.0))))
        assert not equal.property_1 and equal.slack < 0 and math.isinf(equal.samples)


def test_a_subset_with_uniform_rest_has_exponentially_little_correlation():
    for n, r in ((5, 1), (5, 3), (9, 5), (101, 33)):
        bound = r / n * 2.0 ** (r - n)
        for target in targets(n):
            family = lambda target: dist.random_subset(target, r, "uniform")  # noqa: B023
            tables = gate_tables(target, family(target))
            assert tables.label_mean == 0
            assert np.all(np.abs(tables.correlation) <= bound * (1 + 1e-12))
            if n < 101:
                assert reveals_gates(family, target) == "single pairs"
    all_or = GateProduct(("OR",) * 9)
    tables = gate_tables(all_or, dist.random_subset(all_or, 5, "uniform"))
    np.testing.assert_allclose(tables.correlation, 5 / 9 / 16, rtol=1e-12)  # where no signs cancel


def test_the_uniform_half_reveals_nothing_and_other_distributions_raise():
    target = GateProduct(("OR", "AND", "OR"))
    assert reveals_gates(Uniform, target) == "no"
    with pytest.raises(ValueError, match=r"mixtures of them, got Product\. Write it as an `EasyHalf`"):
        reveals_gates(lambda target: Product(target, 0.0), target)


def test_lemma_three_bounds_the_least_probability():
    """A product distribution with local correlation Delta has patterns of probability at least Delta**2 / 4."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(200):
        circuit = TreeCircuit(4, rng.choice(["XNOR", "XOR", "OR", "AND"], 3).tolist())
        found = audit(circuit, Product(circuit, rng.uniform(0.1, 0.9, 4) * rng.choice([-1, 1], 4)))
        assert found.property_2
        if found.slack_with_inputs > 0:
            held += 1
            assert found.least_probability >= found.slack_with_inputs**2 / 4
    assert held >= 20
