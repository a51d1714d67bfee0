"""What the experiments of boolean-circuits compute, small."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from judging import results_of, values

import paritylab as pl
from paritylab.circuits import audit
from paritylab.distributions.points import growing_sample
from paritylab.experiments.boolean_circuits import (
    comparison,
    corollary13,
    figure1,
    figure4,
    lemmas,
    necessity,
    recovery,
    shallow,
    statements,
)
from paritylab.experiments.boolean_circuits.shared import halves, sizes
from paritylab.experiments.boolean_circuits.shared.problems import (
    LEAST_SLACK,
    HeldPatterns,
    biased_parity,
    generative,
    held,
    packed_sample,
    problem,
    product_circuit,
    safe_width,
    wrong_points,
)
from paritylab.figures import plot_circuit


def test_samples_begin_alike():
    distribution = generative(2, 0).distribution
    (small, _), (large, labels) = (growing_sample(distribution, size, key=pl.root_key(3)) for size in (10, 5000))
    np.testing.assert_array_equal(small, large[:10])
    assert labels.shape == (5000,)
    packed, plain = packed_sample(distribution, 4100, 3), pl.circuits.PackedPatterns.of(large[:4100], labels[:4100])
    np.testing.assert_array_equal(packed.inputs, plain.inputs)
    np.testing.assert_array_equal(packed.labels, plain.labels)


def test_a_circuit_differs_from_another_where_it_does():
    one, other = pl.targets.circuit_from_formula("AND(x0,x1)"), pl.targets.circuit_from_formula("OR(x0,x1)")
    points = pl.circuits.PackedPatterns.of(np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.ones(4))
    assert wrong_points(one, other, points) == 2 and wrong_points(one, one, points) == 0


def test_lemmas_hold_along_a_level_and_not_with_the_printed_sign():
    found = lemmas.along(0, 1, 1500)
    assert found["lemma15"] > 1 and found["lemma22"] < 1
    assert all(found[f"{name}_exchanged"] > 0 for name in ("lemma18", "lemma19", "corollary20", "lemma21"))
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
    circuit = pl.targets.parity_circuit(8, (0, 3, 5))
    found = audit(circuit, pl.Product(circuit, 0.4))
    assert found.property_1 and found.slack == pytest.approx(0.4**2 - 0.4**3)
    known = problem(circuit, pl.Product(circuit, 0.4))
    assert known.matters.sum() == 6 and np.isfinite(known.samples)


def test_a_circuit_is_drawn_with_its_gates():
    circuit = pl.targets.circuit_from_formula("OR(AND(x0,x1),NAND(x2,x3))")
    figure = plot_circuit(circuit, np.array([1.0, 0.5, 0.2]), "|c|")
    assert {text.get_text() for text in figure.axes[0].texts} == {"OR", "AND", "NAND", "x0", "x1", "x2", "x3"}
    with pytest.raises(ValueError, match="coloured by 3 numbers"):
        plot_circuit(circuit, np.ones(4), "|c|")


def test_recovery_is_measured_over_circuits(monkeypatch):
    monkeypatch.setattr(recovery, "DEEPEST", 3)
    cases = (*(sizes.Case(family, depth, 8) for family in ("generative", "biased parity") for depth in (2, 3)),
             sizes.Case("product", 2, 3))  # fmt: skip
    settings = recovery.Settings(cases=cases, held=(3, 4), stepping=True)
    rows = [
        {"family": family, "depth": depth, **row}
        for family, depth, trials in cases
        for row in recovery.runs(family, depth, trials, 0)
    ]
    most = [row for row in rows if row["multiple"] == max(sizes.MULTIPLES)]
    assert all(row["recovered"] and row["wrong_points"] == 0 and row["error"] == 0 and row["saturated"] for row in most)
    assert all(row["samples"] < row["bound"] for row in rows)
    control = recovery.held_runs("biased parity", 3, 4, 0)
    rows += [{"family": "biased parity held", "depth": 3, **row} for row in control]
    rows += [{"family": "deepest", "method": how, **recovery.deepest(3, how)} for how in ("jump", "step")]
    found = values(recovery, settings, results_of(rows))
    assert found["generative/d2/recovers"].value == 1 and found["points"].value == 0
    assert found["d3/gates"].value == found["d3/step/gates"].value == 7
    assert found["generative/power"].value > 0 and 0.2 < found["generative/d2/size"].value < 4


@pytest.mark.parametrize(("control", "gain"), [(True, 1.0), (False, 0.0)])
def test_held_gates_are_told_from_others(control, gain):
    case = sizes.Case("biased parity", 3, 5)
    rows = [
        {"family": case.family + kind, "depth": 3, "circuit": circuit, "multiple": multiple, "recovered": good}
        for kind, multiples, good in (("", sizes.MULTIPLES, False), (" held", recovery.HELD_MULTIPLES, control))
        for circuit in range(5)
        for multiple in multiples
    ]
    assert recovery.held_gain(pd.DataFrame(rows), case).value == gain


def test_gates_without_influence_are_held():
    known = biased_parity(3, 0)
    tables = np.full((7, 2, 2), -1.0)
    kept = held(pl.TreeCircuit(8, tables), known.matters)
    np.testing.assert_array_equal(np.asarray(kept.tables)[:, 0, 0] < 0, known.matters)
    above = HeldPatterns(known.patterns, known.matters).above(np.full((4, 4), -1.0))
    assert above.gates == 2 and above.tables()[0].shape == (2, 4)


def test_random_products_meet_the_assumptions():
    known = product_circuit(2, 1)
    found = audit(known.circuit, known.distribution)
    assert found.property_1 and found.property_2 and found.slack >= LEAST_SLACK


def test_f_2_is_learned_deep():
    """Both halves of Corollary 13, made up but for what is exact."""
    settings = dataclasses.replace(corollary13.SETTINGS["quick"], samples=((2, 4), (4, 4)))
    rows = [{"family": corollary13.FAMILY, "depth": 4, **row} for row in recovery.runs(corollary13.FAMILY, 4, 4, 0)]
    rows += [{**row, "depth": 7, "samples": 20 * row["samples"]} for row in rows]
    assert corollary13.whole(2) == {"gates": 15, "error": 0.0, "units": 15 * safe_width(16)}
    assert corollary13.shattered(2) == {"rows": 6}
    rows += [{"family": "population", "m": m, "gates": 2 * m**3 - 1, "error": 0.0, "units": 100} for m in (2, 4, 8)]
    rows += [{"family": "shattered", "m": m, "rows": m**3 - m} for m in (2, 4, 8)]
    errors = {"f_2": 0.01, "f_4": 0.2}
    curve = lambda last: {"recorded_step": [0, 600, 1200], "fresh_error": [0.5, 0.3, last]}
    rows += [{"family": "shallow", "function": name, "width": 64, **curve(last)} for name, last in errors.items()]
    found = values(corollary13, settings, results_of(rows))
    assert found["f2/recovers"].value == found["f2/margin"].value == 1 and found["f4/shallow"].value == 0.2
    assert found["f2/shallow"].value == pytest.approx(0.05) and found["power"].value > 0


def figure1_rows(rare, shown):
    steps = [0, 2000, 4000]
    errors = {0.5: (0.497, 0.502), 0.6: (0.0, 0.0004), 0.7: (0.0024, 0.0024)}
    curve = lambda last: {"k": 5, "recorded_step": steps, "fresh_error": [0.5, 0.5, last]}
    parts = lambda last, rare: {"errors_by_part": [[[0.5, 1.0], [0.5, 1.0]]] * 2 + [[[last, 0.1], [rare, 1.0]]]}
    rows = [{"kind": "figure", "p": p, **curve(last), **(parts(last, rare) if p == 0.7 else {})}
            for p, ends in errors.items() for last in ends]  # fmt: skip
    rows += [{"kind": "shown", "p": 0.7, **curve(0.0), **parts(0.0, shown)} for _ in range(2)]
    return [*rows, {"kind": "long", "p": 0.5, **curve(0.504)}]


def test_figure_1_takes_the_worst_seed():
    settings = dataclasses.replace(figure1.SETTINGS["quick"], steps=4000, every=2000)
    found = values(figure1, settings, results_of(figure1_rows(rare=1.0, shown=0.0)))
    assert found["biased"].value == pytest.approx(0.9996) and found["uniform"].value == pytest.approx(0.003)
    assert found["uniform/rates"].value == pytest.approx(0.004)
    assert found["transition/below"].value == 0 and found["transition/above"].value == 1
    assert found["transition/perfect"].value == 0
    assert found["rare/where"].value == 1 and found["rare/shown"].value == 1


def test_errors_at_other_patterns_are_not_the_rare_one():
    settings = dataclasses.replace(figure1.SETTINGS["quick"], steps=4000, every=2000)
    found = values(figure1, settings, results_of(figure1_rows(rare=0.0, shown=1.0)))
    assert found["rare/where"].value == 0 and found["rare/shown"].value == 0


def test_figure_4_is_held_against_a_pixel(monkeypatch):
    monkeypatch.delenv("PARITYLAB_DATA", raising=False)
    figure4.images.cache_clear()  # another test may have found CIFAR-10
    settings = figure4.SETTINGS["quick"]
    last = {"top_1": [0.1, 0.2], "top_5": [0.5, 0.6], "bits_deviation": [0.0, 0.5]}
    rows = [
        {"side": side, "recorded_step": [0, settings.steps], **last, "bits": [0.0, bits]}
        for side, bits in zip(settings.sides, (0.2, 0.2, 0.25, 0.3), strict=True)
    ]
    found = values(figure4, settings, results_of(rows))
    assert found["3x3/bits"].value == pytest.approx(0.2) and found["3x3/pixel"].value == 0
    assert found["grows"].value == pytest.approx(0.1)
    assert all("made-up textures" in claim.statement for claim in figure4.claims(settings))


def test_the_comparison_counts_what_was_learned():
    settings = comparison.SETTINGS["quick"]
    rows = [{"way": "layerwise", "depth": 3, "learned": i < 9} for i in range(10)]
    curve = {"recorded_step": [0, 100, 2000], "fresh_error": [0.5, 0.2, 0.1]}
    rows += [
        {"way": way, "depth": 3, "outcome": "learned" if i < count else "out_of_steps", **curve}
        for way, count in (("gates", 4), ("dense", 10))
        for i in range(10)
    ]
    found = values(comparison, settings, results_of(rows))
    assert found["d3/layerwise"].value == 0.9 and found["d3/no-worse"].value == pytest.approx(0.5)


def test_greedy_training_fails_on_squares_and_on_uniform_parities():
    settings = necessity.SETTINGS["quick"]
    rows = [{"n": n, "k": k, "mean": mean, **row} for n, k in necessity.PARITIES for mean in (0.0, necessity.BIAS)
            for row in necessity.parity(n, k, mean, 1)]  # fmt: skip
    assert rows[0]["error"] == 0.5 and "Local correlation fails at gate" in rows[0]["verdict"]
    rows += necessity.random_circuits(0, 12)
    rows += [{"way": "gradient", **row} for row in necessity.enumerated(3, 10, 4, 2)]
    rows += [{"way": way, "outcome": outcome} for way, outcome in (("alone", "out_of_steps"), ("together", "learned"))]
    found = values(necessity, settings, results_of(rows))
    assert found["squares/gradient"].value == 0 and found["squares/alone"].value == 0
    assert found["uniform/n16-k4/collapse"].value == 1 and found["biased/n16-k4/error"].value == 0
    assert found["sufficient"].value == 0


def test_networks_keep_within_lemma_23_and_theorem_12():
    for row in halves.integer_networks(4, 5):
        assert row["over_corrected"] <= 1 and row["over_printed"] <= 1
    for row in halves.random_networks(3, 10):
        assert row["off"] <= 1 and row["same_signs"]
    for row in halves.edge_networks(3, 16):
        assert 0.9 < row["off"] <= 1 and row["same_signs"] and not row["same_coarsely"]
    assert all(0.5 < row["over_corrected"] <= 1 < row["full_over_printed"] for row in halves.tight_networks(6, 5))
    first, second = np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]])
    or_of_two = halves.Network(first, second, np.array([1.0, 1.0]), np.array([1.0, -0.5]))
    assert or_of_two.matrix().tolist() == [[2.5, 0.5], [0.5, -0.5]]
    assert halves.theorem12(or_of_two, np.array([[1.0, 1.0], [1.0, -1.0]]))["margin"] == 0.5
    assert halves.theorem12(or_of_two, np.array([[1.0, 1.0], [1.0, 1.0]]))["margin"] == -0.5


def test_sign_ranks_and_widths_stand_side_by_side():
    settings = shallow.SETTINGS["quick"]
    ranks = {"weighted": 3.0, "above": 6.0}
    rows = [{"part": "ranks", "function": name, "plain": 2 ** (half / 2), "rows": 2**half, **ranks}
            for name, half in halves.FUNCTIONS.items()]  # fmt: skip
    rows += [{"part": "integer", **row} for row in halves.integer_networks(4, 3)]
    rows += [{"part": "tight", **row} for row in halves.tight_networks(6, 3)]
    rows += [{"part": "random", **row} for row in halves.random_networks(3, 3)]
    rows += [{"part": "edge", **row} for row in halves.edge_networks(3, 16)]
    known = {"margin": 0.5, "weight": 1.0, "off": 0.2, "same_signs": True, "same_coarsely": True}
    rows += [{"part": "trained", "function": name, **known} for name in shallow.TRAINED]
    rows += [
        {"part": "widths", "function": name, "width": width, "outcome": "learned" if width > 4 else "out_of_steps"}
        for name, widths in settings.widths
        for width in widths
    ]
    found = values(shallow, settings, results_of(rows))
    assert found["order"].value == 0.5 and found["theorem12/signs"].value == 1 and found["width/f_2"].value == 1
    line = shallow.read(settings, results_of(rows)).needed["inner product 4"]
    assert (line.function, line.low, line.some, line.most) == ("inner product 4", 3, 16, 16)


def test_all_functions_are_counted():
    assert [statements.functions(n)["functions"] for n in (2, 4)] == [16, 520]
    assert statements.growth() > 0.5
