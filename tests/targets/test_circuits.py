import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from paritylab import Parity, TreeCircuit, root_key
from paritylab.cube import cube
from paritylab.targets import (
    GATES,
    circuit_from_formula,
    count_of_functions,
    parity_circuit,
    random_circuit,
    razborov_sherstov,
)
from paritylab.targets.gates import PATTERNS, apply_gates, by_pattern, gate_name, gate_table


@eqx.filter_jit
def nodes(circuit, points):
    """The value of every node at every point; circuits of one depth share the program."""
    return jax.vmap(circuit.gate_outputs)(points)


def by_lookup(circuit, x):
    """Every node of one point by looking signs up in tables, from the definition."""
    levels = [list(x)]
    for level in reversed(range(circuit.depth)):
        tables = np.asarray(circuit.tables)[2**level - 1 : 2 ** (level + 1) - 1]
        below = levels[-1]
        bit = lambda value: int(value < 0)
        levels.append([table[bit(below[2 * j])][bit(below[2 * j + 1])] for j, table in enumerate(tables)])
    return levels[::-1]


def test_the_sixteen_gates_are_all_there():
    assert len(GATES) == 16
    assert {tuple(table.ravel()) for table in GATES.values()} == set(itertools.product((1.0, -1.0), repeat=4))


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("AND", lambda a, b: a and b),
        ("OR", lambda a, b: a or b),
        ("NAND", lambda a, b: not (a and b)),
        ("NOR", lambda a, b: not (a or b)),
        ("XOR", lambda a, b: a != b),
        ("XNOR", lambda a, b: a == b),
        ("FIRST", lambda a, b: a),
        ("SECOND", lambda a, b: b),
        ("NOT_FIRST", lambda a, b: not a),
        ("NOT_SECOND", lambda a, b: not b),
        ("IMPLIES", lambda a, b: b or not a),
        ("IMPLIED_BY", lambda a, b: a or not b),
        ("FIRST_ONLY", lambda a, b: a and not b),
        ("SECOND_ONLY", lambda a, b: b and not a),
        ("TRUE", lambda a, b: True),
        ("FALSE", lambda a, b: False),
    ],
)
def test_gates_do_what_their_names_say(name, rule):
    table = gate_table(name)
    expected = [1.0 if rule(first > 0, second > 0) else -1.0 for first, second in PATTERNS]
    assert by_pattern(table).tolist() == expected
    assert apply_gates(np.broadcast_to(table, (4, 2, 2)), *PATTERNS.T).tolist() == expected
    assert gate_name(table) == name


def test_the_patterns_are_the_rows_of_the_cube():
    np.testing.assert_array_equal(PATTERNS, cube(2))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_circuit_is_its_tables_looked_up(depth):
    circuit = random_circuit(2**depth, tuple(GATES), key=root_key(depth))
    points = cube(2**depth)
    levels = [np.asarray(level) for level in nodes(circuit, points)]
    assert [level.shape[1] for level in levels] == [2**i for i in range(depth + 1)]
    for row in range(len(points)):
        expected = by_lookup(circuit, levels[-1][row].tolist())
        assert [level[row].tolist() for level in levels] == expected
    np.testing.assert_array_equal(levels[-1], points)
    np.testing.assert_array_equal(jax.vmap(circuit)(points), levels[0][:, 0])


def test_circuits_of_one_depth_share_a_program():
    once = eqx.filter_jit(eqx.debug.assert_max_traces(lambda circuit, x: jax.vmap(circuit)(x), max_traces=1))
    points = cube(4)
    seen = {tuple(np.asarray(once(random_circuit(4, key=root_key(seed)), points)).tolist()) for seed in range(5)}
    assert len(seen) > 1


def test_random_circuits_use_every_gate_asked_for_alike():
    draws, names = 2000, ("AND", "NOR", "XOR")
    circuits = eqx.filter_jit(eqx.filter_vmap(lambda key: random_circuit(4, names, key=key)))(
        jr.split(root_key(0), draws)
    )
    assert circuits.tables.shape == (draws, 3, 2, 2)
    tables = np.asarray(circuits.tables).reshape(-1, 4)
    shares = [np.mean(np.all(tables == GATES[name].ravel(), axis=1)) for name in names]
    assert sum(shares) == pytest.approx(1)
    np.testing.assert_allclose(shares, 1 / 3, atol=5 * math.sqrt(1 / 3 * 2 / 3 / (3 * draws)))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 10**6))
def test_formula_and_circuit_are_one(depth, seed):
    circuit = random_circuit(2**depth, tuple(GATES), key=root_key(seed))
    again = circuit_from_formula(circuit.formula.replace(",", " , "))
    np.testing.assert_array_equal(again.tables, circuit.tables)
    assert again.gates == circuit.gates


label = eqx.filter_jit(lambda target, points: jax.vmap(target)(points))


@pytest.mark.parametrize("n", [2, 4, 8])
def test_the_parity_circuit_of_every_subset_is_that_parity(n):
    x = np.asarray(cube(n))
    for mask in range(2**n):
        support = [i for i in range(n) if mask >> i & 1]
        circuit = parity_circuit(n, support)
        levels = nodes(circuit, cube(n))
        np.testing.assert_array_equal(levels[0][:, 0], label(Parity(n, support), cube(n)))
        # Lemma 5: each gate gives the product over the support below it.
        for i, level in enumerate(levels[:-1]):
            size = n >> i
            for j in range(2**i):
                below = [s for s in support if j * size <= s < (j + 1) * size]
                np.testing.assert_array_equal(level[:, j], np.prod(x[:, np.array(below, int)], axis=1))


def test_razborov_sherstov_is_its_definition():
    m = 2
    points = np.asarray(cube(16)) > 0
    x, y = points[:, 0::2].reshape(-1, m, m * m), points[:, 1::2].reshape(-1, m, m * m)
    expected = np.where(np.all(np.any(x & y, axis=2), axis=1), 1.0, -1.0)
    np.testing.assert_array_equal(nodes(razborov_sherstov(m), cube(16))[0][:, 0], expected)


@pytest.mark.parametrize("n", [2, 4])
def test_the_count_of_functions_by_building_them_all(n):
    subtrees = {tuple(np.asarray(cube(n))[:, i].tolist()) for i in range(n)}
    tables = [np.asarray(table) for table in GATES.values()]

    def functions(first, size):
        """All functions of the tree on inputs first .. first + size - 1, as columns over the cube."""
        if size == 1:
            return {tuple(np.asarray(cube(n))[:, first].tolist())}
        left, right = functions(first, size // 2), functions(first + size // 2, size // 2)
        return {
            tuple(np.where(np.array(a) > 0, *[np.where(np.array(b) > 0, *row) for row in table]).tolist())
            for a in left
            for b in right
            for table in tables
        }

    assert len(subtrees) == n
    assert len(functions(0, n)) == count_of_functions(n)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_means_are_those_of_the_enumeration(depth):
    n = 2**depth
    circuit = random_circuit(n, tuple(GATES), key=root_key(10 + depth))
    mean = np.random.default_rng(depth).uniform(-1, 1, n)
    x = np.asarray(cube(n), float)
    probability = np.prod((1 + mean * x) / 2, axis=1)
    for exact, level in zip(circuit.gate_means(mean), nodes(circuit, cube(n)), strict=True):
        np.testing.assert_allclose(exact, probability @ np.asarray(level, float), atol=1e-14)


def test_means_of_4096_inputs_are_those_of_a_sample():
    circuit, batch = random_circuit(4096, key=root_key(3)), 400
    mean = np.random.default_rng(0).uniform(-0.9, 0.9, 4096)
    x = np.where(np.random.default_rng(1).random((batch, 4096)) < (1 + mean) / 2, 1.0, -1.0)
    levels = nodes(circuit, jnp.asarray(x, jnp.float32))
    for exact, level in zip(circuit.gate_means(mean)[2:8], levels[2:8], strict=True):
        assert np.all(
            np.abs(np.asarray(level, float).mean(axis=0) - exact) <= 5 * np.sqrt((1 - exact**2) / batch) + 1e-9
        )


def test_the_drawing_holds_every_node_and_note():
    circuit = circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")
    notes = [["c=1"], ["c=a", "c=b"]]
    assert circuit.text(notes).splitlines() == [
        "OR  c=1",
        "├── AND  c=a",
        "│   ├── x0",
        "│   └── x1",
        "└── NAND  c=b",
        "    ├── x2",
        "    └── x3",
    ]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("OR(AND(x0,x1),NXND(x2,x3))", r"Unknown gate 'NXND' \(the gates are AND, OR, .*\) at position 14 of 'OR\("),
        ("OR(AND(x0,x1),NAND(x2,x3)", r"Expected '\)' to close the bracket of OR, got the end at position 25 of"),
        ("OR(AND(x0,x1),NAND(x2,x3)))", r"Expected the end, got '\)' at position 26 of"),
        ("OR(AND(x0,x1,NAND(x2,x3)))", r"Expected '\)' to close the bracket of AND, got ',' at position 12 of"),
        ("OR(AND(x0,x1),x2)", r"The inputs of OR must be trees of one depth .*, got depths 1 and 0 at position 0"),
        ("AND(x1,x0)", r"Expected x0, as inputs come in order from left to right, got x1 at position 4"),
        ("AND x0,x1", r"Expected '\(' after AND, got 'x0' at position 4"),
        ("AND(x0;x1)", r"Expected ',' between the two inputs of AND, got ';' at position 6"),
        ("AND(x0,)", r"Expected a gate or an input, got '\)' at position 7"),
        ("  ", r"Expected a gate or an input, got the end at position 2"),
        ("OR(" * 3000, r"at most 19 gates deep, got one more at position 57 of '(OR\(){20,25}.*\.\.\.\.$"),
        ("x0", r"at least one gate, got a lone input at position 0"),
    ],
)
def test_a_wrong_formula_shows_where(formula, message):
    with pytest.raises(ValueError, match=message):
        circuit_from_formula(formula)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TreeCircuit(6, ("AND",) * 5), r"n = 2\*\*depth inputs .*, got n=6\. Use n=8"),
        (lambda: random_circuit(1, key=root_key(0)), r"n = 2\*\*depth .*, got n=1\. Use n=2"),
        (lambda: parity_circuit(12, ()), r"got n=12\. Use n=16"),
        (lambda: TreeCircuit(4, ("AND", "OR")), r"on n=4 inputs has 3 gates, got 2\. Name one gate a node"),
        (lambda: TreeCircuit(2, ("NUND",)), r"There is no gate 'NUND'; the gates are AND, OR,"),
        (
            lambda: TreeCircuit(2, [np.ones((3, 2))]),
            r"2x2 table of -1 and \+1, got \[\[1\. 1\.\] \[1\. 1\.\] ",
        ),
        (lambda: TreeCircuit(2, [[[1, 1], [1]]]), r"2x2 table of -1 and \+1, got \[\[1, 1\], \[1\]\]"),
        (lambda: TreeCircuit(2, [[[1, 1], [1, 0]]]), r"2x2 table of -1 and \+1, got \[\[1, 1\], \[1, 0\]\]"),
        (lambda: parity_circuit(4, (0, 4)), r"distinct inputs in 0\.\.3, got support=\(0, 4\)"),
        (lambda: razborov_sherstov(3), r"m is a power of two, got m=3"),
        (lambda: random_circuit(4, (), key=root_key(0)), r"at least one gate to choose from, got none"),
        (lambda: parity_circuit(4, ()).gate_means(1.5), r"one mean in \[-1, 1\], or one for each of n=4, got 1\.5"),
        (lambda: parity_circuit(4, ()).gate_means([0.1, 0.2]), r"each of n=4, got \[0\.1, 0\.2\]"),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_point_of_a_stack_of_circuits():
    circuits = [random_circuit(4, key=root_key(seed)) for seed in range(3)]
    stacked = jax.tree.map(lambda *tables: jnp.stack([jnp.asarray(table) for table in tables]), *circuits)
    values = eqx.filter_vmap(lambda circuit: jax.vmap(circuit)(cube(4)))(stacked)
    np.testing.assert_array_equal(values, [jax.vmap(circuit)(cube(4)) for circuit in circuits])
