"""The tests' own rule that no program takes long to compile."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

HERE = Path(__file__).parent


@pytest.fixture
def compiled_before():
    return jax.jit(lambda x: 2 * x)(jnp.ones(3))


def test_a_test_compiles_something():
    assert jax.jit(lambda x: x + 1)(jnp.zeros(())) == 1


def test_a_fixture_compiles_something(compiled_before):
    assert compiled_before.tolist() == [2.0, 2.0, 2.0]


def test_a_test_in_which_a_program_took_too_long_fails():
    """With no time at all, the two above, one of them before it begins, and not one that compiles nothing."""
    expected = {
        "test_compile_budget.py::test_a_test_compiles_something": "FAILED",
        "test_compile_budget.py::test_a_fixture_compiles_something": "ERROR",
        "test_constraints.py::test_there_is_a_file_for_every_python_that_is_pinned": "PASSED",
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-rA", "--compile-budget=0", *expected]
    said = subprocess.run(command, cwd=HERE, capture_output=True, text=True).stdout
    for name, outcome in expected.items():
        assert f"\n{outcome} {name}" in said, said
    assert said.count("s to compile, and one program may take 0 s: simplify it.") >= 2, said
