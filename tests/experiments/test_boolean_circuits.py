"""What the experiments of boolean-circuits compute, small."""

import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis import audit
from paritylab.experiments.boolean_circuits import lemmas, necessity, recovery
from paritylab.experiments.boolean_circuits.problems import generative, problem, sample, wrong_points
from paritylab.figures import plot_circuit


def test_samples_begin_alike():
    law = generative(2, 0).law
    (small, _), (large, labels) = sample(law, 10, 3), sample(law, 5000, 3)
    np.testing.assert_array_equal(small, large[:10])
    assert labels.shape == (5000,)


def test_a_circuit_differs_from_another_where_it_does():
    one, other = pl.circuit_from_formula("AND(x0,x1)"), pl.circuit_from_formula("OR(x0,x1)")
    points = pl.PackedPatterns.of(np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.ones(4))
    assert wrong_points(one, other, points) == 2 and wrong_points(one, one, points) == 0


def test_recovery_grows_with_the_sample_and_is_exact():
    rows = recovery.runs("generative", 2, 8, 0)
    largest = [row for row in rows if row["multiple"] == max(recovery.MULTIPLES)]
    assert all(row["recovered"] and row["wrong_points"] == 0 and row["error"] == 0 for row in largest)
    assert all(row["samples"] < row["bound"] for row in rows)


def test_the_size_for_nine_in_ten_is_interpolated():
    fractions = np.array([0.0, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0])
    recovered = (np.arange(10)[:, None] < 10 * fractions).astype(float)
    assert recovery.size_for(recovered) == pytest.approx(np.sqrt(1.4), rel=1e-9)  # halfway between 0.8 and 1
    assert recovery.size_for(np.zeros((5, 7))) == np.inf


def test_uniform_parities_collapse():
    (row,) = necessity.parity(8, 3, 0.0, 1)
    assert row["error"] == 0.5 and row["collapsed"] == 1.0 and "Local correlation fails at gate" in row["verdict"]


def test_lemmas_hold_along_a_level_and_not_with_the_printed_sign():
    found = lemmas.along(0, 1, 1500)
    assert found["lemma15"] > 1 and found["lemma22"] < 1
    assert [found[name] for name in ("lemma18", "lemma19", "corollary20", "lemma21")] == [0, 0, 0, 0]
    sides = lemmas.printed()
    assert sides["corrected"] > 1 and sides["printed"] < 0


def test_flipping_the_inputs_of_a_table_twice_gives_it_back():
    table, flips = np.arange(8.0).reshape(2, 4), np.array([[1, -1], [-1, -1]])
    once = lemmas.flipped(table, flips)
    assert once.tolist() == [[2, 3, 0, 1], [7, 6, 5, 4]]
    np.testing.assert_array_equal(lemmas.flipped(once, flips), table)


def test_constant_gates_need_no_correlation():
    """The TRUE gates of a parity's circuit (Lemma 5) tell nothing; the audit leaves them out."""
    circuit = pl.parity_circuit(8, (0, 3, 5))
    found = audit(circuit, pl.Product(circuit, 0.4))
    assert found.property_1 and found.slack == pytest.approx(0.4**2 - 0.4**3)
    known = problem(circuit, pl.Product(circuit, 0.4))
    assert known.matters.sum() == 6 and np.isfinite(known.samples)


def test_a_circuit_is_drawn_with_its_gates():
    circuit = pl.circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")
    figure = plot_circuit(circuit, np.array([1.0, 0.5, 0.2]), "|c|")
    assert {text.get_text() for text in figure.axes[0].texts} == {"OR", "AND", "NAND", "x0", "x1", "x2", "x3"}
    with pytest.raises(ValueError, match="coloured by 3 numbers"):
        plot_circuit(circuit, np.ones(4), "|c|")
