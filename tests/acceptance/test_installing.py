"""A wheel and an sdist that are built and installed without an index, and the first cell of the notebooks."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import notebooks
import pytest
from pages import ROOT

OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_IGNORE_INSTALLED": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""The dependencies are there already, beside metadata of the package under test, which pip ignores."""


def run(*words, folder: Path, **environment: str) -> str:
    """Outside of the checkout, so that nothing is imported from it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=folder, env={**kept, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The sdist, and the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, folder=folder, **OFFLINE)
    return folder


@pytest.fixture
def empty(tmp_path) -> Path:
    """The Python of a new environment that has the dependencies and not the package."""
    run(sys.executable, "-m", "venv", tmp_path / "venv", folder=tmp_path)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = tmp_path / "venv" / "lib" / version / "site-packages"
    # Files of paths inside that folder are not read: an editable install there is not seen.
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    python = tmp_path / "venv" / "bin" / "python"
    found = run(python, "-c", "import importlib.util as u; print(u.find_spec('paritylab'))", folder=tmp_path)
    assert found.strip() == "None"
    return python


@pytest.mark.acceptance
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_built_installs_and_works_without_an_index(built, empty, tmp_path, kind):
    (file,) = built.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    run(empty, "-m", "pip", "install", "--no-build-isolation", file, folder=tmp_path, **OFFLINE)
    place = run(empty, "-c", "import paritylab; print(paritylab.__file__)", folder=tmp_path).strip()
    assert Path(place).is_relative_to(tmp_path)
    command = empty.with_name("paritylab")
    assert "hidden-progress/fig7" in run(command, "list", folder=tmp_path)
    words = ["train", "--n", "8", "--k", "2", "--seeds", "2", "--steps", "500", "--width", "10"]
    assert "of 2" in run(command, *words, folder=tmp_path)


@pytest.mark.acceptance
def test_the_sdist_has_what_the_tests_need_and_nothing_that_was_built(built):
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "docs/tour.md",
        "tests/conftest.py",
        "constraints/3.12.txt",
    } <= names
    assert not [name for name in names if name.startswith((".venv", "out/", ".git/"))]


@pytest.mark.acceptance
def test_the_first_cell_of_a_notebook_installs_what_is_missing(built, empty, tmp_path):
    first = notebooks.code_cells((ROOT / "docs" / "notebooks" / "plateau.md").read_text())[0]
    (tmp_path / "cell.py").write_text(first + "\nimport paritylab\n\nprint(paritylab.__file__)\n")
    (wheel,) = built.glob("*.whl")
    shutil.copy(wheel, tmp_path)  # as somebody uploads it into Colab's files
    for _ in range(2):  # the second time there is nothing to do
        place = run(empty, "cell.py", folder=tmp_path, **OFFLINE).strip()
        assert Path(place).is_relative_to(tmp_path)
