"""The application, and what all commands share. No JAX until a command needs it."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_current_context  # type: ignore[attr-defined]

from .. import __version__
from ..demands import echo
from ..documents import DocumentCannotBeWritten

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130
LONGEST_NAME, LONGEST_PATH = 255, 3800
"""Bytes of names: what Linux and macOS allow, less the room that files in a folder need."""

app = typer.Typer(
    name="paritylab",
    help="What can gradient descent learn on the Boolean cube, and what can it not?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]


@contextmanager
def exit_2_on_bad_input() -> Iterator[None]:
    """A `ValueError` of the package is about what the user typed: its sentence, and exit code 2."""
    try:
        yield
    except ValueError as error:
        typer.echo(f"paritylab: {error}", err=True)
        raise typer.Exit(WRONG_INPUT) from None


def code_of_writing(write: Callable[[], Any], *, quiet: bool = False) -> int:
    """Writes documents, and gives 0, or says why that cannot be, and gives 1: what was found can still be printed.

    With `quiet`, why is known already.
    """
    try:
        write()
    except DocumentCannotBeWritten as error:
        if not quiet:
            typer.echo(f"paritylab: {error}", err=True)
        return FAILED
    return 0


def give_up_output(error: OSError) -> NoReturn:
    """Says so, and ends with 1, if the error is that standard output takes in no more; another error goes on."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    if frame.f_code is not typer.echo.__code__:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again at its end
    typer.echo(f"paritylab: Standard output cannot be written ({error.strerror}). Make room there.", err=True)
    sys.exit(FAILED)


def folder(name: str | Path) -> Path:
    """A folder as it is named on the command line, which is there or could be made."""
    text = str(name)
    with exit_2_on_bad_input():
        if not text:
            raise ValueError("The name of a folder is empty. Write . for the current one.")
        if not text.isprintable() or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError(f"The name of a folder is printable text in UTF-8, got {text!a:.80}. Choose another one.")
        if len(os.fsencode(text)) > LONGEST_PATH or max(map(len, os.fsencode(text).split(b"/"))) > LONGEST_NAME:
            raise ValueError(
                f"The name of a folder has at most {LONGEST_NAME} bytes between slashes and {LONGEST_PATH} in all, got "
                f"{text:.40}... Choose a shorter one."
            )
    return Path(text)


OutFolder = Annotated[
    Path | None, typer.Option("--out", help="Folder for the numbers as JSON, and a picture.", parser=folder)
]


def refuse_unused(why: str, *names: str) -> None:
    """An option that stands on the command line and would change nothing is a misunderstanding: it is said."""
    context = get_current_context()
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"--{name.replace('_', '-')} has no effect {why}. Leave it out.")


def numbers(text: str, name: str) -> list[float]:
    """A list as it is written on the command line: `1,0.1`."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} takes numbers with commas between them, such as 1,0.1, got {echo(text)}.") from None


def whole_numbers(text: str, name: str) -> list[int]:
    """A list of whole numbers: `3,14,15`."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{name} takes whole numbers with commas between them, such as 3,14,15, got {echo(text)}."
        ) from None


def version(show: bool) -> bool:
    if show:
        typer.echo(__version__)
        raise typer.Exit
    return show


@app.callback()
def top(
    show: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def check_writable(folder: Path, *files: str, option: str = "--out") -> None:
    """Makes the folder, or says why that cannot be, or which of the files that will be written there cannot be."""
    place = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".paritylab-probe"
        probe.touch()
        probe.unlink()
        for place in (folder / name for name in files):
            if place.exists():
                place.open("r+b").close()  # changes nothing; a folder of that name is an error
    except OSError as error:
        reason = error.strerror or str(error)
        what = str(folder) if place == folder else f"{folder}: {place.name}"
        raise ValueError(f"{option} {what} cannot be written ({reason}). Choose another folder.") from None
