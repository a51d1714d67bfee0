"""Shared by all tests. They run with warnings as errors and with every annotation checked (see pyproject.toml)."""

import gc
import json
import signal
import subprocess
import sys

import jax
import pytest

LONGEST_FIRST = ("test_docs_run.py", "sweep", "training", "experiments")
"""Files, and folders whose files, take longest: begun first, they do not keep one worker busy at the end."""


def pytest_collection_modifyitems(items):
    def place(item):
        found = {item.path.name, item.path.parent.name} & set(LONGEST_FIRST)
        return min(map(LONGEST_FIRST.index, found), default=len(LONGEST_FIRST))

    items.sort(key=place)


@pytest.fixture(scope="module", autouse=True)
def programs_end_with_their_file():
    """Thousands of compiled programs would otherwise stay in memory, gigabytes of them."""
    yield
    jax.clear_caches()
    gc.collect()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The folder of compiled programs for what users run: as theirs it outlives each process, and it begins empty."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def interruptible():
    """Processes that a test starts listen to Ctrl-C, even if the tests run in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def said_to_users():
    """What users are told, who run without checked annotations: the error of each expression, by its text.

    Where an annotation names the allowed values, the checker of the tests would speak first.
    """

    def ask(*expressions: str) -> dict[str, str]:
        result = subprocess.run(
            [sys.executable, "-c", EVALUATE, *expressions], capture_output=True, text=True, check=True
        )
        return json.loads(result.stdout)

    return ask


EVALUATE = """
import json, sys
import equinox as eqx
import numpy as np
import optax
import paritylab as pl
from paritylab.cube import encode
from paritylab.sweep import Sweep

TASK = pl.Uniform(pl.Parity(6, (0, 1)))

said = {}
for expression in sys.argv[1:]:
    try:
        eval(expression)
        said[expression] = "nothing"
    except Exception as error:
        said[expression] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""
