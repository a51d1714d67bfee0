"""`paritylab store`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import FAILED, app, exit_2_on_bad_input, say
from .options import AsJson
from .printing import print_json

store = typer.Typer(no_args_is_help=True, help="Look after a folder of finished runs.")
app.add_typer(store, name="store")


@store.command()
def check(
    folder: Annotated[Path, typer.Argument(help="A folder that `paritylab sweep` or `paritylab reproduce` wrote.")],
    as_json: AsJson = False,
) -> None:
    """Read every byte of a store: are all files as they were written, and is every run there once? Changes nothing."""
    with exit_2_on_bad_input():
        from ..sweep.check import check_store

        found = check_store(folder)
    if as_json:
        print_json(found)
    else:
        for each in found["findings"]:
            typer.echo(f"{each['file']}: {each['finding']}")
        typer.echo(in_words(found))
    raise typer.Exit(FAILED if found["findings"] else 0)


def in_words(found: dict[str, Any]) -> str:
    """What a store holds, in a line."""
    parts = [f"{found['runs']} runs in {found['files']} files, {len(found['findings'])} findings"]
    if found["without_hash"]:
        parts.append(f"{found['without_hash']} files have no hash yet ('paritylab store compact' gives them one)")
    if found["mixed"]:
        parts.append(f"{len(found['mixed'])} columns have texts in some files and numbers or lists in others")
    parts += [f"{found[name]} in {name}" for name in ("aside", "failures", "unfinished") if found[name]]
    return "; ".join(parts) + "."


@store.command()
def compact(
    folder: Annotated[Path, typer.Argument(help="A folder that `paritylab sweep` or `paritylab reproduce` wrote.")],
) -> None:
    """Merge all files of a store into one Parquet file that can be carried elsewhere, and print its path.

    There are several if a column has texts in some files and numbers in others.
    """
    with exit_2_on_bad_input():
        from ..sweep.store import Store

        place = Store(folder, say=say)
    for path in place.compact():
        typer.echo(path)
