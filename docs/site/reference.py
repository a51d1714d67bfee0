"""The reference: one page for each room of the package, from the signatures and docstrings of what it exports."""

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOMS = {
    "targets": "what is learned",
    "distributions": "on which inputs",
    "networks": "with what",
    "training": "how, and what comes of it",
    "circuits": "gates, patterns and layerwise learning",
    "analysis": "what came out, exactly",
    "bounds": "what cannot be",
    "sweep": "many runs, and the store",
    "page": "runs watched in a notebook",
    "style": "the look of figures",
}
WITHOUT_A_STUB = {"style": ["ink", "of", "use"]}
Definition = ast.FunctionDef | ast.ClassDef
DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> )\S.*\n?|^\.\.\. .*\n?)*)+", re.MULTILINE)


def names_of(room: str) -> list[str]:
    return WITHOUT_A_STUB.get(room) or list(importlib.import_module(f"paritylab.{room}").__all__)


def write(folder: Path) -> None:
    """A page for each room, and one that lists them with the names of the front door."""
    folder.mkdir(parents=True)
    for room, what in ROOMS.items():
        module = importlib.import_module(f"paritylab.{room}")
        parts = [_entry(module, name) for name in sorted(names_of(room), key=str.lower)]
        # Two rooms may use a name: what a signature mentions is looked for in its own room first.
        head = f"# {room}: {what}\n\n`paritylab.{room}`\n\n```{{py:currentmodule}} paritylab.{room}\n```\n\n"
        (folder / f"{room}.md").write_text(head + "\n\n".join(parts) + "\n")
    (folder / "index.md").write_text(_contents())


def _contents() -> str:
    paritylab = importlib.import_module("paritylab")
    where = {name: room for room in ROOMS for name in names_of(room)}
    rows = []
    for name in paritylab.__all__:
        value = getattr(paritylab, name)
        if isinstance(value, ModuleType):
            continue
        what = first_sentence(inspect.getdoc(value) or "")
        linked = f"{{py:obj}}`pl.{name} <paritylab.{where[name]}.{name}>`" if name in where else f"`pl.{name}`"
        rows.append(f"| {linked} | {what} |")
    rooms = "\n".join(f"| [`pl.{room}`]({room}.md) | {what} |" for room, what in ROOMS.items())
    pages = "\n".join(ROOMS)
    return (
        "# Reference\n\nThe rooms of the package stand in the order in which data moves; each has a page.\n\n"
        f"| room | |\n|---|---|\n{rooms}\n\n"
        "## At the front door\n\n`import paritylab as pl` offers these by themselves:\n\n"
        f"| name | |\n|---|---|\n" + "\n".join(rows) + f"\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    )


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, in one line of a table."""
    return " ".join(re.split(r"(?<=[.:])\s+(?=[A-Z>`-])|\n\n", text.strip())[0].split()).replace("|", "\\|")


def _entry(module: ModuleType, name: str) -> str:
    """What is said of one export."""
    value = getattr(module, name)
    definition = _definition(value) if inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value)) else None
    if definition is None:
        text = inspect.getdoc(value) if callable(value) else ""
        if inspect.isroutine(value) or hasattr(value, "__wrapped__"):
            return _directive(6, "py:function", f"{name}(x)", first_sentence(text or "") + "\n")
        return _directive(6, "py:data", name, f"`{value!s:.200}`\n")
    if isinstance(definition, ast.FunctionDef):
        signature = _signature(name, definition)
        returned = getattr(value, "__annotations__", {}).get("return")
        if hasattr(value, "__wrapped__") and isinstance(returned, type):  # what wraps it gives something else
            signature = f"{signature.rpartition(' -> ')[0]} -> {returned.__name__}"
        return _directive(6, "py:function", signature, _text(inspect.getdoc(value)))
    return _directive(
        6, "py:class", _signature(name, _maker(definition, value)), _text(inspect.getdoc(value)) + _members(definition)
    )


def _definition(value: Any) -> Definition | None:
    """The definition in the source; that of the lab's own things alone."""
    value = inspect.unwrap(value)
    if not (getattr(value, "__module__", None) or "").startswith("paritylab"):
        return None
    tree = _tree(inspect.getsourcefile(value))
    found = [node for node in tree.body if isinstance(node, Definition) and node.name == value.__name__]
    return found[-1] if found else None


@functools.cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text())


def _maker(definition: ast.ClassDef, value: type) -> ast.FunctionDef | list[str]:
    """`__init__` where one is written, here or in a class above; else the fields."""
    for each in value.__mro__:
        above = _definition(each) if each is not value else definition
        if isinstance(above, ast.ClassDef) and (made := _methods(above).get("__init__")):
            return made
    fields = [
        node
        for each in reversed(value.__mro__)
        if isinstance(above := _definition(each), ast.ClassDef)
        for node in above.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id[0] != "_"
    ]
    return list({node.target.id: _field(node) for node in fields}.values())  # type: ignore[union-attr]


def _field(node: ast.AnnAssign) -> str:
    """A field as an argument, with its default if it has one."""
    text = f"{node.target.id}: {ast.unparse(node.annotation)}"  # type: ignore[union-attr]
    default = node.value
    if isinstance(default, ast.Call) and ast.unparse(default.func).endswith("field"):
        default = next((each.value for each in default.keywords if each.arg == "default"), None)
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _signature(name: str, definition: ast.FunctionDef | list[str]) -> str:
    if isinstance(definition, list):
        return f"{name}({', '.join(definition)})"
    for argument in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs):
        argument.annotation = _unquoted(argument.annotation)
    arguments = ast.unparse(definition.args)
    arguments = re.sub(r"^(self|cls)(: \w+)?(, |$)", "", arguments)
    returned = _unquoted(definition.returns)
    returns = f" -> {ast.unparse(returned)}" if returned and definition.name != "__init__" else ""
    return f"{name}({arguments}){returns}"


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    """An annotation that stands in quotes, without them."""
    quoted = isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
    return ast.parse(annotation.value, mode="eval").body if quoted else annotation  # type: ignore[union-attr]


def _methods(definition: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in definition.body if isinstance(node, ast.FunctionDef)}


def _members(definition: ast.ClassDef) -> str:
    """Fields, properties and methods that have a docstring of their own."""
    parts = []
    for name, text in _documented_fields(definition):
        parts.append(_directive(5, "py:attribute", name, _text(text)))
    for name, method in _methods(definition).items():
        text = ast.get_docstring(method)
        if name.startswith("_") or not text:
            continue
        decorators = {ast.unparse(each).rpartition(".")[2] for each in method.decorator_list}
        if decorators & {"property", "cached_property"}:
            parts.append(_directive(5, "py:property", name, _text(text)))
        else:
            kind = "py:classmethod" if "classmethod" in decorators else "py:method"
            parts.append(_directive(5, kind, _signature(name, method), _text(text)))
    return "".join(f"\n{part}\n" for part in parts)


def _documented_fields(definition: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for node, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(after, ast.Expr):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and isinstance(after.value, ast.Constant) and after.value.value:
                yield target.id, inspect.cleandoc(str(after.value.value))


def _text(text: str | None) -> str:
    """A docstring as Markdown: examples become blocks of code."""
    return DOCTEST.sub(lambda found: f"\n```python\n{found[0].rstrip()}\n```\n", f"{text or ''}\n")


def _directive(ticks: int, kind: str, argument: str, body: str) -> str:
    fence = "`" * ticks
    return f"{fence}{{{kind}}} {argument}\n\n{body}{fence}"
