"""What the rooms of the package export, of which kind each is, and rows of the tables of things under test."""

import inspect
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NamedTuple

from paritylab import circuits, distributions, networks, targets, training
from paritylab.training.rules.base import AbstractRule


class Row(NamedTuple):
    """A thing under test, and the export that it was made with."""

    export: Any
    thing: Any


def row(export: Any, *args: Any, **options: Any) -> Row:
    return Row(export, export(*args, **options))


def things(rows: dict[str, Row]) -> dict[str, Any]:
    return {name: row.thing for name, row in rows.items()}


def exports(room: ModuleType) -> dict[str, Any]:
    """All that a subpackage names in its stub."""
    return {name: getattr(room, name) for name in dir(room)}


Kind = Callable[[Any], bool]


def is_or_gives(base: type) -> Kind:
    """A class below this one, or a function whose return annotation is one."""

    def found(export: Any) -> bool:
        made = export if inspect.isclass(export) else returned(export)
        return inspect.isclass(made) and issubclass(made, base) and not inspect.isabstract(made)

    return found


def called_with(*names: str) -> Kind:
    """A function of arguments with these names, or a class whose objects are."""

    def found(export: Any) -> bool:
        if not inspect.isclass(export):
            return inspect.isfunction(export) and arguments(export) == names
        final = not inspect.isabstract(export) and not getattr(export, "_is_protocol", False)
        return final and "__call__" in dir(export) and arguments(export.__call__)[1:] == names

    return found


def arguments(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def returned(function: Any) -> Any:
    if not inspect.isfunction(function):
        return None
    annotation = inspect.signature(function).return_annotation
    return getattr(sys.modules[function.__module__], annotation, None) if isinstance(annotation, str) else annotation


KINDS: dict[ModuleType, dict[str, Kind]] = {
    targets: {"target": is_or_gives(targets.AbstractTarget)},
    distributions: {
        "distribution": is_or_gives(distributions.AbstractDistribution),
        "law of outputs": is_or_gives(distributions.AbstractOutputs),
        "random task": called_with("key"),
    },
    networks: {
        "recipe": called_with("n", "key"),
        "initialization": is_or_gives(networks.AbstractInitialization),
    },
    training: {
        "record": is_or_gives(training.AbstractRecord),
        "loss": called_with("y", "output"),
        "schedule": called_with("step"),
        "rule": is_or_gives(AbstractRule),
    },
    circuits: {"patterns": is_or_gives(circuits.AbstractPatterns)},
}


def of_kind(room: ModuleType, kind: str) -> dict[str, Any]:
    """The exports of a room that are of a kind."""
    return {name: export for name, export in exports(room).items() if KINDS[room][kind](export)}


def without_a_row(room: ModuleType, kind: str, rows: Iterable[Row]) -> set[str]:
    """The exports of a kind that no row was made with."""
    covered = [row.export for row in rows]
    return {name for name, export in of_kind(room, kind).items() if export not in covered}
