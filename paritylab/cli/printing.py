"""How things are printed: tables for people, JSON for programs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..documents import document, write_whole
from ..tables import cells_of_summary, shown as shown
from .app import check_writable, code_of_writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def print_json(value: Any) -> None:
    typer.echo(document(value), nl=False)


def deliver(
    name: str, content: Any, as_json: bool, out: Path | None, picture: "Callable[[], Figure | None] | None" = None
) -> int:
    """A document: on standard output if it is asked for, and to a folder with its picture if one is named.

    Gives the exit code, which is not 0 if the folder cannot take it in.
    """
    code = 0
    if out is not None:
        check_writable(out, *(f"{name}{ending}" for ending in (".json", ".pdf", ".png")))
        code = code_of_writing(lambda: _write(out / name, content, picture() if picture else None))
    if as_json:
        print_json(content)
    return code


def _write(path: Path, content: Any, figure: "Figure | None") -> None:
    write_whole(path.with_name(f"{path.name}.json"), document(content))
    if figure is not None:
        from ..figures import save

        typer.echo(save(figure, path)[0], err=True)


def print_summary(summary: list[dict[str, Any]]) -> None:
    table(*cells_of_summary(summary))


def table(rows: list[list[str]], names: list[str]) -> None:
    """Columns with two spaces in between; numbers would rather stand right, words left."""
    widths = [max(len(row[i]) for row in [names, *rows]) for i in range(len(names))]
    right = [all(cell[:1].isdigit() or cell == "-" for cell in (row[i] for row in rows)) for i in range(len(names))]
    for row in [names, ["-" * width for width in widths], *rows]:
        cells = [
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(row, widths, right, strict=True)
        ]
        typer.echo("  ".join(cells).rstrip())
