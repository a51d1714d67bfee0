"""The pinned versions: complete, within what `pyproject.toml` allows, and those that the Makefile installs."""

import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = ("3.11", "3.12", "3.13")


def pins(python):
    lines = (ROOT / "constraints" / f"{python}.txt").read_text().split()
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def declared():
    texts = [*PROJECT["dependencies"], *(text for extra in PROJECT["optional-dependencies"].values() for text in extra)]
    return [needed for text in texts if (needed := Requirement(text)).name != PROJECT["name"]]


def test_there_is_a_file_for_every_python_that_is_pinned():
    assert sorted(path.name for path in (ROOT / "constraints").iterdir()) == [f"{python}.txt" for python in PINNED]


@pytest.mark.parametrize("python", PINNED)
def test_every_declared_dependency_has_a_pin_that_is_allowed(python):
    found = pins(python)
    for needed in declared():
        assert needed.specifier.contains(found[canonicalize_name(needed.name)]), needed
    assert found["jaxlib"] == found["jax"]


def test_all_versions_of_jax_are_apart_and_the_rest_are_the_same():
    first, *others = map(pins, PINNED)
    for other in others:
        differ = {name for name in first.keys() & other.keys() if first[name] != other[name]}
        assert differ == {"jax", "jaxlib"}
    assert len({pins(python)["jax"] for python in PINNED}) == len(PINNED)


@pytest.mark.parametrize("python", [*PINNED, "3.14"])
def test_make_installs_the_pins_of_its_python(tmp_path, python):
    interpreter = tmp_path / "python3"
    interpreter.write_text(f"#!/bin/sh\necho {python}\n")
    interpreter.chmod(0o755)
    venv = tmp_path / "venv"
    command = ["make", "--dry-run", f"PYTHON={interpreter}", f"VENV={venv}", f"{venv}/.dev"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pinned = f"install --constraint constraints/{python}.txt --editable '.[dev,cluster]'"
    assert (pinned if python in PINNED else "install --editable '.[dev,cluster]'") in " ".join(said.split())
