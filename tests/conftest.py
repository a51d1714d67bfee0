"""Shared by all tests, which are stricter than users.

Warnings are errors, every annotation is checked (see pyproject.toml), and JAX promotes neither types nor ranks.
"""

import contextlib
import functools
import gc
import json
import signal
import subprocess
import sys
from pathlib import Path

import jax
import jax.monitoring
import optax
import pytest
from hypothesis import settings

settings.register_profile("same everywhere", derandomize=True)
settings.load_profile("same everywhere")

HERE = Path(__file__).parent
LONGEST_FIRST = ("test_docs_run.py", "sweep", "training", "experiments")
"""Files, and folders whose files, take longest: begun first, they do not keep one worker busy at the end."""


COMPILE_BUDGET = 60.0
"""Seconds for one program. The longest of the suite took 25 s (JAX 0.12) where nine jobs shared two cores, so that a
machine may be ten times slower than an idle one of today. What it is there to find takes minutes, or does not end."""

LANES = 4
"""Of a program for which a test names none. Another number is another program: the same runs, but for rounding."""

COMPILED: list[tuple[float, str]] = []
"""How long each program of this process took to compile, since a test last looked, and its name."""


def pytest_addoption(parser):
    parser.addoption("--compile-budget", type=float, default=COMPILE_BUDGET, help="seconds that one program may take")


def pytest_configure():
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
    optax.tree.bias_correction = promoting(optax.tree.bias_correction)
    jax.monitoring.register_event_duration_secs_listener(note_compilation)


def promoting(function):
    """Code of others that mixes types: Adam takes a float to the power of a whole number."""

    @functools.wraps(function)
    def call(*args, **options):
        with jax.numpy_dtype_promotion("standard"):
            return function(*args, **options)

    return call


def pytest_collection_finish(session):
    """Spares the tests two kinds of work that say nothing, once all is imported.

    Most of them train a few runs, and a run pays for all lanes of its program, up to 128 where none are named. And
    what was imported stays: whoever looks for what nobody uses any more need not look there.
    """
    if session.config.option.markexpr != "acceptance":
        from paritylab.training.host import sizing

        _, _, budget = sizing.LANES["cpu"]
        sizing.LANES["cpu"] = (LANES, LANES, budget)
    gc.collect()
    gc.freeze()


def note_compilation(event, seconds, **about):
    if event == "/jax/core/compile/backend_compile_duration":
        COMPILED.append((seconds, about.get("fun_name", "a program")))


@contextlib.contextmanager
def within_compile_budget(item):
    """Fails a test in which one program took longer to compile than the budget, whatever else came of it."""
    COMPILED.clear()
    try:
        yield
    finally:
        budget = item.config.getoption("--compile-budget")
        seconds, name = max(COMPILED, default=(0.0, ""))
        if seconds > budget:
            rule = f"one program may take {budget:g} s: simplify it"
            pytest.fail(f"{name} took {seconds:.1f} s to compile, and {rule}.", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    with within_compile_budget(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with within_compile_budget(item):
        return (yield)


def pytest_collection_modifyitems(items):
    def place(item):
        inside = item.path.relative_to(HERE).parts if item.path.is_relative_to(HERE) else ()
        found = {*inside} & {*LONGEST_FIRST}
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

    command = [sys.executable, "-c", EVALUATE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as user:

        def ask(*expressions: str) -> dict[str, str]:
            user.stdin.write(json.dumps(expressions) + "\n")
            user.stdin.flush()
            return json.loads(user.stdout.readline())

        yield ask


EVALUATE = """
import json, sys
import equinox as eqx
import numpy as np
import optax
import paritylab as pl
from paritylab.cube import encode
from paritylab.sweep import Sweep

TASK = pl.Uniform(pl.Parity(6, (0, 1)))

for line in sys.stdin:
    said = {}
    for expression in json.loads(line):
        try:
            eval(expression)
            said[expression] = "nothing"
        except Exception as error:
            said[expression] = f"{type(error).__name__}: {error}"
    print(json.dumps(said), flush=True)
"""
