"""Sweeps in files: axes, zips, ranges, conditions, and one sentence for whatever is wrong."""

import inspect
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paritylab import progress
from paritylab.cli.sweep import outcome_of
from paritylab.cli.train import train
from paritylab.registry import TRAIN_DEFAULTS
from paritylab.sweep.conditions import condition
from paritylab.sweep.files import MOST_POINTS, axis, parse, read, sweep_of

GOOD = """
conditions = ["width >= k", "not (k == 3 and batch == 128)"]
runs_per_job = 200
[fixed]
n = 12
seeds = 3
steps = 100
[axes]
k = [2, 3]
rate = [0.1, 1.0]
batch = {from = 32, to = 128, times = 2}
[[zip]]
network = ["relu-mlp", "poly-mlp", "polynet"]
width = [2, 4, "default"]
"""


def written(tmp_path, text: str):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    return path


def test_a_file_names_all_combinations_that_keep_the_conditions(tmp_path):
    text = GOOD.replace('"width >= k", ', "")
    said = read(written(tmp_path, text))
    # degrees, rates, batches, networks; without batch 128 at degree 3
    assert len(said.points) == 2 * 2 * 3 * 3 - 1 * 2 * 1 * 3 and said.runs_per_job == 200
    assert {point["batch"] for point in said.points if point["k"] == 3} == {32, 64}
    assert {(point["network"], point["width"]) for point in said.points} == {
        ("relu-mlp", 2),
        ("poly-mlp", 4),
        ("polynet", "default"),
    }
    sweep = sweep_of(said)
    assert len(sweep) == 3 * len(said.points)
    columns = sweep.works[0].columns
    assert {"k", "rate", "batch", "network", "width", "n"} <= columns.keys() and "seeds" not in columns


def test_the_example_can_be_read():
    example = Path(__file__).parents[2] / "examples" / "parities.toml"
    # degrees, batches, rates, networks; without batch 32 at degree 4
    assert len(sweep_of(read(example))) == 25 * (3 * 3 * 3 * 2 - 3 * 2)


def test_the_keys_are_the_options_of_train():
    options = set(inspect.signature(train).parameters) - {"out", "as_json"}
    assert options == set(TRAIN_DEFAULTS)
    for name, default in TRAIN_DEFAULTS.items():
        given = inspect.signature(train).parameters[name].default
        assert (float(given) if name == "rate" else given) == default, name


def test_functions_are_swept_by_their_arguments():
    said = parse(JOB, ["paritylab.sweep.files"])
    assert [point["name"] for point in said.points] == ["n", "m"]


JOB = {"job": "paritylab.sweep.files:axis", "fixed": {"values": [1]}, "axes": {"name": ["n", "m"]}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"from": 1, "to": 4}, [1, 2, 3, 4]),
        ({"from": 10, "to": 35, "step": 10}, [10, 20, 30]),
        ({"from": 0.1, "to": 0.5, "step": 0.1}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"from": 1, "to": 1024, "times": 4}, [1, 4, 16, 64, 256, 1024]),
        ({"from": 0.001, "to": 1, "times": 10}, [0.001, 0.01, 0.1, 1.0]),
        (["a", "b"], ["a", "b"]),
    ],
)
def test_ranges(values, expected):
    assert axis("x", values) == expected


WRONG = {
    "an unknown part": ("[axis]\nk = [1]", "There is no part of a sweep 'axis'; did you mean 'axes'?"),
    "an unknown key": ("[fixed]\nbatches = 3", "There is no setting of train 'batches'; did you mean 'batch'?"),
    "twice": ("[fixed]\nk = 2\n[axes]\nk = [1]", "'k' is said twice."),
    "no list": ("[axes]\nk = 3", "The axis 'k' is a list of values, or a range"),
    "an empty list": ("[axes]\nk = []", "The axis 'k' is a list of values, or a range"),
    "a wrong range": ("[axes]\nk = {from = 3, to = 1}", "needs from <= to and step > 0"),
    "a step of 0": ("[axes]\nk = {from = 1, to = 3, step = 0}", "needs from <= to and step > 0"),
    "times 1": ("[axes]\nk = {from = 1, to = 3, times = 1}", "grows from a number > 0 to a larger one by times > 1"),
    "a range of texts": ('[axes]\nk = {from = "a", to = "b"}', "or a range such as"),
    "an endless range": ("[axes]\nk = {from = 1, to = 1e12}", "has at most 100,000 values, got"),
    "small steps": ("[axes]\nk = {from = 1, to = 2, step = 1e-9}", "has at most 100,000 values, got"),
    "times of almost 1": ("[axes]\nk = {from = 1, to = 2, times = 1.00000001}", "Use larger steps."),
    "to infinity": ("[axes]\nk = {from = 1, to = inf}", "of 0 and numbers of 1e-100 to 1e+100, got"),
    "times infinity": ("[axes]\nk = {from = 1, to = inf, times = 2}", "of 0 and numbers of 1e-100 to 1e+100, got"),
    "from nowhere": ("[axes]\nk = {from = nan, to = 3}", "of 0 and numbers of 1e-100 to 1e+100, got"),
    "a long number": (f"[axes]\nk = {{from = 1, to = 1{400 * '0'}}}", "of 0 and numbers of 1e-100 to 1e+100, got"),
    "too long a number": (f"[axes]\nk = [1{5000 * '0'}]", "is no TOML: Exceeds the limit"),
    "lists in lists": (f"[axes]\nk = {3000 * '['}{3000 * ']'}", "has lists inside lists without end"),
    "too many points": (
        "[axes]\nk = {from = 1, to = 100}\nn = {from = 1, to = 100}\nbatch = {from = 1, to = 100}",
        "names at most 100,000 points, before its conditions, got 1,000,000. Divide it into several files",
    ),
    "zips of two lengths": ("[[zip]]\nk = [1, 2]\nn = [5]", "need as many values each: k has 2, n has 1."),
    "one bracket": ("[zip]\nk = [1, 2]", "are written [[zip]], with two brackets"),
    "a condition on nothing": ('conditions = ["z > 1"]\n[axes]\nk = [1]', "There is no value named 'z'"),
    "no expression": ('conditions = ["k >"]\n[axes]\nk = [1]', "The condition 'k >' is no expression"),
    "a call": ('conditions = ["exit(k)"]\n[axes]\nk = [1]', "There is no value named 'exit'"),
    "an attribute": ('conditions = ["k.real"]\n[axes]\nk = [1]', "may compare, add, multiply and combine values"),
    "a text as number": ('conditions = ["k > 1"]\n[axes]\nk = ["a"]', "The condition 'k > 1' has no value at"),
    "a tower of powers": (
        'conditions = ["9**9**9**9 > 1"]\n[axes]\nk = [1]',
        "whole numbers have at most 4096 bits; use smaller ones, or 1e30 for 10**30",
    ),
    "a long product": (
        f'conditions = ["k{"*k" * 30} > 1"]\n[axes]\nk = [1{200 * "0"}]',
        "whole numbers have at most 4096 bits",
    ),
    "a long text": ("conditions = [\"'a'*10**11 == 'b'\"]\n[axes]\nk = [1]", "arithmetic is for numbers, got 'a'"),
    "a wide text": ("conditions = [\"'%9999999999d' % k == 'b'\"]\n[axes]\nk = [1]", "arithmetic is for numbers, got"),
    "many nots": (
        f'conditions = ["{3000 * "not "}k"]\n[axes]\nk = [1]',
        "at most 1000 characters, got 12001, beginning with 'not not",
    ),
    "deep signs": (f'conditions = ["{900 * "-"}k > 0"]\n[axes]\nk = [1]', "Write several conditions"),
    "a condition on no value": ('conditions = ["z > 1"]', "There is no value named 'z', and there are no others."),
    "nothing left": ('conditions = ["k > 1"]\n[axes]\nk = [1]', "No point of the sweep keeps all conditions"),
    "a job that is not there": ('job = "no.module:f"', "there is no no/module.py in"),
    "a job of Python's": ('job = "os:system"', "or allow the module with --module os."),
    "a job above": ('job = "..:x"', "`job` is 'train' or 'package.module:function', got '..:x'."),
    "a job without a function": ('job = "os"', "`job` is 'train' or 'package.module:function', got 'os'."),
    "a job of a long name": (f'job = "{300 * "a"}:x"', "is in no module of this project"),
    "runs_per_job": ("runs_per_job = 0", "`runs_per_job` is a whole number of at least 1, got 0."),
    "a kind": ('[fixed]\nbatch = "32"', "`batch` is a whole number, got '32'."),
    "true as number": ("[fixed]\nbatch = true", "`batch` is a whole number, got True."),
    "half a bit": ("[fixed]\nn = 1.5", "`n` is a whole number, got 1.5."),
    "a name": ("[fixed]\nnetwork = 3", "`network` is a name, got 3."),
    "a list of names": ('[fixed]\nsupport = ["a"]', "`support` is a whole number, or a list of such as"),
    "a network": ('[fixed]\nnetwork = "relu"', "There is no network 'relu'; did you mean 'relu-mlp'?"),
    "k beyond n": ("[fixed]\nn = 3\nk = 4", "got k=4 on n=3"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_a_file_is_one_sentence(wrong, tmp_path):
    text, sentence = WRONG[wrong]
    with pytest.raises(ValueError) as said:
        sweep_of(read(written(tmp_path, text)))
    assert sentence in str(said.value) and "\n" not in str(said.value)


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "sweep.toml")
    with pytest.raises(ValueError, match=r"sweep.toml is a pipe, and not a file"):
        read(tmp_path / "sweep.toml")


def test_the_most_points_are_allowed():
    assert len(parse({"axes": {"k": {"from": 1, "to": MOST_POINTS}}}).points) == MOST_POINTS


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        read(tmp_path / "none.toml")
    with pytest.raises(ValueError, match="is no TOML"):
        read(written(tmp_path, "[axes"))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("k == 3", True),
        ("1 < k < 3", False),
        ("k in [1, 3] and not batch > 32", True),
        ("k not in (1, 3)", False),
        ("-k + 2 * batch ** 2 // 3 % 100 / 2 - 1 > 0", True),
        ("name == 'relu' or k > 100", True),
    ],
)
def test_conditions(text, holds):
    assert condition(text, ["k", "batch", "name"])({"k": 3, "batch": 32, "name": "relu"}) == holds


def test_settings_that_may_be_lists():
    said = parse({"fixed": {"n": 8, "support": [0, 5], "width": [4, 3], "seeds": [7, 9], "network": "quadratic-mlp"}})
    (work,) = sweep_of(said).works
    assert work.columns["seed"].tolist() == [7, 9] and work.columns["support"].tolist() == ["[0, 5]"] * 2


def test_the_steps_of_a_file_are_a_limit_and_not_what_runs_took(tmp_path):
    fixed = {"n": 8, "k": 1, "width": 8, "seeds": 3, "validation": 64, "rate": [0.1, 0.3], "decay": 0.001}
    said = parse({"fixed": fixed, "axes": {"steps": [10, 2000]}})
    sweep = sweep_of(said)
    with ThreadPoolExecutor(1) as executor:
        results = sweep.run(tmp_path, executor=executor, watch=False)
    table = results.table()
    learned = table.outcome == "learned"
    assert learned.sum() >= 6 and table.limit.tolist() == [10] * 6 + [2000] * 6
    assert (table.steps[learned] == table.converged_at[learned]).all() and (table.steps[learned] < 2000).all()
    assert (table.steps[~learned] == table.limit[~learned]).all()
    summary = outcome_of(said, sweep, results)["summary"]
    assert [(row["limit"], row["rate"], row["runs"]) for row in summary] == [
        (10, 0.1, 3),
        (10, 0.3, 3),
        (2000, 0.1, 3),
        (2000, 0.3, 3),
    ]


NAMES = {
    ("MLP", 10): ["15584f35687f574ad504f253e9797c06", "ee551c9928c28325ac5bc80745cf6a41"],
    ("PolyNet", 10): ["2fbde43686dbced5a0ca1784dee87be1", "2524854e3b74bfef6aff2124c1649dc1"],
    ("MLP", 12): ["f828d0ebff3cbc1ed6a8ec16d44d6283", "65afe1fd755a9eeac7d003faa15f121c"],
    ("PolyNet", 12): ["d418f9ccfc548a6bb70318df3777f415", "e61a6ecb0f807a84d7fb86e6b05c9ec0"],
}
"""What the points below were called when each of them was planned by itself; stores hold runs of such names."""


def test_points_that_are_planned_together_keep_their_names():
    content = {
        "fixed": {"steps": 100, "seeds": 1, "noise": 0.1},
        "axes": {"n": [10, 12], "rate": [1.0, 0.5]},
        "zip": [{"network": ["relu-mlp", "polynet"], "width": [[8, 4], "default"], "k": [2, 3]}],
    }
    for _ in range(2):  # the second time much is known already
        works = sweep_of(parse(content)).works
        shapes = [(work.plan.cells[0].network, work.plan.cells[0].problem.distribution.n) for work in works]
        assert {(type(net).__name__, n): work.names for (net, n), work in zip(shapes, works, strict=True)} == NAMES


def test_planning_that_takes_long_says_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "watched", lambda: True)
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0)
    sweep_of(parse({"fixed": {"steps": 100, "seeds": 1}, "axes": {"rate": [0.1, 0.2]}}))
    assert capsys.readouterr().err.splitlines()[-1] == "paritylab: 1 of 2 points are planned"
