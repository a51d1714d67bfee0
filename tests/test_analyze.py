"""`paritylab analyze` and `paritylab bound`: the same numbers as the functions behind them, and kind words."""

import importlib
import inspect
import json
import math
import os

import pytest
from typer.testing import CliRunner

from paritylab import analysis, bounds
from paritylab.cli import app
from paritylab.registry import BOUNDS
from paritylab.targets import parity_circuit


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def document(*words):
    done = run(*words, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_exists_and_takes_numbers_alone(name):
    module, function = BOUNDS[name][0].split(":")
    found = getattr(importlib.import_module(f"paritylab.bounds.{module}"), function)
    parameters = inspect.signature(found).parameters
    kinds = {each.annotation for key, each in parameters.items() if not key.endswith("constants")}
    assert kinds <= {int, float, int | float}


def test_a_bound_is_what_the_function_says():
    found = document("bound", "kernel", "--n", 30, "--k=3", "--norm", 10)["points"][0]
    expected = bounds.kernel(30, 3, norm=10)
    assert (found["value"], found["sentence"], found["applies"]) == (expected.value, expected.sentence, True)
    assert run("bound", "kernel", "--n", 30, "--k", 3, "--norm", 10).stdout.startswith(expected.sentence)


def test_a_list_of_numbers_gives_a_curve_and_a_picture(tmp_path):
    found = document("bound", "queries", "--n", "20,40", "--k", "2,3", "--tolerance", 0.1, "--out", tmp_path)
    assert [(point["n"], point["k"]) for point in found["points"]] == [(20, 2), (20, 3), (40, 2), (40, 3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bound-queries.json", "bound-queries.pdf", "bound-queries.png",
    ]  # fmt: skip
    assert json.loads((tmp_path / "bound-queries.json").read_text()) == found


def raise_full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "words",
    [
        ("bound", "queries", "--n", "20,40", "--k", 2, "--tolerance", 0.1),
        ("analyze", "fourier"),
        ("analyze", "gap"),
        ("analyze", "correlation", "--formula", "AND(x0,x1)"),
        ("analyze", "margin", "--n", "5"),
        ("analyze", "kernel"),
    ],
    ids=lambda words: words[1],
)
def test_a_full_disk_is_one_sentence_and_the_numbers_are_still_printed(words, tmp_path, monkeypatch):
    printed = run(*words)
    monkeypatch.setattr(os, "replace", raise_full)
    for more in ((), ("--json",)):
        told = run(*words, *more, "--out", tmp_path)
        assert told.exit_code == 1, told.exception
        assert told.stderr.count("\n") == 1 and ".json cannot be written (No space left on device)" in told.stderr
        assert json.loads(told.stdout) if more else told.stdout == printed.stdout
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bound", "kernal"), "There is no bound 'kernal'; did you mean 'kernel'?"),
        (("bound", "kernel", "--n", 30), "The bound 'kernel' also needs --k --norm. It takes: --n --k --norm."),
        (("bound", "kernel", "--m", 30), "There is no number of the bound 'kernel' called 'm'; did you mean "),
        (
            ("bound", "kernel", "--n", "3.5"),
            "--n takes a whole number, or several with commas between them",
        ),
        (("bound", "kernel", "--n"), "The numbers of a bound are written --n 30 --k 3, got '--n'."),
        (("bound", "kernel", "--n", 3, "--k", 4, "--norm", 1), "1 <= k <= n, got k=4 on n=3"),
        (("bound", "kernel", "n", 30), "are written with two dashes, got 'n'. Write --n."),
        (("bound", "kernel", "-n", 30), "are written with two dashes, got '-n'. Write --n."),
        (
            ("bound", "polynet", "--block", 10, "--k", 1_000_000, "--error", 0.1, "--failure", 0.1),
            "'polynet' at --block 10 --k 1000000 --error 0.1 --failure 0.1 leads to numbers beyond what a float",
        ),
        (
            ("bound", "margin-rank", "--width", 10, "--half", 5, "--weight", "inf", "--margin", 0.1),
            "--weight takes a finite number, or several with commas between them, got 'inf'.",
        ),
        (("bound", "kernel", "--n", 3, "--k", 2, "--norm", "1,nan"), "--norm takes a finite number"),
        (("analyze", "fourier", "--target", "random-symmetric", "--seed", 10**30), "--seed is a whole number from 0"),
        (("analyze", "correlation", "--pairs", 3, "--seed", 10**30), "--seed is a whole number from 0 to 4294967295"),
        (("analyze", "gap", "--seed", -1), "--seed is a whole number from 0 to 4294967295, got -1."),
        (("analyze", "gap", "--bias", "nan"), "--bias is a finite number, got nan."),
        (("analyze", "gap", "--n", 10**13), "<= 1000000 coordinates, got n=10000000000000."),
        (("analyze", "fourier", "--n", 10**13 + 1), "<= 1000000 coordinates, got n=10000000000001."),
        (("analyze", "fourier", "--target", "full-parity", "--n", 10**13), "<= 1000000 coordinates, got n=1000"),
        (("analyze", "fourier", "--target", "parity", "--k", 12), "1 <= k <= n, got k=12 on n=11 coordinates."),
        (
            ("analyze", "correlation", "--formula", "OR(" * 3000),
            "at most 19 gates deep, got one more at position 57",
        ),
        (("analyze", "fourier", "--target", "parety"), "There is no target 'parety'; did you mean 'parity'?"),
        (("analyze", "fourier", "--target", "parity", "--n", 40), "would take 1.02e+03 GiB."),
        (("analyze", "gap", "--k", 101), "A gap needs 1 <= k < n, got k=101 on n=101 coordinates."),
        (("analyze", "gap", "--weights", "gauss"), "did you mean 'gaussian'?"),
        (("analyze", "correlation"), "Name a circuit with --formula, or a number of gates with --pairs, and not both."),
        (("analyze", "correlation", "--formula", "OR(x0,x1"), "OR(x0,x1"),
        (("analyze", "correlation", "--pairs", 8, "--distribution", "equal"), "got 8"),
        (("analyze", "margin", "--target", "parity"), "Margins are those of symmetric functions, got 'parity'."),
        (("analyze", "kernel", "--kind", "nkt"), "did you mean 'ntk'?"),
    ],
)
def test_wrong_input_is_one_sentence(words, sentence, tmp_path):
    said = run(*words, "--out", tmp_path / "out")
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("paritylab: ") and sentence in said.stderr
    assert said.stderr.count("\n") == 1 and len(said.stderr) < 500
    assert not (tmp_path / "out").exists()


def test_fourier():
    found = document("analyze", "fourier", "--target", "majority", "--n", 3, "--rho", "0.5")
    assert found["weight"] == [0, 0.75, 0, 0.25] and found["total_influence"] == 1.5
    assert found["noise_stability"] == {"0.5": 0.75 / 2 + 0.25 / 8}
    circuit = document("analyze", "fourier", "--formula", "AND(x0,x1)", "--rho", "1")
    assert circuit["weight"] == [0.25, 0.5, 0.25] and circuit["n"] == 2
    many = run("analyze", "fourier", "--target", "majority", "--n", 101)
    assert "further levels" in many.stdout and "route: symmetric, O(n^2)" in many.stdout


def test_a_picture_of_a_formula_has_the_formula_s_n(tmp_path, monkeypatch):
    titles = []
    monkeypatch.setattr("paritylab.figures.plot_bars", lambda values, what, title: titles.append(title))
    document("analyze", "fourier", "--formula", "AND(x0,x1)", "--out", tmp_path)
    assert titles == ["AND(x0,x1), n = 2"]


def test_a_folder_in_the_place_of_a_picture_is_wrong_input(tmp_path):
    (tmp_path / "fourier.png").mkdir()
    said = run("analyze", "fourier", "--n", 3, "--out", tmp_path)
    assert (said.exit_code, said.stdout) == (2, "")
    assert f"--out {tmp_path}: fourier.png cannot be written (" in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["fourier.png"]


def test_tables_that_are_cut_say_so():
    assert "... 6 further levels (--json has all)" in run("analyze", "kernel", "--n", 30).stdout.splitlines()
    assert "further" not in run("analyze", "kernel", "--n", 24).stdout
    deep = parity_circuit(64, range(64)).formula
    assert (
        "... 23 further gates (--json has all)" in run("analyze", "correlation", "--formula", deep).stdout.splitlines()
    )


def test_gap_of_equal_weights_is_that_of_majority():
    found = document("analyze", "gap", "--n", 15, "--k", 4, "--weights", "ones")
    assert found["route"] == "enumeration"
    assert found["gamma"] == pytest.approx(found["majority_gap"], rel=1e-12)
    assert len(found["gradient"]) == 15


@pytest.mark.parametrize(
    ("words", "zero"),
    [
        ("--n 101 --k 3 --weights ones", ["least_relevant", "most_irrelevant", "gamma", "weak_gap"]),
        ("--n 101 --k 3", ["least_relevant", "most_irrelevant", "gamma", "weak_gap"]),
        ("--n 101 --k 1 --weights signs", ["most_irrelevant"]),
        ("--n 101 --k 4 --weights ones", ["bias_gradient"]),
        ("--n 100 --k 3 --weights ones", []),
        ("--n 15 --k 3 --weights ones --bias 1.5", []),
        ("--n 15 --k 2 --activation sigmoid", ["least_relevant", "most_irrelevant", "gamma", "weak_gap"]),
        ("--n 15 --k 3 --activation sigmoid", ["bias_gradient"]),
    ],
)
def test_what_is_zero_by_symmetry_says_so(words, zero):
    found = document("analyze", "gap", *words.split())
    assert sorted(found["zero_by_symmetry"]) == sorted(zero)
    numbers = ("bias_gradient", "least_relevant", "most_irrelevant")
    assert [name for name in numbers if found[name] == 0] == [name for name in numbers if name in zero]
    printed = dict(line.split(": ") for line in run("analyze", "gap", *words.split()).stdout.splitlines())
    for name in ("least_relevant", "most_irrelevant", "gamma", "weak_gap"):
        assert (printed[name.replace("_", " ")] == "0 (zero by symmetry)") == (name in zero)


def test_correlation_of_a_generative_circuit():
    found = document(
        "analyze", "correlation", "--formula", "OR(AND(x0,x1),NAND(x2,x3))", "--distribution", "generative"
    )
    assert [gate["correlation"] for gate in found["gates"]] == pytest.approx([1, 2 / 3, 2 / 3])
    assert found["slack"] == pytest.approx(2 / 3) and "Local correlation holds" in found["verdict"]


def test_margin_and_kernel(tmp_path):
    rows = document("analyze", "margin", "--n", "5,20", "--out", tmp_path)["rows"]
    assert [row["margin"] for row in rows] == pytest.approx([0.5 / math.sqrt(4 * n - 17 / 6) for n in (5, 20)])
    rows = document("analyze", "kernel", "--n", 12, "--bias", 0, "--out", tmp_path)["rows"]
    assert [rows[level]["eigenvalue"] for level in (3, 5, 7)] == [0, 0, 0]
    assert all(row["best_hinge"] >= row["bound"] - 1e-12 for row in rows[1:])
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".pdf", ".png"}


@pytest.mark.parametrize(("kind", "made"), [("ntk", analysis.relu_ntk), ("features", analysis.relu_conjugate_kernel)])
def test_the_kernel_has_one_default_bias(kind, made):
    found = document("analyze", "kernel", "--n", 8, "--kind", kind)
    assert found["bias"] == inspect.signature(made).parameters["bias"].default
    assert [row["eigenvalue"] for row in found["rows"]] == made(8).normalized().eigenvalues().tolist()
