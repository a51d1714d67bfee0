"""What the pages show runs: Python as its readers paste it, commands as they type them, sweeps and an experiment.

All in one file, so that what one page compiled is there for the others.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pages import (
    ROOT,
    SMALLER,
    as_reader,
    blocks_of,
    code_of,
    lines_of,
    outputs_below,
    pages_with,
    read,
    run,
    shows,
    smaller,
)
from test_docs import wrong_in

from paritylab.sweep import Store

NOT_RUN = ("make", "pip")
"""They would install, or run these tests; what they name is looked up instead."""
EXPERIMENT = "docs/experiments.md"
"""Its Python is a module of the package, which its commands run, and those of the README."""


def commands_of(page: str) -> list[str]:
    blocks = [block.text for block in blocks_of(read(page)) if block.language == "sh"]
    return [command for text in blocks for line in text.splitlines() if (command := code_of(line))]


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with the examples, as a checkout has them, and with smaller ones."""
    place = tmp_path / "folder"
    shutil.copytree(ROOT / "examples", place / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "examples" / "smaller").mkdir()
    for path in (ROOT / "examples").glob("*.toml"):
        text = smaller(f"examples/{path.name}", path.read_text())
        (place / "examples" / "smaller" / path.name).write_text(text)
    return place


@pytest.fixture
def background(folder):
    """Starts commands that go on while others run, and ends them."""
    started = []

    def start(command: str, environment: dict[str, str]) -> None:
        with open(folder / f"log-{len(started)}", "w") as log:
            process = subprocess.Popen(
                command, shell=True, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        started.append(process)

    yield start
    for process in started[::-1]:
        assert process.poll() is None, f"{process.args} ended by itself with {process.returncode}"
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


@pytest.fixture
def port() -> int:
    """One that nobody listens to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def with_the_experiment(place: Path) -> Path:
    """A copy of the package to which the experiment of its page was added as the page says."""
    shutil.copytree(ROOT / "paritylab", place / "paritylab")
    (module,) = [block.text for block in blocks_of(read(EXPERIMENT)) if block.language == "python"]
    (name,) = re.findall(r"here `(\w+/\w+\.py)`", read(EXPERIMENT))
    (entry,) = re.findall(r"`(hidden-progress/\w+,.*?)`", read(EXPERIMENT))
    (place / "paritylab" / "experiments" / name).write_text(smaller(EXPERIMENT, module))
    with open(place / "paritylab" / "experiments" / "experiments.csv", "a") as rows:
        rows.write(f"{entry}\n")
    return place


@pytest.mark.parametrize("page", [page for page in pages_with("python") if page != EXPERIMENT])
def test_the_python_of_a_page_is_a_script_that_runs(page, tmp_path, compiled):
    script = "\n".join(block.text for block in blocks_of(read(page)) if block.language == "python")
    (tmp_path / "script.py").write_text(smaller(page, script))
    printed = run([sys.executable, "script.py"], tmp_path, as_reader(compiled))
    assert shows(outputs_below(page, "python"), printed), printed


@pytest.mark.parametrize("page", pages_with("sh"))
def test_the_commands_of_a_page_run(page, folder, tmp_path, compiled, background, port):
    environment = as_reader(compiled, with_the_experiment(tmp_path / "package"))
    printed = ""
    for line in commands_of(page):
        command = smaller(page, line).strip().replace("PORT", str(port))
        if command.startswith(NOT_RUN):
            assert not wrong_in(command), f"{page}: {line}: {wrong_in(command)}"
        elif command.endswith("&"):
            background(command.removesuffix("&"), environment)
        else:
            printed += run(command, folder, environment)
    assert shows(outputs_below(page, "sh"), printed), printed
    LEFT_BEHIND[page](folder)


def made_by_the_readme(folder: Path) -> None:
    assert len(Store(folder / "out" / "it").table()) == 12
    assert (folder / "out" / "reproduce" / "report.html").exists()


def made_by_sweeps(folder: Path) -> None:
    """The store has the folders that the page lists, and Dask's workers did the runs of theirs."""
    listed = re.findall(r"^\| `([\w.]+)/?` \| ", read("docs/sweeps.md"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (folder / "out" / "parities").iterdir())
    here, there = (Store(folder / "out" / name).table() for name in ("parities", "dask"))
    assert set(here.run) == set(there.run) and len(here) == 12
    assert not set(here.worker) & set(there.worker)


def made_by_experiments(folder: Path) -> None:
    """What the page says that `reproduce` writes, at both scales."""
    out = folder / "out" / "reproduce"
    assert (out / "claims.json").exists() and (out / "report.html").exists()
    for scale in ("quick", "paper"):
        written = {path.name for path in (out / scale / "hidden-progress" / "fig0").iterdir()}
        assert {"figure0.png", "figure0.pdf", "runs.csv", "runs.parquet"} <= written


def made_by_installing(folder: Path) -> None:
    """Nothing: these commands ask, and write nowhere."""
    assert not (folder / "out").exists()


LEFT_BEHIND = {
    "docs/install.md": made_by_installing,
    "README.md": made_by_the_readme,
    "docs/sweeps.md": made_by_sweeps,
    EXPERIMENT: made_by_experiments,
}


def test_every_example_is_run():
    """A sweep by the pages that name it, the others by tests of their own."""
    run_by_pages = {word for page in pages_with("sh") for line in commands_of(page) for word in line.split()}
    elsewhere = dict.fromkeys(("examples/slurm.py", "examples/slurm-array.sh"), "tests/sweep/test_slurm.py")
    for path in sorted((ROOT / "examples").iterdir()):
        name = f"examples/{path.name}"
        if name in elsewhere:
            assert path.name in read(elsewhere[name])
        else:
            assert name in run_by_pages, f"nobody runs {name}"


def test_a_sweep_that_a_page_shows_is_an_example():
    for page in pages_with("toml"):
        for block in blocks_of(read(page)):
            if block.language == "toml":
                assert block.text in {path.read_text() for path in (ROOT / "examples").glob("*.toml")}, page


@pytest.mark.parametrize("change", SMALLER, ids=lambda change: f"{change.page}: {change.printed}")
def test_what_is_run_smaller_is_a_line_of_its_page(change):
    assert lines_of(change.page).count(change.printed) == 1
    assert smaller(change.page, f"  {change.printed}  # why") == f"  {change.run}  # why\n"


@pytest.mark.parametrize(
    ("outputs", "printed", "are"),
    [
        (["1 2\n", "3\n"], "0\n1\n2\n3\n", True),
        (["3\n", "1 2\n"], "0\n1\n2\n3\n", False),
        (["0.8431\n"], "0.8432\n", False),
        ([], "anything", True),
    ],
)
def test_outputs_are_looked_for_in_order(outputs, printed, are):
    assert shows(outputs, printed) == are
