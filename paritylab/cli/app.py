"""The application, and what all commands share. No JAX until a command needs it."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from .. import __version__
from ..documents import DocumentCannotBeWritten

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="paritylab",
    help="What can gradient descent learn on the Boolean cube, and what can it not?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def say(text: object) -> None:
    """A sentence for people, beside what a command prints."""
    typer.echo(f"paritylab: {text}", err=True)


@contextmanager
def exit_2_on_bad_input() -> Iterator[None]:
    """A `ValueError` of the package is about what the user typed: its sentence, and exit code 2."""
    try:
        yield
    except ValueError as error:
        say(error)
        raise typer.Exit(WRONG_INPUT) from None


def code_of_writing(write: Callable[[], Any], *, quiet: bool = False) -> int:
    """Writes documents, and gives 0, or says why that cannot be, and gives 1: what was found can still be printed.

    With `quiet`, why is known already.
    """
    try:
        write()
    except DocumentCannotBeWritten as error:
        if not quiet:
            say(error)
        return FAILED
    return 0


def give_up_output(error: OSError) -> NoReturn:
    """Says so, and ends with 1, if the error is that standard output takes in no more; another error goes on."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    if frame.f_code is not typer.echo.__code__:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again at its end
    say(f"Standard output cannot be written ({error.strerror}). Make room there.")
    sys.exit(FAILED)


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
