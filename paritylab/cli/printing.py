"""How things are printed: tables for people, JSON for programs."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..documents import document, write_whole
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


COUNTS = {"unfinished": "unfinished", "not_started": "not started"}
"""Columns that are shown where they are not 0 throughout."""
ENTRIES = ("learned", "runs", *COUNTS, "t10", "median", "interval")


def print_summary(summary: list[dict[str, Any]]) -> None:
    counts = [name for name in COUNTS if any(row[name] for row in summary)]
    names = [name for name in summary[0] if name not in ENTRIES]
    rows = [
        [
            *(shown(row[name]) for name in names),
            f"{row['learned']} of {row['runs']}",
            *(shown(row[name]) for name in (*counts, "t10", "median")),
            shown_interval(row["interval"]),
        ]
        for row in summary
    ]
    times = ["10th percentile", "median time", "95% interval of the median"]
    table(rows, [*names, "learned", *(COUNTS[name] for name in counts), *times])


def shown_interval(interval: tuple[float, float] | None) -> str:
    """An interval that may have no upper end, or be none at all."""
    if interval is None:
        return "too few runs"
    low, high = interval
    if math.isinf(high):
        return "-" if math.isinf(low) else f"at least {shown(low)}"
    return f"{shown(low)} to {shown(high)}"


def shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


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
