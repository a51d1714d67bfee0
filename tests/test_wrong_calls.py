"""What is wrong is said in one sentence, at once, and leaves nothing behind: on the command line and in Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import wrong_calls

HERE = Path(__file__).parent


def faults(kind: str, folder: Path, chosen: range) -> list[str]:
    """Makes some of the wrong calls in a process of its own; what is wrong with the answers."""
    command = [sys.executable, str(HERE / "wrong_calls.py"), kind, *map(str, chosen)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "JAX_PLATFORMS": "cpu"}
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(found) == len(chosen), ended.stderr[-2000:]
    return [f"{each['what']}: {each['fault']}" for each in found if each["fault"]]


def some(kind: str, about: int = 45) -> range:
    made = len(wrong_calls.commands() if kind == "commands" else wrong_calls.WRONG_CALLS)
    return range(0, made, -(-made // about))


@pytest.mark.parametrize("kind", ["commands", "calls"])
def test_some_wrong_calls_are_answered_by_a_sentence(kind, tmp_path):
    assert not faults(kind, tmp_path, some(kind))


@pytest.mark.acceptance
@pytest.mark.parametrize(("kind", "least"), [("commands", 300), ("calls", 150)])
def test_every_wrong_call_is_answered_by_a_sentence(kind, least, tmp_path):
    every = some(kind, 10**6)
    assert len(every) >= least
    assert not faults(kind, tmp_path, every)
