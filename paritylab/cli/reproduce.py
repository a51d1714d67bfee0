"""`paritylab reproduce` and `paritylab report`."""

import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from ..progress import duration, sweep_bar
from .app import FAILED, INTERRUPTED, AsJson, app, check_writable, kind_to_wrong_input
from .printing import print_json, shown, table

SCALES = ("quick", "paper")


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME ...]", help="Experiments or papers; none: the headline set.")
    ] = None,
    scale: Annotated[str, typer.Option(help="quick (a laptop, minutes) or paper (the paper's own size).")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder for figures, data, claims.json, the report and the store.")] = Path(
        "out/reproduce"
    ),
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with MNIST's idx or CIFAR-10's binary files; else PARITYLAB_DATA names it."),
    ] = None,
    executor: Annotated[str | None, typer.Option(help="A Dask cluster: dask://HOST:PORT. This machine if not.")] = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce figures and tables of the papers, judge what they claim, and write a report."""
    with kind_to_wrong_input():
        if scale not in SCALES:
            raise ValueError(f"--scale is quick or paper, got {scale!r}.")
        from ..runtime import leave_devices_to_workers

        leave_devices_to_workers()
        from ..experiments.base import chosen
        from ..sweep.store import Store

        wanted = chosen(names or [])
        if data is not None:
            use_data(data)
        check_writable(out)
        store = Store.create(out / "store", say=lambda text: typer.echo(f"paritylab: {text}", err=True))
    interrupted, trouble = work_off(wanted, scale, out, store, executor, as_json)
    from ..experiments.reproduce import write_ledger
    from ..report.page import write_report

    ledger = [row for row in write_ledger(out) if row["scale"] == scale and named(row, wanted)]
    page = write_report(out)
    news = [row for row in ledger if row["recorded"] not in (None, row["verdict"])]
    if as_json:
        print_json({"claims": ledger, "report": str(page), **({"interrupted": True} if interrupted else {})})
    else:
        print_ledger(ledger)
    for row in news:
        typer.echo(f"paritylab: {row['claim']} was recorded as {row['recorded']!r} and now {row['verdict']}.", err=True)
    if not as_json:
        typer.echo(page)
    raise typer.Exit(INTERRUPTED if interrupted else FAILED if news or trouble else 0)


def use_data(folder: Path) -> None:
    """From here on this process, and those that it starts, find data there; if there is none, that is said now."""
    from ..distributions.data_sets import VARIABLE
    from ..distributions.digits import find_mnist
    from ..distributions.images import find_cifar10

    if find_cifar10(folder) is None:
        find_mnist(folder)
    os.environ[VARIABLE] = str(folder.resolve())


def work_off(
    wanted: list[str], scale: Any, out: Path, store: Any, executor: str | None, quiet: bool
) -> tuple[bool, bool]:
    """Does all experiments; whether it was interrupted, and whether some could not be done.

    One is drawn and judged in a thread while the workers are busy with others.
    """
    import matplotlib

    from ..experiments.reproduce import IncompleteError, do_runs, write_up
    from ..sweep.executors import executor_of
    from ..sweep.schedule import StoreCannotBeWritten

    matplotlib.use("agg")  # windows belong to the main thread, and nothing is shown
    trouble, written = False, list[Future[None]]()

    def write_and_say(name: str, *found: Any) -> None:
        about = write_up(name, scale, out, *found)
        typer.echo(f"{name}: {about['title']} ({duration(about['seconds'])} of work)", err=True)

    def how_far() -> str:
        return f" ({sum(map(Future.done, written))} of {len(wanted)} experiments done, later ones not counted)"

    try:
        with ThreadPoolExecutor(1) as desk, kind_to_wrong_input(), executor_of(executor) as hands:
            with (
                sweep_bar(quiet, how_far) as watch,
                closing(do_runs(wanted, scale, store, executor=hands, watch=watch)) as done,
            ):
                for name, results, jobs in done:
                    if results.missing:
                        typer.echo(f"paritylab: {IncompleteError(name, results)}", err=True)
                        trouble = True
                    else:
                        written.append(desk.submit(write_and_say, name, results, jobs))
                    for each in filter(Future.done, written):
                        each.result()  # what went wrong there is not kept for the end
            for each in written:
                each.result()
    except KeyboardInterrupt:
        return True, trouble
    except StoreCannotBeWritten as error:
        typer.echo(f"paritylab: {error}", err=True)
        return False, True
    return False, trouble


def named(row: dict[str, Any], wanted: list[str]) -> bool:
    return any(row["claim"].startswith(f"{name}/") for name in wanted)


def print_ledger(ledger: list[dict[str, Any]]) -> None:
    rows = [
        [
            row["claim"],
            shown(row["expected"]),
            shown(row["measured"]),
            f"{shown(row['interval'][0])} to {shown(row['interval'][1])}",
            row["region"],
            row["verdict"],
        ]
        for row in ledger
    ]
    if rows:
        table(rows, ["claim", "paper", "ours", "95% interval", "accepted", "verdict"])


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `paritylab reproduce` wrote.")],
    gallery: Annotated[
        Path | None, typer.Option(help="Also keep what it holds at paper scale in this folder, with a page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the report of a folder again: one HTML file that opens from disk."""
    with kind_to_wrong_input():
        from ..experiments.reproduce import found_in
        from ..report.page import write_report

        if not folder.is_dir() or not found_in(folder):
            raise ValueError(f"{folder} holds no experiment. Write one with 'paritylab reproduce --out {folder}'.")
        if gallery is not None:
            from ..report.gallery import write_gallery

            check_writable(gallery, option="--gallery")
            write_gallery(folder, gallery)
    page = write_report(folder)
    if as_json:
        print_json({"report": str(page)})
    else:
        typer.echo(page)
