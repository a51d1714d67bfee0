"""The user's own code is part of the names of results: what an edit changes has another name, and nothing else has."""

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from paritylab.sweep import Call, Sweep
from paritylab.sweep.code import fingerprint, is_own
from paritylab.sweep.pickling import pack
from paritylab.sweep.schedule import OtherCode, perform

JOBS = '''
"""Jobs of a project."""
import math

import numpy as np

import helpers.tables
from helpers import doubled
from helpers.tables import Table

SCALE = 3.0
DIRECTION = np.array([1.0, -1.0])
shifted = lambda x: x + 1


def logged(function):
    return function


class Base:
    def value(self):
        return 1


class Model(Base):
    """A model."""

    size: int = 4

    def __call__(self, x):
        return self.value() * x


@logged
def job(x):
    """What is asked for."""
    from helpers import late

    # the heart of it
    found = SCALE * doubled(x) + shifted(x) + helpers.tables.size() + math.sqrt(x) + late.constant
    return {"y": found + Model()(x) + Table().rows + DIRECTION[0]}


def unrelated(x):
    return x
'''
HELPERS = """
def doubled(x):
    return inner(x) * 2


def inner(x):
    return x


def idle():
    return 0
"""
ITSELF = """
import dataclasses


@dataclasses.dataclass
class Net:
    width: int

    def best(self):
        return DEFAULT


DEFAULT = Net(2)


def even(x):
    return x == 0 or odd(x - 1)


def odd(x):
    return even(x - 1)
"""
FILES = {
    "jobs.py": JOBS,
    "helpers/__init__.py": HELPERS,
    "helpers/tables.py": "ROWS = 5\n\n\ndef size():\n    return ROWS\n\n\nclass Table:\n    rows = 7\n",
    "helpers/late.py": "constant = 1\n",
}
EDITS = {
    "its own body": ("jobs.py", "math.sqrt(x)", "math.sqrt(x + 1)"),
    "a constant": ("jobs.py", "SCALE = 3.0", "SCALE = 4.0"),
    "an array": ("jobs.py", "np.array([1.0, -1.0])", "np.array([1.0, -2.0])"),
    "a lambda": ("jobs.py", "x + 1\n\n\ndef logged", "x + 2\n\n\ndef logged"),
    "a decorator": ("jobs.py", "    return function", "    print(1)\n    return function"),
    "a method of a class that it uses": ("jobs.py", "self.value() * x", "self.value() + x"),
    "an attribute of a class that it uses": ("jobs.py", "size: int = 4", "size: int = 5"),
    "the base of a class that it uses": ("jobs.py", "return 1\n", "return 2\n"),
    "a function of another module": ("helpers/__init__.py", "inner(x) * 2", "inner(x) * 3"),
    "what that function calls": ("helpers/__init__.py", "    return x\n", "    return -x\n"),
    "a function by its module": ("helpers/tables.py", "return ROWS", "return ROWS + 1"),
    "a constant that this one reads": ("helpers/tables.py", "ROWS = 5", "ROWS = 6"),
    "a class of another module": ("helpers/tables.py", "rows = 7", "rows = 8"),
    "a module that is imported inside": ("helpers/late.py", "constant = 1", "constant = 2"),
}
NO_EDITS = {
    "nothing": ("jobs.py", "", ""),
    "a comment": ("jobs.py", "# the heart of it", "# the soul of it"),
    "a docstring": ("jobs.py", "What is asked for.", "What was asked for."),
    "the docstring of a class": ("jobs.py", "A model.", "The model."),
    "the layout": ("jobs.py", "SCALE * doubled(x) + shifted(x)", "SCALE*doubled( x )  +  shifted(x)"),
    "a function that it does not use": (
        "jobs.py",
        "def unrelated(x):\n    return x",
        "def unrelated(x):\n    return -x",
    ),
    "one of another module": ("helpers/__init__.py", "    return 0", "    return 1"),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Imports a module of a project that is edited in between, as a new process would."""
    turn = iter(range(100))

    def load(edit=("jobs.py", "", ""), module="jobs"):
        folder = tmp_path / str(next(turn))
        place, old, new = edit
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            assert name != place or old in text
            (folder / name).write_text(text.replace(old, new, 1) if name == place and old else text)
        for name in [name for name in sys.modules if name.partition(".")[0] in ("jobs", "helpers")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.syspath_prepend(str(folder))
        return importlib.import_module(module)

    return load


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_of_what_a_job_uses_gives_it_another_name(project, what):
    before = fingerprint(project().job)
    assert fingerprint(project(EDITS[what]).job) != before


@pytest.mark.parametrize("what", NO_EDITS)
def test_what_a_job_does_not_use_is_no_part_of_its_name(project, what):
    before = fingerprint(project().job)
    assert fingerprint(project(NO_EDITS[what]).job) == before


def test_what_cannot_be_written_down_is_said(project):
    module = project(("jobs.py", "DIRECTION = np.array([1.0, -1.0])", "DIRECTION = [object()]"))
    with pytest.warns(UserWarning, match="job uses 'DIRECTION', a list that cannot be written down"):
        fingerprint(module.job)


def test_code_that_uses_itself(project):
    """A class whose method reads a constant of that class, and two functions that call each other."""
    names = set()
    for width in (2, 2, 3):
        module = project(("jobs.py", JOBS, ITSELF.replace("Net(2)", f"Net({width})")))
        names.add((fingerprint(module.Net), fingerprint(module.even)))
    assert len(names) == 2 and len({even for _, even in names}) == 1


def test_threads_do_not_disturb_each_other(project):
    """The first reading of a job takes a while; another thread asks for another job meanwhile."""
    alone = [fingerprint(getattr(project(), name)) for name in ("job", "unrelated")]
    for _ in range(20):
        module = project()
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(fingerprint, (module.job, module.unrelated))) == alone


def test_what_is_installed_goes_by_its_name():
    assert is_own(__name__) and is_own("__main__")
    assert not any(map(is_own, ("paritylab.targets", "optax", "json", "no.such.module", None)))


def test_a_worker_with_other_code_says_so():
    (work,) = Sweep([Call(job_of_this_file, {"x": 1})]).works
    table, _ = perform("name", pack(work), work.names)
    assert table.column("y").to_pylist() == [2]
    with pytest.raises(OtherCode, match="edited in between"):
        perform("name", pack(work), ["another name"])


def job_of_this_file(x):
    return {"y": 2 * x}


SCRIPT = """
from concurrent.futures import ThreadPoolExecutor

import mine
import paritylab as pl
from paritylab.sweep import Call, Sweep

plan = pl.plan(pl.Uniform(mine.Target(8)), pl.MLP(4), seeds=2, steps=10, validation=64)
with ThreadPoolExecutor(1) as executor:
    table = Sweep([plan, Call(mine.double, {"x": 5})]).run("store", executor=executor).table()
print(sorted(table.run), table.y.dropna().tolist())
"""
MINE = """
import equinox as eqx
import paritylab as pl


class Target(pl.AbstractTarget):
    n: int = eqx.field(static=True)

    def __call__(self, x):
        return x[0]


def double(x):
    return {"y": 2 * x}
"""


def test_an_edited_module_is_computed_again(tmp_path):
    """As a user meets it: a script, its module, one store; first as it is, then edited."""
    (tmp_path / "script.py").write_text(SCRIPT)
    said = []
    for text in (MINE, MINE.replace("x[0]", "x[0] * x[1]").replace("2 * x", "3 * x")):
        (tmp_path / "mine.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=200
        )
        said.append(eval(done.stdout.replace("] [", "], [")))
    (first, before), (second, after) = said
    assert before == [10] and after == [15]
    assert not {*first} & {*second} and len(second) == 3
