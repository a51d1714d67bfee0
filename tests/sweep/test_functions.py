"""Functions of sweep files: which may be named, and that nothing is run to know it."""

import json
import sys

import pytest
from typer.testing import CliRunner

from paritylab.cli import app
from paritylab.sweep.functions import load, locate

MARK = "from pathlib import Path\nPath('ran').touch()\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The current folder; modules that are imported from it are forgotten afterwards."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    yield folder
    for name in {*sys.modules} - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def run(*words):
    return CliRunner().invoke(app, ["sweep", "sweep.toml", "--store", "store", *words])


def test_a_dry_run_imports_nothing(project):
    (project / "work").mkdir()
    (project / "work" / "__init__.py").write_text(MARK)
    (project / "work" / "squares.py").write_text(f"{MARK}def square(x, *, y=1):\n    return {{'square': x * y}}\n")
    (project / "sweep.toml").write_text('job = "work.squares:square"\n[axes]\nx = [1, 2, 3]\n')
    said = run("--dry-run")
    assert said.exit_code == 0, said.stderr
    assert said.stdout.splitlines() == [
        "3 runs of call work.squares:square, in 3 jobs.",
        "A dry run imports no code of yours and has not checked which runs are in the store, since their names depend "
        "on the code.",
    ]
    plan = json.loads(run("--dry-run", "--json").stdout)
    assert (plan["runs"], plan["missing"], plan["jobs"], len(plan["unchecked"])) == (3, None, 3, 1)
    assert sorted(path.name for path in project.iterdir()) == ["sweep.toml", "work"]

    (project / "sweep.toml").write_text('job = "work.squares:square"\n[axes]\nz = [1, 2, 3]\n')
    for words in (["--dry-run"], []):  # the same is wrong, and known before anything is imported
        wrong = run(*words)
        assert (wrong.exit_code, wrong.stdout) == (2, "")
        assert "There is no setting of work.squares:square 'z'; did you mean " in wrong.stderr
    assert not (project / "ran").exists()


def test_what_a_dry_run_cannot_check_is_said(project):
    (project / "wrapped_job.py").write_text("def square(**settings):\n    return settings\n")
    (project / "sweep.toml").write_text('job = "wrapped_job:square"\n[axes]\nanything = [1]\n')
    assert "nor whether wrapped_job:square takes these arguments" in run("--dry-run").stdout
    assert load(locate("wrapped_job:square"))(x=1) == {"x": 1}


def test_a_function_of_the_project_or_of_a_module_that_the_caller_names(project, tmp_path):
    assert load(locate("os:getpid", ["os"]))() > 0
    (project / "own_job.py").write_text("def square(x):\n    return {'square': x * x}\n")
    located = locate("own_job:square")
    assert (located.file, located.own, located.parameters) == (project / "own_job.py", True, ["x"])
    assert load(located)(3) == {"square": 9} and sys.path[0] == str(project)
    (tmp_path / "other_job.py").write_text("def square(x):\n    return {'square': x * x}\n")
    (project / "other_job.py").symlink_to(tmp_path / "other_job.py")
    with pytest.raises(ValueError, match="'other_job:square' is in no module of this project"):
        locate("other_job:square")


WRONG = {
    "a syntax error": ("def square(x:\n", "broken.py is no Python: '(' was never closed (line 1)."),
    "zeros": ("x = 1\0", "broken.py is no Python"),
    "an exit": ("import sys\nsys.exit(3)\n", "The job's module {} cannot be imported (SystemExit: 3)."),
    "an error": ("raise RuntimeError('no\\nway')\n", "The job's module {} cannot be imported (RuntimeError: no way)."),
    "nothing": ("", "{} has no 'square'."),
    "a number": ("square = 3.5\n", "`job` names a function, and '{}:square' is a float."),
    "an import": ("from os import system as square\n", "'{}:square' is imported in that module. Name the module"),
    "another's": ("import os\nsquare = os.system\n", "'{}:square' is not defined in that module. Name the module"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_module_that_is_no_good_is_one_sentence_and_nothing_is_left(wrong, project):
    source, sentence = WRONG[wrong]
    name = f"no_{wrong.replace(' ', '_').replace(chr(39), '')}_broken"
    (project / f"{name}.py").write_text(source)
    (project / "sweep.toml").write_text(f'job = "{name}:square"\n[axes]\nx = [1]\n')
    said = run()
    assert (said.exit_code, said.stdout) == (2, ""), said.exception
    assert said.stderr.startswith("paritylab: ") and said.stderr.count("\n") == 1
    assert sentence.format(name) in said.stderr
    assert {path.name for path in project.iterdir()} <= {"sweep.toml", f"{name}.py", "__pycache__"}


def test_a_module_that_another_hides_is_not_taken_for_it(project):
    (project / "json.py").write_text("def square(x):\n    return x\n")
    with pytest.raises(ValueError, match=r"json.py is hidden by another one named 'json'. Rename yours."):
        load(locate("json:square"))


def test_what_a_module_prints_is_not_on_standard_output(project, capsys):
    (project / "loud_job.py").write_text("print('hello')\ndef square(x):\n    return x\n")
    load(locate("loud_job:square"))
    assert capsys.readouterr() == ("", "hello\n")
