"""What several tests of sweeps share: a small file, the command as a process of its own, tables to compare."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import psutil

from paritylab.sweep import Store

FILE = """
runs_per_job = {runs_per_job}
[fixed]
n = 12
steps = {steps}
validation = 1024
seeds = {seeds}
[axes]
k = [1, 5]
decay = [0.001, 0.002]
rate = {rates}
width = [4, 8]
"""
OF_THE_MACHINE = ["worker"]
"""The columns in which a disturbed sweep may differ from an undisturbed one."""


def write_file(folder: Path, *, seeds: int, rates: list[float], runs_per_job: int, steps: int) -> Path:
    """A half of the runs learns at once, the others not at all."""
    path = folder / "sweep.toml"
    path.write_text(FILE.format(seeds=seeds, rates=rates, runs_per_job=runs_per_job, steps=steps))
    return path


def command(file: Path, store: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "paritylab", "sweep", str(file), "--store", str(store), "--json", *more]


def start(file: Path, store: Path, *more: str) -> subprocess.Popen:
    """The command as a process with a group of its own, as in a terminal; what it prints goes to files beside it."""
    with open(file.with_suffix(".out"), "w") as out, open(file.with_suffix(".err"), "w") as err:
        return subprocess.Popen(command(file, store, *more), stdout=out, stderr=err, start_new_session=True)


def finish(file: Path, store: Path, *more: str) -> dict:
    ended = subprocess.run(command(file, store, *more), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def workers(process: subprocess.Popen) -> list[psutil.Process]:
    """The worker processes of a sweep (not the process that cleans up after them)."""
    with contextlib.suppress(psutil.NoSuchProcess):
        children = psutil.Process(process.pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    return []


def kill(process: psutil.Process | subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


def table(store: Path) -> pd.DataFrame:
    found = Store(store).table()
    assert found.run.is_unique
    return found.drop(columns=OF_THE_MACHINE)
