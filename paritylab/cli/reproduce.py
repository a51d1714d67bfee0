"""`paritylab reproduce` and `paritylab report`."""

import os
import shlex
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..progress import duration, sweep_bar
from .app import FAILED, INTERRUPTED, app, check_writable, code_of_writing, exit_2_on_bad_input, say
from .options import AsJson, folder, option
from .printing import print_json, shown, table

if TYPE_CHECKING:
    from ..experiments.accounts import Damaged
    from ..sweep.sweep import Sweep

SCALES = ("quick", "paper")


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME ...]", help="Experiments or papers; none: the headline set.")
    ] = None,
    scale: Annotated[str, option("quick (a laptop, minutes) or paper (the paper's own size).")] = "quick",
    out: Annotated[
        Path, option("Folder for figures, data, claims.json, the report and the store.", parser=folder)
    ] = Path("out/reproduce"),
    data: Annotated[
        Path | None,
        option("Folder with MNIST's idx or CIFAR-10's binary files; else PARITYLAB_DATA names it.", parser=folder),
    ] = None,
    executor: Annotated[str | None, option("A Dask cluster: dask://HOST:PORT. This machine if not.")] = None,
    record: Annotated[bool, option("Write the verdicts down as those that are known.", "--record")] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce figures and tables of the papers, judge what they claim, and write a report."""
    with exit_2_on_bad_input():
        if scale not in SCALES:
            raise ValueError(f"--scale is quick or paper, got {scale!r}.")
        from ..runtime import leave_devices_to_workers

        leave_devices_to_workers()
        from ..experiments.accounts import accounts_in
        from ..experiments.base import chosen
        from ..experiments.reproduce import sweep_of, write_ledger
        from ..report.page import REPORT, SUMMARY, cells_of, write_report
        from ..report.sentences import is_news

        wanted = chosen(names or [])
        if data is not None:
            use_data(data)
        at: Any = scale
        first = {wanted[0]: sweep_of(wanted[0], at)}  # data that are missing are said before there is a folder
        say_damaged(accounts_in(out)[1], out, wanted, scale)
    done = work_off(wanted, first, scale, out, executor, as_json)
    code = code_of_writing(lambda: (write_ledger(out), write_report(out)), quiet=done.full)
    accounts = accounts_in(out)[0]
    known = [row for about in accounts for row in about["claims"]]
    mine = tuple(f"{name}/" for name in wanted)
    rows = {row["claim"]: row for row in known if row["scale"] == scale and row["claim"].startswith(mine)}
    ledger = [*(rows | {row["claim"]: row for row in done.claims}).values()]
    news = [*filter(is_news, ledger)]
    if record and not code:
        record_verdicts(out, wanted, scale)
    page = None if code else str(out / REPORT)
    if as_json:
        print_json({"claims": ledger, "report": page, **({"interrupted": True} if done.interrupted else {})})
    elif ledger:
        table([cells_of(row, "claim", shown) for row in ledger], [*SUMMARY])
    for row in news:
        say(f"{row['claim']} was recorded as {row['recorded']!r} and now {row['verdict']}.")
    if not as_json and page:
        say_results([each for each in accounts if each["experiment"] in wanted and each["scale"] == scale], page)
    raise typer.Exit(INTERRUPTED if done.interrupted else FAILED if news or done.trouble else code)


OPENERS = {"darwin": "open", "win32": "start"}
"""What opens a file in a browser, where it is not xdg-open."""


def say_results(accounts: list[dict[str, Any]], page: str) -> None:
    """What came of each experiment in a sentence, where the report is, and how to open it."""
    from ..report.sentences import result

    typer.echo()
    for about in accounts:
        typer.echo(f"{about['experiment']}: {result(about)}")
    typer.echo(f"\n{page}")
    command = shlex.join([OPENERS.get(sys.platform, "xdg-open"), page])
    say(f"open the report in a browser: {command}")


def record_verdicts(out: Path, wanted: list[str], scale: str) -> None:
    """Writes down what the experiments of a folder found."""
    import datetime

    from ..experiments.accounts import found_in
    from ..experiments.status import note
    from ..experiments.verdicts import record

    mine = [about for about in found_in(out) if about["experiment"] in wanted and about["scale"] == scale]
    with exit_2_on_bad_input():
        today = datetime.date.today()
        for path in (*record(mine, today), *note(mine, today)):
            say(f"recorded in {path}")


def say_damaged(damaged: "list[Damaged]", out: Path, wanted: list[str], scale: str) -> None:
    """Names files of a folder that are damaged, and says what becomes of them."""
    for each in damaged:
        made_at, *name = each.path.relative_to(out).parent.parts or (scale,)
        if made_at == scale and (not name or "/".join(name) in wanted):
            fate = "it is made again"
        else:
            again = f"paritylab reproduce {'/'.join(name)} --scale {made_at}"
            fate = f"it is left out of the report; make it again with '{again}'"
        say(f"{each}: {fate}.")


def use_data(folder: Path) -> None:
    """From here on this process, and those that it starts, find data there; if there is none, that is said now."""
    from ..distributions.data_sets import VARIABLE
    from ..distributions.digits import find_mnist
    from ..distributions.images import find_cifar10

    if find_cifar10(folder) is None:
        find_mnist(folder)
    os.environ[VARIABLE] = str(folder.resolve())


class Done(NamedTuple):
    """What came of the experiments of a command."""

    claims: list[dict[str, Any]]
    """Of those that were judged, whether or not they could be written down."""
    interrupted: bool = False
    trouble: bool = False
    """Whether some could not be done."""
    full: bool = False
    """Whether the disk takes in no more, which was said."""


def work_off(
    wanted: list[str], planned: "Mapping[str, Sweep]", scale: Any, out: Path, executor: str | None, quiet: bool
) -> Done:
    """Does all experiments. One is drawn and judged in a thread while the workers are busy with others."""
    import matplotlib

    from ..documents import DocumentCannotBeWritten, plain
    from ..experiments.reproduce import IncompleteError, account_of, do_runs, write_account
    from ..sweep.executors import WorkStopped, executor_of
    from ..sweep.store import Store

    matplotlib.use("agg")  # windows belong to the main thread, and nothing is shown
    trouble, claims, written = False, list[dict[str, Any]](), list[Future[None]]()

    def write_and_say(name: str, results: Any, jobs: list[dict[str, Any]]) -> None:
        try:
            about, figures = account_of(name, scale, results, jobs)
        except ValueError as error:  # our mistake, and nothing that was typed
            raise RuntimeError(f"The runs of {name} are there, but cannot be judged or drawn: {error}") from error
        claims.extend(plain(about["claims"]))
        write_account(about, figures, results, out)
        typer.echo(f"{name}: {about['title']} ({duration(about['seconds'])} of work)", err=True)

    def how_far() -> str:
        return f" ({sum(map(Future.done, written))} of {len(wanted)} experiments done, later ones not counted)"

    try:
        with ThreadPoolExecutor(1) as desk, exit_2_on_bad_input(), executor_of(executor) as hands:
            check_writable(out)
            store = Store.create(out / "store", say=say)
            with (
                sweep_bar(quiet, how_far) as watch,
                closing(do_runs(wanted, scale, store, executor=hands, planned=planned, watch=watch)) as done,
            ):
                for name, results, jobs in done:
                    if results.missing:
                        say(IncompleteError(name, results))
                        trouble = True
                    else:
                        written.append(desk.submit(write_and_say, name, results, jobs))
                    for each in filter(Future.done, written):
                        if isinstance(each.exception(), DocumentCannotBeWritten):
                            each.result()  # no other can be written either
            for each in written:
                each.result()
    except KeyboardInterrupt:
        return Done(claims, interrupted=True, trouble=trouble)
    except (WorkStopped, DocumentCannotBeWritten) as error:
        say(error)
        return Done(claims, trouble=True, full=True)
    return Done(claims, trouble=trouble)


@app.command()
def report(
    out: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder that `paritylab reproduce` wrote.", parser=folder)
    ],
    gallery: Annotated[
        Path | None,
        option("Also keep what it holds at paper scale in this folder, with a page.", parser=folder),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the report of a folder again: one HTML file that opens from disk. Nothing outside of it is read."""
    with exit_2_on_bad_input():
        from ..experiments.accounts import accounts_in
        from ..report.page import REPORT, write_report

        found, damaged = accounts_in(out)
        if not found and not damaged:
            raise ValueError(f"{out} holds no experiment. Write one with 'paritylab reproduce --out {out}'.")
        for each in damaged:
            say(f"{each} and left out. Make it again with 'paritylab reproduce'.")
        code = 0
        if gallery is not None:
            from ..report.gallery import write_gallery

            check_writable(gallery, option="--gallery")
            code = code_of_writing(lambda: write_gallery(out, gallery))
        code = code or (code_of_writing(lambda: write_report(out)) if found else FAILED)
    page = None if code else str(out / REPORT)
    if as_json:
        print_json({"report": page, **({"left_out": [str(each.path) for each in damaged]} if damaged else {})})
    elif page:
        say_results(found, page)
    raise typer.Exit(FAILED if damaged else code)
