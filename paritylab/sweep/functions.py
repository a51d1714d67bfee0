"""The function that a sweep's file names: found by its source, and imported only when it is to be called.

Whoever writes the file must not choose which code runs here. It is a function that a module of the current project
defines, a file below the current folder, or one of a module that the caller names.
"""

import ast
import contextlib
import importlib
import importlib.util
import inspect
import keyword
import sys
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple


class Located(NamedTuple):
    """A function by its name, with what its source says of it."""

    job: str
    """As the file says it: `package.module:function`."""
    file: Path | None
    """The source of its module; None if that cannot be found without importing something."""
    own: bool
    """Whether it lies in the current project."""
    parameters: list[str] | None
    """What it takes by name; None if the source does not tell, or it takes anything."""

    @property
    def module(self) -> str:
        return self.job.partition(":")[0]

    @property
    def name(self) -> str:
        return self.job.partition(":")[2]


def locate(job: str, modules: Collection[str] = ()) -> Located:
    """The function that `package.module:function` names, from the current folder or one of some modules.

    Nothing is imported.
    """
    module, _, name = job.partition(":")
    words = [*module.split("."), name]
    if not all(word.isidentifier() and not keyword.iskeyword(word) for word in words):
        raise ValueError(f"`job` is 'train' or 'package.module:function', got {job!r:.80}.")
    here = Path.cwd().resolve()
    file = _file_of(module, [here])
    own = file is not None and file.resolve().is_relative_to(here)
    if not own and module not in modules:
        raise ValueError(
            f"The job {job!r:.80} is in no module of this project: there is no {'/'.join(words[:-1])}.py in {here}. "
            f"Run the command in the project's folder, or allow the module with --module {module:.60}."
        )
    file = file if own else _file_of(module, [Path(place or here) for place in sys.path])
    return Located(job, file, own, None if file is None else _parameters(_parsed(file), name, job))


def _file_of(module: str, folders: Iterable[Path]) -> Path | None:
    """The source of a module below one of the folders."""
    stems = (folder.joinpath(*module.split(".")) for folder in folders)
    paths = (path for stem in stems for path in (stem / "__init__.py", stem.with_suffix(".py")))
    with contextlib.suppress(OSError):  # a name that is too long for a file
        return next((path for path in paths if path.is_file()), None)
    return None


def _parsed(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes())
    except OSError as error:
        raise ValueError(f"The job's module {file} cannot be read ({error.strerror}).") from None
    except SyntaxError as error:
        raise ValueError(f"The job's module {file} is no Python: {error.msg} (line {error.lineno}).") from None
    except (ValueError, RecursionError, MemoryError):  # zeros in it, or brackets inside brackets without end
        raise ValueError(f"The job's module {file} is no Python that can be read.") from None


def _parameters(tree: ast.Module, name: str, job: str) -> list[str] | None:
    for node in reversed(tree.body):  # the last definition counts
        if isinstance(node, ast.FunctionDef) and node.name == name:
            takes = node.args
            if node.decorator_list or takes.kwarg:
                return None
            return [each.arg for each in (*takes.args, *takes.kwonlyargs)]
        imported = node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
        if name in [alias.asname or alias.name.partition(".")[0] for alias in imported]:
            raise ValueError(f"The job {job!r} is imported in that module. Name the module that defines it.")
    return None


def parameters_of(function: Callable[..., Any]) -> list[str] | None:
    """What a function takes by name; None if it takes anything."""
    found = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in found):
        return None
    return [each.name for each in found if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]


def load(located: Located) -> Callable[..., Any]:
    """The function itself. This runs the code of its module."""
    job, module = located.job, located.module
    if located.own:
        here = str(Path.cwd().resolve())
        if here not in sys.path:  # whoever starts a program by its name has the program's folder there
            sys.path.insert(0, here)
        _check_nothing_hides(located)
    found: Any = getattr(_imported(module), located.name, None)
    if found is None:
        raise ValueError(f"`job` is 'train' or 'package.module:function', and {module} has no {located.name!r}.")
    if not callable(found):
        raise ValueError(f"`job` names a function, and {job!r} is a {type(found).__name__}.")
    if located.own and getattr(found, "__module__", None) != module:
        raise ValueError(f"The job {job!r} is not defined in that module. Name the module that defines it.")
    return found


def _check_nothing_hides(located: Located) -> None:
    """The module of a project is the one that Python would import, and not one of the same name elsewhere."""
    importlib.invalidate_caches()
    top = located.module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # a module that was not imported in the usual way, such as __main__
        spec = None
    places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or [])]
    assert located.file is not None
    file = located.file.resolve()
    if not any(Path(place).resolve() in (file, *file.parents) for place in places if place):
        raise ValueError(f"The job's module {file} is hidden by another one named {top!r}. Rename yours.")


def _imported(module: str) -> Any:
    """A module; whatever its code does instead is a sentence, and what it prints goes to standard error."""
    with ThreadPoolExecutor(1) as hand, contextlib.redirect_stdout(sys.stderr):
        done = hand.submit(importlib.import_module, module)
        error = done.exception()
    if error is not None:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"The job's module {module} cannot be imported ({said:.200}).")
    return done.result()
