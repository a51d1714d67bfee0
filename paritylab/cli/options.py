"""What commands take: options, and the values that stand behind them."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_current_context  # type: ignore[attr-defined]

from ..demands import numbers as numbers, whole_numbers as whole_numbers
from .app import exit_2_on_bad_input

LONGEST_NAME, LONGEST_PATH = 255, 3800
"""Bytes of names: what Linux and macOS allow, less the room that files in a folder need."""


def option(text: str, *names: str, **more: Any) -> Any:
    """An option of a command, with its help."""
    return typer.Option(*names, help=text, **more)


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


AsJson = Annotated[bool, option("Print one JSON document on standard output.", "--json")]
OutFolder = Annotated[Path | None, option("Folder for the numbers as JSON, and a picture.", "--out", parser=folder)]


def refuse_unused(why: str, *names: str) -> None:
    """An option that stands on the command line and would change nothing is a misunderstanding: it is said."""
    context = get_current_context()
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"--{name.replace('_', '-')} has no effect {why}. Leave it out.")
