"""The order of the layers, read from the source: nothing imports what comes after it."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import paritylab

ROOT = Path(paritylab.__file__).parent

FREE = (
    "lazy",
    "registry",
    "runtime",
    "brief",
    "demands",
    "progress",
    "cube",
    "statistics",
    "survival",
    "censored_fits",
    "tables",
    "style",
    "figures",
    "manifest",
    "documents",
    "interruptions",
)
LAYERS = (
    FREE,
    ("targets",),
    ("distributions",),
    ("networks",),
    ("training",),
    ("circuits",),
    ("analysis",),
    ("bounds",),
    ("names",),
    ("sweep",),
    ("experiments", "bench"),
    ("report",),
    ("page",),
)
RANK = {part: rank for rank, layer in enumerate((*LAYERS, ("cli",), ("__main__",))) for part in layer}

MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


class Imports(ast.NodeVisitor):
    """The parts of the package that a module imports, wherever in it, except for annotations alone."""

    def __init__(self, module: str):
        *self.folder, _ = module.split("/")
        self.found: set[str] = set()

    def visit_If(self, node):
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Import(self, node):
        for alias in node.names:
            first, *rest = alias.name.split(".")
            if first == "paritylab":
                # Modules of the package take no more than this from its front door.
                self.found.add(rest[0] if rest else "training")

    def visit_ImportFrom(self, node):
        path = (node.module or "").split(".") if node.module else []
        if node.level:
            path = [*self.folder[: len(self.folder) - (node.level - 1)], *path]
        elif path[0] == "paritylab":
            path = path[1:]
        else:
            return
        if path:
            self.found.add(path[0])
        else:
            self.found |= {home(alias.name) for alias in node.names if alias.name != "__version__"}


def home(name: str) -> str:
    """The part of the package that a name of its top level stands for or comes from."""
    return name if name in RANK else getattr(paritylab, name).__module__.split(".")[1]


def imports(module: str, source: str) -> set[str]:
    found = Imports(module)
    found.visit(ast.parse(source))
    return found.found


def allowed(module: str, imported: str) -> bool:
    part = module.split("/")[0].removesuffix(".py")
    both_free = part in FREE and imported in FREE
    return part == imported or both_free or RANK[imported] < RANK[part]


def test_every_module_has_its_layer():
    assert {module.split("/")[0].removesuffix(".py") for module in MODULES} == set(RANK)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_backwards(module):
    wrong = {part for part in imports(module, (ROOT / module).read_text()) if not allowed(module, part)}
    assert not wrong, f"{module} imports {wrong}"


@pytest.mark.parametrize(
    ("module", "source", "found"),
    [
        ("cube.py", "from .runtime import f", {"runtime"}),
        ("targets/parity.py", "from ..cube import f\nfrom .base import g", {"cube", "targets"}),
        ("experiments/paper/figure.py", "from ...figures import f\nfrom . import g", {"figures", "experiments"}),
        ("training/train.py", "def f():\n    from ..experiments import g", {"experiments"}),
        ("figures.py", "if TYPE_CHECKING:\n    from .training.runs import Runs", set()),
        ("names.py", "import paritylab as pl", {"training"}),
        ("names.py", "import paritylab.bench.cases", {"bench"}),
        ("cli.py", "from . import __version__, names", {"names"}),
        ("bench/cases.py", "from paritylab import Parity\nimport numpy", {"targets"}),
        ("bench/cases.py", "from paritylab.networks.base import outputs", {"networks"}),
    ],
)
def test_the_reader_of_imports_sees_them(module, source, found):
    assert imports(module, source) == found


@pytest.mark.parametrize(
    ("module", "imported", "may"),
    [
        ("targets/parity.py", "distributions", False),
        ("networks/mlp.py", "targets", True),
        ("bench/cases.py", "experiments", False),
        ("cube.py", "training", False),
        ("cube.py", "runtime", True),
        ("names.py", "cli", False),
    ],
)
def test_the_order_of_the_layers(module, imported, may):
    assert allowed(module, imported) == may


def test_the_front_door_is_small_and_every_name_of_it_is_there():
    assert len(dir(paritylab)) <= 45
    for name in dir(paritylab):
        assert getattr(paritylab, name) is not None


@pytest.mark.parametrize("room", sorted(path.parent.name for path in ROOT.glob("*/__init__.pyi")))
def test_every_name_of_a_room_is_there_and_none_is_that_of_a_module(room):
    offered = importlib.import_module(f"paritylab.{room}")
    modules = {path.stem for path in (ROOT / room).iterdir()}
    for name in dir(offered):
        assert name not in modules, "once such a module is imported, it would hide the name"
        assert getattr(offered, name) is not None


def test_the_front_door_opens_without_jax_and_the_rooms_right_behind_it():
    script = (
        "import sys, paritylab as pl; assert 'jax' not in sys.modules; pl.bounds.kernel; pl.analysis.fourier_gap; "
        "pl.sweep.Sweep; pl.circuits.gate_tables"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_name_that_does_not_exist_says_so():
    with pytest.raises(AttributeError, match="module 'paritylab' has no attribute 'Partiy'"):
        paritylab.Partiy  # noqa: B018
