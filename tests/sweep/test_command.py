"""`paritylab sweep` as users meet it: dry runs, wrong input, interruptions, full disks, killed processes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pytest
from sweeps import command, finish, kill, start, table, workers, write_file
from typer.testing import CliRunner

from paritylab.cli import app
from paritylab.sweep import Store
from paritylab.sweep.workloads import COMPILE_SECONDS

SMALL = {"seeds": 3, "rates": [0.1, 0.3], "runs_per_job": 6, "steps": 200}


def run(*words):
    return CliRunner().invoke(app, ["sweep", *map(str, words)])


def test_a_dry_run_says_what_would_be_done_and_touches_nothing(tmp_path):
    file, store = write_file(tmp_path, **SMALL), tmp_path / "store"
    said = run(file, "--store", store, "--dry-run")
    assert said.exit_code == 0, said.stderr
    assert not store.exists()
    shapes = said.stdout.splitlines()[2:-1]
    assert len(shapes) == 2 and all("MLP(widths=(" in line for line in shapes)  # the widths; all else are numbers
    assert said.stdout.splitlines()[-1].startswith("48 runs, 48 of them missing, in 8 jobs and 2 shapes; ")
    plan = json.loads(run(file, "--store", store, "--dry-run", "--json").stdout)
    assert (plan["runs"], plan["missing"], plan["jobs"], len(plan["shapes"])) == (48, 48, 8, 2)
    assert 0 < plan["seconds"] < 60
    # Each of the two shapes has four jobs, and a worker that is given one of them compiles it.
    each = min(4, plan["workers"]) / plan["workers"]
    assert plan["compile_seconds"] == pytest.approx(2 * COMPILE_SECONDS["cpu"] * each)
    assert plan["seconds"] > plan["compile_seconds"] and "for compiling what was not compiled before." in said.stdout


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("steps =", "stepps ="), "did you mean 'steps'?"),
        (("[axes]", "[axis]"), "did you mean 'axes'?"),
        (("k = [1, 5]", "k = [1, 50]"), "got k=50 on n=12 coordinates."),
        (("n = 12", "n = twelve"), "is no TOML: Invalid value (at line 4, column 5)"),
    ],
    ids=["key", "section", "value", "syntax"],
)
def test_wrong_input_is_one_sentence_and_nothing_is_written(tmp_path, change, sentence):
    file, store = write_file(tmp_path, **SMALL), tmp_path / "store"
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    said = run(file, "--store", store, "--json")
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("paritylab: ") and said.stderr.count("\n") == 1 and sentence in said.stderr
    assert not store.exists()


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        ("", "The name of a folder is empty. Write . for the current one."),
        (300 * "s", "at most 255 bytes between slashes and 3800 in all, got sssss"),
        (1000 * "long/", "at most 255 bytes between slashes and 3800 in all, got long/"),
        (b"\xff".decode(errors="surrogateescape"), r"is printable text in UTF-8, got '\udcff'."),
        ("two\nlines", r"is printable text in UTF-8, got 'two\nlines'."),
    ],
    ids=["empty", "a long name", "a long path", "no UTF-8", "two lines"],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry run"])
def test_a_store_that_cannot_be_is_one_sentence(tmp_path, monkeypatch, store, sentence, more):
    file = write_file(tmp_path, **SMALL)
    monkeypatch.chdir(tmp_path)
    said = run(file, "--store", store, *more)
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("paritylab: ") and said.stderr.count("\n") == 1 and sentence in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.toml"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--workers", 0), "got 0."),
        (("--executor", "dask://h:notaport"), "got 'dask://h:notaport'."),
        (("--executor", "dask://127.0.0.1:1"), "No Dask scheduler answers at dask://127.0.0.1:1 ("),
        (("--attempts", 0), "--attempts is at least 1, got 0."),
        (("--job-timeout", 0), "The time limit of a job is a number of seconds above 0, got 0.0."),
        (("--job-timeout", "nan"), "above 0, got nan."),
    ],
    ids=["workers", "address", "nobody", "attempts", "limit", "no limit"],
)
def test_wrong_options_are_one_sentence_and_nothing_is_written(tmp_path, monkeypatch, words, sentence):
    monkeypatch.setattr("paritylab.sweep.cluster.PATIENCE", 0.2)
    file, store = write_file(tmp_path, **SMALL), tmp_path / "store"
    said = run(file, "--store", store, "--json", *words)
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("paritylab: ") and said.stderr.count("\n") == 1 and sentence in said.stderr
    assert not store.exists()


@pytest.mark.acceptance
def test_a_job_that_takes_too_long_is_ended_and_named(tmp_path):
    file, store = tmp_path / "sweep.toml", tmp_path / "store"
    file.write_text('job = "jobs:sleeps"\n[fixed]\nx = 0\n[axes]\nseconds = [60, 0]\n')
    said = run(file, "--store", store, "--json", "--attempts", 1, "--job-timeout", 8, "--module", "jobs")
    assert said.exit_code == 1 and json.loads(said.stdout)["done"] == 1
    sentence = (
        "JobTimeout: call jobs.sleeps, 1 runs in one job, took longer than the 8 s that a job may take, and was ended."
    )
    (failure,) = Store(store).failures().values()
    where = store / "failures" / f"{failure['job']}.json"
    assert said.stderr == f"paritylab: A job of 1 runs failed 1 times: {sentence} ({where})\n"
    assert failure["traceback"] == sentence


def test_a_store_of_a_future_version_is_not_touched(tmp_path):
    file, store = write_file(tmp_path, **SMALL), tmp_path / "store"
    store.mkdir()
    (store / "store.json").write_text('{"format": 99}')
    said = run(file, "--store", store)
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr == (
        f"paritylab: The store {store} has format 99, and this paritylab reads formats 1 to 2. "
        "Use the paritylab that made it, or another folder; nothing was touched.\n"
    )
    assert [path.name for path in store.iterdir()] == ["store.json"]


@pytest.mark.parametrize("x", [[1, 2], [2]], ids=["some", "all"])
def test_jobs_that_fail_are_named_and_the_exit_code_is_1(tmp_path, x):
    file, store = tmp_path / "sweep.toml", tmp_path / "store"
    file.write_text(f'job = "jobs:fails_on"\n[fixed]\nbad = 2\n[axes]\nx = {x}\n')
    said = run(file, "--store", store, "--json", "--attempts", 1, "--module", "jobs")
    assert said.exit_code == 1 and json.loads(said.stdout)["done"] == len(x) - 1
    assert said.stderr.startswith("paritylab: A job of 1 runs failed 1 times: RuntimeError: 2 is bad (")
    assert said.stderr.count("\n") == 1


def test_a_full_disk_after_all_runs_prints_what_is_done(tmp_path, monkeypatch):
    file, store = write_file(tmp_path, **SMALL), tmp_path / "store"
    for job in "ab":
        Store.create(store).add(pa.table({"run": [job]}), {"job": job})
    done = {"runs": 48, "done": 48, "failed": [], "summary": []}
    monkeypatch.setattr("paritylab.cli.sweep.work_off", lambda *_: (Store(store), done, 0))
    before = sorted((store / "runs").iterdir())
    monkeypatch.setattr(os, "replace", raise_full)
    said = run(file, "--store", store, "--compact", "--json")
    assert said.exit_code == 1, said.exception
    assert json.loads(said.stdout) == done and sorted((store / "runs").iterdir()) == before
    assert said.stderr.count("\n") == 1 and "cannot be written (No space left on device)" in said.stderr


def raise_full(*_):
    raise OSError(28, "No space left on device")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = finish(write_file(folder, **SMALL), folder / "store", "--compact")
    assert done["done"] == done["runs"] == 48 and all(Path(path).exists() for path in done["files"])
    assert {row["k"] for row in done["summary"]} == {1, 5}
    return table(folder / "store")


def mounted(folder: Path) -> bool:
    """Whether a file system with little room could be mounted."""
    words = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    return shutil.which("mount") is not None and not subprocess.run(words, capture_output=True, check=False).returncode


@pytest.mark.acceptance
def test_a_full_disk_stops_with_one_sentence_and_loses_nothing(undisturbed, tmp_path):
    """A limit on the size of files stands for a disk that is full, where none can be mounted."""
    if mounted(tmp_path):
        subprocess.run(["umount", tmp_path], check=True)
        pytest.skip("a small disk can be mounted here, which the next test fills")
    file, store = write_file(tmp_path, **SMALL), tmp_path / "store"

    # Compiled programs would not fit either, and JAX warns of those; one sentence is promised of the lab.
    environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "0"}
    small_files_only = ["bash", "-c", 'ulimit -S -f 4; exec "$@"', "bash"]  # in KiB
    ended = subprocess.run(
        [*small_files_only, *command(file, store)], capture_output=True, text=True, check=False, env=environment
    )
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr == (
        f"paritylab: The store {store} cannot be written (File too large). What was finished is kept; "
        "make room and run the same command again.\n"
    )
    assert json.loads(ended.stdout)["done"] == 0 and not list((store / "unfinished").iterdir())
    assert finish(file, store)["done"] == 48
    pd.testing.assert_frame_equal(table(store), undisturbed)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with little room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mounted(disk):
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.acceptance
def test_a_disk_that_fills_up_keeps_what_fits(undisturbed, small_disk, tmp_path):
    file, store = write_file(tmp_path, **SMALL), small_disk / "store"
    ended = subprocess.run(command(file, store), capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr == (
        f"paritylab: The store {store} cannot be written (No space left on device). What was finished is kept; "
        "make room and run the same command again.\n"
    )
    kept = json.loads(ended.stdout)["done"]
    assert 0 < kept < 48 and len(table(store)) == kept
    subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
    before = {path.name for path in (store / "runs").iterdir()}
    assert finish(file, store)["done"] == 48
    assert before <= {path.name for path in (store / "runs").iterdir()}
    pd.testing.assert_frame_equal(table(store), undisturbed)


@pytest.mark.acceptance
def test_a_truncated_file_is_named_set_aside_and_done_again(undisturbed, tmp_path):
    file, store = write_file(tmp_path, **SMALL), tmp_path / "store"
    finish(file, store)
    broken = sorted((store / "runs").iterdir())[0]
    broken.write_bytes(broken.read_bytes()[:-100])
    said = run(file, "--store", store, "--json")
    assert said.exit_code == 0 and json.loads(said.stdout)["done"] == 48
    assert said.stderr.startswith(f"paritylab: {broken} is no whole file of this store (")
    assert said.stderr.endswith(f"was set aside as {store / 'aside' / broken.name}, and its runs count as missing.\n")
    pd.testing.assert_frame_equal(table(store), undisturbed)


@pytest.mark.acceptance  # SIGTERM, which winds down in the same way, is sent in `make test`
@pytest.mark.parametrize("further", [0, 1000], ids=["once", "many times"])
def test_ctrl_c_keeps_finished_jobs_and_exits_130(interruptible, tmp_path, further):
    """Pressed in a terminal it reaches the workers too, some of which are just starting."""
    file, store = write_file(tmp_path, **{**SMALL, "steps": 200_000}), tmp_path / "store"
    process = start(file, store)
    give_up = time.monotonic() + 120
    while not list(store.glob("runs/*-sha256-*")) and time.monotonic() < give_up:
        time.sleep(0.1)
    kill(workers(process)[0])  # so that another starts
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    for pause in np.random.default_rng(0).exponential(0.03, further):
        time.sleep(pause)
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130, file.with_suffix(".err").read_text()
    assert file.with_suffix(".err").read_text() == ""
    document = json.loads(file.with_suffix(".out").read_text())
    assert document["interrupted"] is True and 6 <= document["done"] < 48
    assert len(Store(store)) == document["done"]
    assert not list((store / "leases").iterdir())


SLEEPS = 'job = "jobs:sleeps"\n[fixed]\nseconds = 0.3\n[axes]\nx = {from = 0, to = 199, step = 1}\n'
SCRIPT = """
import jobs
from paritylab.sweep import Call, Sweep
if __name__ == "__main__":
    Sweep(Call(jobs.sleeps, {{"seconds": 0.3, "x": x}}) for x in range(200)).run({store!r})
"""


def test_sigterm_is_as_kind_as_ctrl_c(monkeypatch, tmp_path):
    """To the command, and to a script of one's own, which ends with the signal as it would have ended without us."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *sys.path]))
    file, script, stores = tmp_path / "sweep.toml", tmp_path / "script.py", [tmp_path / "one", tmp_path / "other"]
    file.write_text(SLEEPS)
    script.write_text(SCRIPT.format(store=str(stores[1])))
    with open(tmp_path / "script.err", "w") as err:
        processes = [start(file, stores[0], "--module", "jobs"), subprocess.Popen([sys.executable, script], stderr=err)]
    give_up, hands = time.monotonic() + 120, []
    for process, store, code in zip(processes, stores, (143, -signal.SIGTERM), strict=True):
        while not list(store.glob("runs/*-sha256-*")):
            assert process.poll() is None and time.monotonic() < give_up
            time.sleep(0.05)
        hands += workers(process)
        process.terminate()
        process.terminate()
        assert process.wait(30) == code
        assert not list((store / "leases").iterdir()) and 1 <= len(Store(store)) < 200
    assert hands and not psutil.wait_procs(hands, timeout=30)[1]  # they end right after their parent
    assert file.with_suffix(".err").read_text() == (tmp_path / "script.err").read_text() == ""
    document = json.loads(file.with_suffix(".out").read_text())
    assert document["interrupted"] is True and document["done"] == len(Store(stores[0]))


@pytest.mark.acceptance
def test_killed_processes_lose_nothing(tmp_path):
    """A short version of what `make acceptance` does at length."""
    file, store = write_file(tmp_path, **{**SMALL, "steps": 8_000}), tmp_path / "store"
    finish(file, tmp_path / "undisturbed")
    for files, who in enumerate(("parent", "worker"), start=1):
        process = start(file, store)
        while len(list(store.glob("runs/*-sha256-*"))) < files:
            assert process.poll() is None, file.with_suffix(".err").read_text()
            time.sleep(0.05)
        while not (hands := workers(process)):
            assert process.poll() is None, file.with_suffix(".err").read_text()
            time.sleep(0.05)
        kill(hands[0] if who == "worker" else process)
        process.wait(120)
    done = finish(file, store)
    assert done["done"] == 48 and not done["failed"]
    pd.testing.assert_frame_equal(table(store), table(tmp_path / "undisturbed"))
