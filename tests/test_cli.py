import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import paritylab
from paritylab.cli import app
from paritylab.cli.app import check_writable
from paritylab.cli.listing import ROWS
from paritylab.cli.printing import shown
from paritylab.documents import plain
from paritylab.names import check_degree_is_used
from paritylab.progress import duration
from paritylab.registry import EXPERIMENTS, NETWORKS, SETTINGS, TARGETS, nearest
from paritylab.training.named import make_network

TINY = {"n": 6, "k": 2, "width": 4, "batch": 8, "rate": 0.1, "seeds": 2, "steps": 20, "validation": 64}


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def train(*flags, **options):
    """`paritylab train` on the tiny problem with other options; None leaves one out."""
    given = {name: value for name, value in {**TINY, **options}.items() if value is not None}
    return run("train", *(word for name, value in given.items() for word in (f"--{name}", value)), *flags)


def test_help_and_listing_do_not_wait_for_jax():
    program = """
import sys
from paritylab.cli import app
for words in ("--help", "train --help", "list", "list bounds --json", "analyze --help", "--version"):
    try:
        app(words.split())
    except SystemExit as end:
        assert not end.code, words
heavy = {"jax", "equinox", "optax", "pandas", "matplotlib", "scipy", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "Usage: " in ended.stdout and paritylab.__version__ in ended.stdout


def test_python_m_paritylab_is_the_command():
    command = [sys.executable, "-m", "paritylab", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == (paritylab.__version__ + "\n", "")


@pytest.mark.parametrize(("what", "names"), [("experiments", EXPERIMENTS), *ROWS.items()])
def test_list_names_all(what, names):
    lines = run("list", what).stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(names)
    listed = json.loads(run("list", what, "--json").stdout)
    assert [row["name"] for row in listed] == list(names)
    assert run("list").stdout == run("list", "experiments").stdout


def test_list_of_something_else_says_so():
    result = run("list", "lossess")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("paritylab: There is no list 'lossess'; ")


def test_list_of_an_experiment_says_what_it_claims():
    name = "hidden-progress/fig1-left"
    rows = json.loads(run("list", name, "--json").stdout)
    assert rows and all(list(row) == ["claim", "statement", "accepted"] for row in rows)


def test_every_setting_of_the_paper_is_a_network():
    assert {network for network, _ in SETTINGS.values()} <= set(NETWORKS)


@pytest.mark.parametrize(("name", "row"), NETWORKS.items())
def test_every_network_is_made_as_the_command_line_makes_it(name, row):
    wide = [[4]] if row.has("width") else [[4], [4, 2, 2]] if row.sizes else []
    for width in (None, *wide):
        network = make_network(name, 2, width, "gaussian")(6, key=paritylab.root_key(0))
        assert jnp.shape(network(jnp.ones(6))) == ()


@pytest.mark.parametrize(("name", "row"), [(name, row) for rows in ROWS.values() for name, row in rows.items()])
def test_every_row_says_what_its_constructor_takes(name, row):
    made, takes = row.load(), row.takes.split()
    if takes:
        parameters = inspect.signature(made).parameters
        needed = [each.name for each in parameters.values() if each.default is each.empty and each.name != "key"]
        assert ("key" in parameters) == ("key" in takes)
        assert len(needed) <= len(takes) - ("key" in takes) + bool(row.activation) <= len(parameters)
    assert callable(made) and row.what


def test_train_prints_one_json_document_and_writes_it(tmp_path):
    out = tmp_path / "new" / "folder"
    result = train("--json", steps=3000, every=10, rate="0.1,0", out=out)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document == json.loads((out / "train.json").read_text())
    assert list(document) == ["configuration", "runs", "summary"]

    configuration = document["configuration"]
    asked = {"n": 6, "k": 2, "width": [4], "batch": 8, "rate": [0.1, 0], "seeds": 2, "steps": 3000, "every": 10}
    assert {name: configuration[name] for name in asked} == asked
    assert (configuration["target"], configuration["network"], configuration["loss"]) == ("parity", "relu-mlp", "hinge")
    assert configuration["version"] == paritylab.__version__
    assert {"commit", "python", "jax", "device", "lanes"} <= configuration.keys()
    assert "out" not in configuration and "as_json" not in configuration

    runs = document["runs"]
    assert [(run["rate"], run["seed"]) for run in runs] == [(0.1, 0), (0.1, 1), (0, 0), (0, 1)]
    for row in runs:
        assert list(row) == ["seed", "rate", "outcome", "converged_at", "steps", "error"]
        learned = row["outcome"] == "learned"
        assert learned == (row["rate"] > 0)
        assert (row["error"] == 0) == learned
        if learned:
            assert 0 < row["converged_at"] <= 3000 and row["converged_at"] % 10 == 0
        else:  # at rate 0 nothing is learned
            assert (row["outcome"], row["converged_at"]) == ("out_of_steps", None)
            assert row["error"] * 64 == round(row["error"] * 64) > 0

    learning, frozen = document["summary"]
    times = sorted(row["converged_at"] for row in runs[:2])
    assert list(learning) == ["rate", "learned", "runs", "unfinished", "not_started", "t10", "median", "interval"]
    assert (learning["rate"], learning["learned"], learning["runs"]) == (0.1, 2, 2)
    # Steps that were looked at, and nothing in between: by the first of two runs half of them have learned.
    assert learning["median"] == learning["t10"] == times[0]
    assert learning["interval"] is None  # two runs say nothing about the median with 95%
    nothing = {"unfinished": 0, "not_started": 0, "t10": None, "median": None, "interval": None}
    assert frozen == {"rate": 0, "learned": 0, "runs": 2, **nothing}

    header, *lines = (out / "runs.csv").read_text().splitlines()
    assert header == "rate,seed,outcome,converged_at,steps,error"
    assert [line.split(",")[3] for line in lines] == [str(row["converged_at"] or "") for row in runs]
    assert sorted(path.name for path in out.iterdir()) == ["runs.csv", "train.json"]


def test_train_prints_a_table_for_people():
    result = train(steps=3000, every=10, rate="0.1,0")  # the program is the one compiled for the test above
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    names, _, learning, frozen = (re.split(r"\s{2,}", line.strip()) for line in result.stdout.splitlines())
    assert names == ["rate", "learned", "10th percentile", "median time", "95% interval of the median"]
    assert learning[:2] == ["0.1", "2 of 2"]
    assert frozen == ["0", "0 of 2", "-", "-", "too few runs"]


def full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["table", "JSON"])
def test_a_full_disk_keeps_the_earlier_result_and_prints_the_new_one(flags, tmp_path, monkeypatch):
    for name in ("train.json", "runs.csv"):
        (tmp_path / name).write_text("earlier")
    monkeypatch.setattr(os, "replace", full)
    result = train(*flags, steps=3000, every=10, rate="0.1,0", out=tmp_path)  # the same program once more
    assert result.exit_code == 1, result.exception
    assert result.stderr == (
        f"paritylab: {tmp_path / 'train.json'} cannot be written (No space left on device); what was there before is "
        "unchanged. Make room, or choose another folder.\n"
    )
    assert json.loads(result.stdout)["summary"] if flags else "2 of 2" in result.stdout
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "train.json": "earlier",
        "runs.csv": "earlier",
    }


@pytest.mark.parametrize(
    "words",
    [
        ("train", "--out", ""),
        ("reproduce", "--out", ""),
        ("reproduce", "--data", ""),
        ("report", ""),
        ("report", ".", "--gallery", ""),
        ("analyze", "fourier", "--out", ""),
        ("bound", "kernel", "--n", 30, "--k", 3, "--norm", 10, "--out", ""),
    ],
    ids=lambda words: " ".join(words[:1] + words[-2:-1]),
)
def test_no_name_is_no_folder(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert (result.exit_code, result.stdout, [*tmp_path.iterdir()]) == (2, "", [])
    assert result.stderr == "paritylab: The name of a folder is empty. Write . for the current one.\n"


def test_output_that_takes_in_no_more_is_one_sentence_and_a_closed_pipe_is_none():
    """On a full disk; `head` closes a pipe before all is read."""
    sentence = "paritylab: Standard output cannot be written (No space left on device). Make room there.\n"
    for words in ("list --json", "--help"):
        with open("/dev/full", "w") as full_disk:
            ended = subprocess.run(
                [sys.executable, "-m", "paritylab", *words.split()], stdout=full_disk, stderr=subprocess.PIPE, text=True
            )
        assert (ended.returncode, ended.stderr) == (1, sentence)
    program = f"{sys.executable} -m paritylab list bounds --json | head -1"
    ended = subprocess.run(program, shell=True, capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("[\n", "")


WRONG = {
    "k larger than n": ({"k": 7}, "1 <= k <= n, got k=7 on n=6 coordinates. Lower k or raise n."),
    "k less than 1": ({"k": 0}, "1 <= k <= n, got k=0 on n=6 coordinates. Lower k or raise n."),
    "no coordinates": ({"n": 0}, "A target needs 1 <= n <= 1000000 coordinates, got n=0."),
    "k and another support": ({"support": "1,2,3"}, "--support names 3 coordinates, and --k says 2. Leave out --k."),
    "support with repeats": ({"k": None, "support": "1,3,1"}, "distinct coordinates in 0..5, got support=(1, 3, 1)."),
    "support outside": ({"k": None, "support": "1,6"}, "distinct coordinates in 0..5, got support=(1, 6)."),
    "support of words": ({"support": "a,b"}, "--support takes whole numbers with commas between them, such as 3,14,15"),
    "support of another target": ({"target": "majority", "n": 5, "k": None, "support": "1"}, "got 'majority'."),
    "width 0": ({"width": 0}, "width of at least 1, got width=0."),
    "one width 0": ({"width": "4,0"}, "width of at least 1, got width=0."),
    "width in words": ({"width": "wide"}, "--width takes whole numbers with commas between them"),
    "width of what has none": ({"network": "polynet"}, "'polynet' has no width, got --width 4. Leave it out."),
    "too many widths": ({"network": "transformer", "width": "8,2,2,8"}, "EMBEDDING,ATTENTION,HEADS, got [8, 2, 2, 8]."),
    "batch 0": ({"batch": 0}, "at least one example, got batch=0."),
    "negative rate": ({"rate": -0.1}, "finite number >= 0, got rate=-0.1."),
    "one negative rate": ({"rate": "0.1,-1"}, "finite number >= 0, got rate=-1.0."),
    "rate not a number": ({"rate": "nan"}, "finite number >= 0, got rate=nan."),
    "rate in words": ({"rate": "fast"}, "--rate takes numbers with commas between them, such as 1,0.1, got 'fast'."),
    "negative decay": ({"decay": -1}, "finite number >= 0, got decay=-1.0."),
    "mean above 1": ({"mean": 1.5}, "--mean is that of every coordinate, between -1 and 1, got 1.5."),
    "noise above 1": ({"noise": 1.5}, "--noise is a probability between 0 and 1, got 1.5."),
    "share above 1": ({"mean": 0.5, "share": 1.5}, "--share is a fraction of the examples between 0 and 1, got 1.5."),
    "share of no mean": ({"share": 0.5}, "got 0.5 and no --mean."),
    "inputs of no name": ({"inputs": "0.5 unifrom + 0.5 uniform"}, "inputs 'unifrom'; did you mean 'uniform'?"),
    "no inputs": ({"inputs": ""}, "reads like '0.5 product(0.2)' or 'uniform', got ''."),
    "shares that lack": ({"inputs": "0.5 uniform + 0.4 product(0.1)"}, "add up to 1, got '0.5 uniform + 0.4 produ"),
    "a share left out": ({"inputs": "uniform + 0.5 product(0.1)"}, "in front, such as '0.5 uniform', got 'uniform'."),
    "a negative share": ({"inputs": "-1 uniform + 2 uniform"}, "reads like '0.5 product(0.2)' or 'uniform', got '-1"),
    "product of no mean": ({"inputs": "product"}, "'product' takes a mean, such as product(0.5), got 'product'."),
    "uniform of a mean": ({"inputs": "uniform(1)"}, "takes nothing, and is written uniform, got 'uniform(1)'."),
    "a mean in words": ({"inputs": "product(much)"}, "A share and a mean are numbers, got 'product(much)'."),
    "a mean above 1 inside": ({"inputs": "product(1.5)"}, "a mean between -1 and 1, got 'product(1.5)'."),
    "a mean beside inputs": ({"inputs": "product(0.1)", "mean": 0.1}, "with uniform inputs, got --inputs 'product"),
    "equal bits, an even number": ({"inputs": "equal-bits"}, "got k=2, whose label would be constant. Use an odd k."),
    "equal bits of a vote": (
        {"target": "majority", "n": 5, "k": None, "inputs": "equal-bits"},
        "Inputs of equal-bits are for parities, got the target Symmetric.",
    ),
    "an encoding": ({"encoding": "bit"}, "There is no encoding 'bit'; did you mean 'bits'?"),
    "no seeds": ({"seeds": 0}, "at least 1, got 0."),
    "steps not a multiple": ({"steps": 25}, "got steps=25 and every=10. Use, for example, steps=20."),
    "no steps": ({"steps": 0}, "got steps=0 and every=10. Use, for example, steps=10."),
    "every 0": ({"every": 0}, "at least 1, got every=0."),
    "negative every": ({"every": -10}, "at least 1, got every=-10."),
    "too many steps": ({"steps": 10**10}, "at most 2147483647, got steps=10000000000."),
    "negative validation": ({"validation": -1}, "a size >= 0, got validation=-1."),
    "sample too large": ({"sample": 10**12}, "a size from 1 to 2147483647, the most that its index and memory hold"),
    "sample of nothing": ({"sample": 0}, "got sample=0."),
    "batch larger than memory": ({"batch": 2 * 10**9}, "GiB. Use a smaller batch, width or n."),
    "unknown network": ({"network": "relu-mpl"}, "no network 'relu-mpl'; did you mean 'relu-mlp'? There are: relu-mlp"),
    "unknown target": ({"target": "paritty"}, "no target 'paritty'; did you mean 'parity'? There are: parity, "),
    "unknown optimizer": ({"optimizer": "adamm"}, "no optimizer 'adamm'; did you mean 'adam'? There are: "),
    "unknown loss": ({"loss": "hing"}, "no loss 'hing'; did you mean 'hinge'? There are: hinge, "),
    "unknown initialization": ({"init": "gauss"}, "no initialization 'gauss'; did you mean 'gaussian'? There are: "),
    "too many coordinates": ({"target": "full-parity", "n": 10**13, "k": None}, "<= 1000000 coordinates, got n=1000"),
    "too many for a majority": ({"target": "majority", "n": 10**13 + 1, "k": None}, "<= 1000000 coordinates, got n=1"),
    "degree of a target without": ({"target": "full-parity", "k": -7}, "has a degree, got --k -7. Leave it out."),
    "optimizer without scalars": ({"optimizer": "sm3"}, "There is no optimizer 'sm3'; did you mean "),
    "even majority": ({"target": "majority", "k": None}, "can be a tie, got n=6. Use an odd n."),
    "blocks of unequal size": ({"target": "disjoint-parity", "k": 4}, "got n=6 and k=4. Make n a multiple of k."),
    "factors of unequal size": ({"network": "disjoint-polynet", "width": None, "k": 4}, "got n=6 and degree=4."),
    "degree of an activation": ({"network": "poly-mlp", "n": 20, "k": 16}, "1 <= k <= 15, got k=16."),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_input_is_one_sentence_and_exit_code_2_and_nothing_written(wrong, tmp_path):
    options, sentence = WRONG[wrong]
    out = tmp_path / "out"
    result = train("--json", **options, out=out)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("paritylab: ") and result.stderr.endswith(".\n")
    assert result.stderr.count("\n") == 1
    assert sentence in result.stderr
    assert not out.exists()


def test_a_folder_that_cannot_be_written_is_wrong_input(tmp_path):
    file = tmp_path / "file"
    file.write_text("kept")
    for out in (file, file / "below"):
        result = train("--json", out=out)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"paritylab: --out {out} cannot be written (")
        assert result.stderr.endswith("). Choose another folder.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "kept"


@pytest.mark.parametrize("name", ["train.json", "runs.csv"])
def test_a_folder_in_the_place_of_a_result_is_found_before_training(name, tmp_path):
    (tmp_path / name).mkdir()
    result = train("--json", steps=2_000_000_000, out=tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"paritylab: --out {tmp_path}: {name} cannot be written (Is a directory). Choose another folder.\n"
    )


def test_an_older_result_may_be_written_over(tmp_path):
    (tmp_path / "train.json").write_text("older")
    check_writable(tmp_path, "train.json", "runs.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["train.json"]
    assert (tmp_path / "train.json").read_text() == "older"


def test_a_gallery_that_cannot_be_written_is_named_as_the_gallery(tmp_path, monkeypatch):
    monkeypatch.setattr("paritylab.experiments.accounts.accounts_in", lambda folder: (["something"], []))
    file = tmp_path / "file"
    file.touch()
    result = run("report", tmp_path, "--gallery", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"paritylab: --gallery {file} cannot be written (")


@pytest.mark.parametrize("cores", ["two", "0", "-1", "1e3", "1000000000000"])
def test_a_wrong_number_of_cores_is_wrong_input(cores, tmp_path, monkeypatch):
    monkeypatch.setenv("PARITYLAB_CORES", cores)
    sentence = f"paritylab: PARITYLAB_CORES is a whole number from 1 to 4096, got {cores!r}. Unset it to use all cores."
    (tmp_path / "file.toml").write_text("[fixed]\nn = 6\n")
    for result in (train("--json"), run("sweep", tmp_path / "file.toml", "--store", tmp_path / "store")):
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", sentence + "\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file.toml"]


def test_a_degree_of_the_network_alone_is_welcome():
    for network in ("poly-mlp", "polynet", "sinusoid-neuron"):
        check_degree_is_used("majority", network, 2)
    check_degree_is_used("majority", "relu-mlp", None)
    assert not all(row.has("k") for row in TARGETS.values())


def test_what_the_parser_does_not_know_is_exit_code_2():
    for words in (["train", "--speed", "3"], ["train", "--n", "many"], ["tarin"]):
        result = run(*words)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert words[-1] in result.stderr or words[-2] in result.stderr


def test_wrong_input_as_a_process():
    command = [sys.executable, "-m", "paritylab", "train", "--n", "5", "--k", "7"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "paritylab: A k-parity needs 1 <= k <= n, got k=7 on n=5 coordinates. Lower k or raise n.\n"


def interrupted(line: str, seconds: float, out: Path, further: Iterable[float] = ()) -> tuple[int, str, str]:
    """Trains without end until Ctrl-C, so many seconds after a line on standard error; others follow in intervals."""
    words = "train --json --steps 10000000 --every 10 --n 30 --k 8 --rate 0.001 --seeds 4 --validation 1024"
    command = [sys.executable, "-m", "paritylab", *words.split(), "--out", str(out)]
    environment = {**os.environ, "JAX_LOG_COMPILES": "1"}  # JAX says when it has compiled a program
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        rescue = threading.Timer(150, process.kill)  # should it never compile, or never end
        rescue.start()
        said = []
        for said_now in process.stderr:
            said.append(said_now)
            if line in said[-1]:
                break
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        for pause in further:
            time.sleep(pause)
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGINT)
        printed, rest = process.communicate()
        rescue.cancel()
    return process.returncode, printed, "".join(said[-20:]) + rest


TRAINING = "Finished XLA compilation of jit(advance)"
"""The training loop is called `advance`."""


@pytest.mark.parametrize("further", [pytest.param(0, marks=pytest.mark.acceptance), 1000], ids=["once", "many times"])
def test_ctrl_c_prints_what_is_finished(interruptible, tmp_path, further):
    """However often it is pressed while the process ends."""
    pauses = np.random.default_rng(0).exponential(0.03, further)
    code, printed, said = interrupted(TRAINING, 2, tmp_path / "out", pauses)
    assert code == 130, said
    document = json.loads(printed)
    assert list(document) == ["configuration", "runs", "summary", "interrupted"]
    assert document["interrupted"] is True
    (summary,) = document["summary"]
    assert summary["learned"] == 0 and summary["unfinished"] > 0
    assert summary["unfinished"] + summary["not_started"] == summary["runs"] == len(document["runs"])
    assert {run["outcome"] for run in document["runs"] if run["steps"]} == {"running"}
    assert {run["outcome"] for run in document["runs"] if not run["steps"]} <= {"not_started"}
    assert json.loads((tmp_path / "out" / "train.json").read_text()) == document


@pytest.mark.parametrize("seed", range(2))
def test_ctrl_c_at_any_moment_many_times_ends_with_130(interruptible, tmp_path, seed):
    """Before training, too, in the midst of what it compiles first; nothing but the end is promised there."""
    random = np.random.default_rng(seed)
    code, printed, said = interrupted(
        "Finished XLA compilation", random.uniform(0, 2), tmp_path, random.exponential(0.03, 1000)
    )
    assert code == 130 and "Traceback" not in said, said
    assert printed == "" or json.loads(printed)["interrupted"] is True


def test_nearest_names_the_nearest():
    assert nearest("colour", "grean", ["red", "green"]) == (
        "There is no colour 'grean'; did you mean 'green'? There are: red, green."
    )


def test_printable_has_no_infinity():
    values = {"a": float("inf"), "b": [float("nan"), 1.5, (2, None)], "c": "x", "d": True}
    assert plain(values) == {"a": None, "b": [None, 1.5, [2, None]], "c": "x", "d": True}


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (float("inf"), "-"), (1234.5, "1,234"), (0.05, "0.05"), (12345, "12,345"), ("x", "x")],
)
def test_shown(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(3.2, "3 s"), (89.0, "89 s"), (120.0, "2 min"), (7200.0, "2.0 h")])
def test_duration(seconds, text):
    assert duration(seconds) == text
