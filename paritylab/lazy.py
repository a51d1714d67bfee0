"""Names that are listed once, in a stub, and loaded when they are first used."""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the relative imports of the `.pyi` beside its file.

    Type checkers and editors read the stub themselves, so that nobody lists a name twice.
    """
    lines = ast.parse(Path(file).with_suffix(".pyi").read_text()).body
    imports = [line for line in lines if isinstance(line, ast.ImportFrom) and line.level == 1]
    # The module of each name; of a subpackage, which is a module itself, none.
    homes = {alias.name: line.module or "" for line in imports for alias in line.names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{homes[name] or name}")
        value = getattr(module, name) if homes[name] else module
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(homes), [*homes]
