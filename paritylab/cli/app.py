"""The application, and what all commands share. No JAX until a command needs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__

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

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]


OutFolder = Annotated[Path | None, typer.Option("--out", help="Folder for the numbers as JSON, and a picture.")]


@contextmanager
def kind_to_wrong_input() -> Iterator[None]:
    """A `ValueError` of the package is about what the user typed: its sentence, and exit code 2."""
    try:
        yield
    except ValueError as error:
        typer.echo(f"paritylab: {error}", err=True)
        raise typer.Exit(WRONG_INPUT) from None


def numbers(text: str, name: str) -> list[float]:
    """A list as it is written on the command line: `1,0.1`."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} takes numbers with commas between them, such as 1,0.1, got {text!r}.") from None


def whole_numbers(text: str, name: str) -> list[int]:
    """A list of whole numbers: `3,14,15`."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{name} takes whole numbers with commas between them, such as 3,14,15, got {text!r}."
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
