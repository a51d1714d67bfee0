"""How things are printed: tables for people, JSON for programs, bars on standard error."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..documents import document
from .app import check_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sweep.schedule import Progress
    from ..training.crew import Status


def print_json(value: Any) -> None:
    typer.echo(document(value), nl=False)


def deliver(
    name: str, content: Any, as_json: bool, out: Path | None, picture: "Callable[[], Figure | None] | None" = None
) -> None:
    """A document: on standard output if it is asked for, and to a folder with its picture if one is named."""
    if out is not None:
        check_writable(out, *(f"{name}{ending}" for ending in (".json", ".pdf", ".png")))
        (out / f"{name}.json").write_text(document(content))
        figure = picture() if picture else None
        if figure is not None:
            from ..figures import save

            typer.echo(save(figure, out / name)[0], err=True)
    if as_json:
        print_json(content)


def print_summary(summary: list[dict[str, Any]]) -> None:
    rows = [
        [
            *(shown(row[name]) for name in row if name not in ("learned", "runs", "t10", "median", "interval")),
            f"{row['learned']} of {row['runs']}",
            shown(row["t10"]),
            shown(row["median"]),
            f"{shown(row['interval'][0])} to {shown(row['interval'][1])}",
        ]
        for row in summary
    ]
    names = [name for name in summary[0] if name not in ("learned", "runs", "t10", "median", "interval")]
    table(rows, [*names, "learned", "10th percentile", "median time", "95% interval of the median"])


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


@contextmanager
def progress_bar(quiet: bool) -> Iterator["Callable[[Status], None] | None"]:
    """A bar on standard error while a person watches; the estimate is the longest it can take."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with bar("{task.fields[learned]} learned", "{task.fields[left]}") as (progress, task):

        def watch(status: "Status") -> None:
            left = f"at most {duration(status.seconds_left)} left"
            progress.update(task, completed=status.finished, total=status.runs, learned=status.learned, left=left)

        yield watch


@contextmanager
def sweep_bar(quiet: bool, words: Callable[[], str] = lambda: "") -> Iterator["Callable[[Progress], None] | None"]:
    """A bar on standard error for a sweep; its estimate supposes that things go on as they went so far.

    `words` says what is to be added to the estimate.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with bar("{task.fields[left]}") as (progress, task):

        def watch(status: "Progress") -> None:
            known = status.seconds_left == status.seconds_left
            left = f"about {duration(status.seconds_left)} left" if known else "starting workers, compiling"
            failed = f", {status.failed} jobs failed" if status.failed else ""
            progress.update(task, completed=status.runs_done, total=status.runs, left=left + words() + failed)

        yield watch


@contextmanager
def bar(*texts: str) -> Iterator[tuple[Any, Any]]:
    """A bar of runs with further texts."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), *map(TextColumn, texts))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield progress, progress.add_task("runs", total=None, learned=0, left="compiling")


def duration(seconds: int | float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
