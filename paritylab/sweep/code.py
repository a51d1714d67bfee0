"""The code of one's own functions and classes, as a part of the names of results.

A result belongs to the code that gave it: an edited function must not find the results of the old one. What is
counted is the source of a function or class, of all that it uses in the same project, and the values of the global
constants that it reads; comments, docstrings and layout are not. Code of Python, of installed packages and of the lab
goes by its name alone: versions are in the manifests.
"""

import ast
import hashlib
import importlib.util
import inspect
import sys
import textwrap
import threading
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

INSTALLED = {"site-packages", "dist-packages"}
SCRIPTS = ("__main__", "__mp_main__")


def is_own(module: str | None) -> bool:
    """Whether a module is the user's: neither Python's, nor installed, nor the lab's."""
    if not module:
        return False
    top = module.partition(".")[0]
    if module in SCRIPTS:
        return True
    if top == "paritylab" or top in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and not INSTALLED & {*Path(file).parts}


_known: dict[Any, str] = {}
_reading: list["_Reader"] = []
_one_thread = threading.RLock()


def fingerprint(named: Any) -> str:
    """16 hexadecimal digits of a function's or class's code, and of what it uses.

    It is read once for each object: what a process has imported does not change when its file does.
    """
    with _one_thread:
        if _reading:  # asked on the way, for the value of a constant: part of what is being read
            _reading[-1].read(named)
            return "above"
        if named not in _known:
            _reading.append(reader := _Reader())
            try:
                reader.read(named)
            finally:
                _reading.pop()
            _known[named] = hashlib.sha256("\0".join(reader.found).encode()).hexdigest()[:16]
        return _known[named]


class _Reader:
    """Follows names from one function or class to all that it uses."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._seen: set[int] = set()

    def read(self, named: Any) -> None:
        named = inspect.unwrap(named)
        if id(named) in self._seen:
            return
        self._seen.add(id(named))
        tree = _parsed(source_of(named))
        own_name = f"{named.__module__.replace('__mp_main__', '__main__')}.{named.__qualname__}"
        self.found.append(f"{own_name}: {ast.unparse(tree)}")
        names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
        scope, bound = _scope(named), {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        for chain in _chains(tree):
            if chain[0] in scope:
                self._use(named, chain, scope[chain[0]], told=chain[0] not in bound)
        for module, name in _imported_inside(tree, named.__module__):
            known = sys.modules.get(module)
            if name and known is not None and not isinstance(value := getattr(known, name, known), types.ModuleType):
                self._use(named, [name], value, told=True)
            else:
                self._whole(f"{module}.{name}" if name and _is_module(f"{module}.{name}") else module)

    def _use(self, user: Any, chain: list[str], value: Any, told: bool) -> None:
        """What stands at the end of a chain such as `helpers.tables.size`, as far as it leads through modules."""
        name, *rest = chain
        while isinstance(value, types.ModuleType):
            if not is_own(value.__name__):
                return
            if not rest or not hasattr(value, rest[0]):
                self._whole(value.__name__)
                return
            value, name, rest = getattr(value, rest[0]), rest[0], rest[1:]
        if inspect.isroutine(value) or isinstance(value, type) or hasattr(value, "__wrapped__"):
            if is_own(getattr(value, "__module__", None)):
                self.read(value)
            return
        from .canonical_form import canonical

        try:
            self.found.append(f"{name} = {canonical(value)}")
        except (ValueError, TypeError):
            if told:
                warnings.warn(
                    f"{user.__qualname__} uses {name!r}, a {type(value).__name__} that cannot be written down: if it "
                    "changes, older results will be taken for new ones. Pass it as an argument, or make it a constant.",
                    stacklevel=2,
                )

    def _whole(self, module: str) -> None:
        """All of a module, where it is not known which part of it is used."""
        if module in SCRIPTS or not _is_module(module):
            return
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None or not spec.has_location or INSTALLED & {*Path(spec.origin).parts}:
            return
        if module.partition(".")[0] not in sys.stdlib_module_names and spec.origin.endswith(".py"):
            self.found.append(f"{module}: {ast.unparse(_parsed(Path(spec.origin).read_text()))}")


def source_of(named: Any) -> str:
    """The source of a function or class."""
    try:
        return textwrap.dedent(inspect.getsource(named))
    except (OSError, TypeError):
        raise ValueError(
            f"{named!r} is defined in a session that keeps no source (`python -c`, say), so its results could not be "
            "found again. Write it into a file, a module of its own, and import it from there."
        ) from None


def _parsed(source: str) -> ast.Module:
    """The source as a tree, without docstrings."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a lambda in the middle of an expression: the text itself
        return ast.Module([ast.Expr(ast.Constant(source))], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(node.body) > 1:
                del node.body[0]
    return tree


def _scope(named: Any) -> dict[str, Any]:
    """What the free names of a function or class stand for."""
    if isinstance(named, types.FunctionType):
        cells = zip(named.__code__.co_freevars, named.__closure__ or (), strict=True)
        return {**named.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    return vars(sys.modules[named.__module__])


def _chains(tree: ast.AST) -> list[list[str]]:
    """Every name that is read with the attributes asked of it, `a.b.c` as ['a', 'b', 'c'], each once, in order."""
    found: dict[tuple[str, ...], None] = {}
    inner: set[int] = set()
    for node in ast.walk(tree):
        chain: list[str] = []
        top = node
        while isinstance(top, ast.Attribute):
            chain.insert(0, top.attr)
            top = top.value
            inner.add(id(top))
        if isinstance(top, ast.Name) and isinstance(top.ctx, ast.Load) and id(node) not in inner:
            found.setdefault((top.id, *chain))
    return [list(chain) for chain in found]


def _imported_inside(tree: ast.AST, module: str) -> Iterator[tuple[str, str]]:
    """What a function imports itself: a module, and a name in it or none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            package = sys.modules[module].__package__ or ""
            full = importlib.util.resolve_name(name, package) if node.level else name
            found = [(full, alias.name) for alias in node.names]
        else:
            continue
        yield from ((name, inside) for name, inside in found if not name.startswith("paritylab"))


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what comes before the last dot is no package
        return False
