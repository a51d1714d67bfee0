"""Progress bars, on standard error, where a person watches: in a terminal or a notebook."""

import functools
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

Thing = TypeVar("Thing")

SILENT_SECONDS = 3.0
"""Between two lines of `counted`, and before the first."""


class Status(NamedTuple):
    """How far training is. `seconds_left` supposes that no further run ends before its last step."""

    finished: int
    runs: int
    learned: int
    seconds_left: float


class SweepStatus(NamedTuple):
    """How far a sweep is. `seconds_left` supposes that things go on as they went so far."""

    runs_done: int
    runs: int
    failed: int
    seconds_left: float
    waiting: int = 0
    """Runs that another process has in hand while there is nothing else to do here."""


def watched() -> bool:
    """Whether somebody sees standard error: a terminal, or a notebook that can redraw a line."""
    if sys.stderr.isatty():
        return True
    return "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets") is not None


def counted(things: Sequence[Thing], words: str) -> Iterator[Thing]:
    """The things in their order; now and then a line says how many of them are behind us, as "3 of 9 <words>"."""
    said, told = time.monotonic(), watched()
    for done, thing in enumerate(things):
        if told and time.monotonic() - said >= SILENT_SECONDS:
            said = time.monotonic()
            print(f"paritylab: {done:,} of {len(things):,} {words}", file=sys.stderr, flush=True)
        yield thing


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[Status], None] | None]:
    """A bar for runs that are trained here; the estimate is the longest it can take."""
    with bar(quiet, "{task.fields[learned]} learned", "{task.fields[left]}") as update:

        def watch(status: Status) -> None:
            left = f"at most {duration(status.seconds_left)} left"
            update(completed=status.finished, total=status.runs, learned=status.learned, left=left)

        yield watch if update else None


@contextmanager
def sweep_bar(quiet: bool = False, words: Callable[[], str] = str) -> Iterator[Callable[[SweepStatus], None] | None]:
    """A bar for a sweep; its estimate supposes that things go on as they went so far.

    `words` says what is to be added to the estimate.
    """
    with bar(quiet, "{task.fields[left]}") as update:

        def watch(status: SweepStatus) -> None:
            known = status.seconds_left == status.seconds_left
            left = f"about {duration(status.seconds_left)} left" if known else "starting workers, compiling"
            if status.waiting:
                left = f"waiting for {status.waiting} runs of another process"
            failed = f", {status.failed} jobs failed" if status.failed else ""
            update(completed=status.runs_done, total=status.runs, left=left + words() + failed)

        yield watch if update else None


@contextmanager
def bar(quiet: bool, *texts: str) -> Iterator[Any]:
    """What redraws a bar of runs with further texts; None if it is quiet, or nobody watches."""
    if quiet or not watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn, TimeElapsedColumn

    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), *map(TextColumn, texts))
    with Bar(*columns, console=Console(stderr=True), transient=True) as progress:
        yield functools.partial(progress.update, progress.add_task("runs", total=None, learned=0, left="compiling"))


def duration(seconds: int | float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
