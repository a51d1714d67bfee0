"""From an experiment to a folder: its runs, figures, data and verdicts."""

import inspect
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure

from ..documents import document, make_folder, write_whole
from ..figures import save, seen
from ..interruptions import hears_once
from ..progress import SweepStatus
from ..registry import EXPERIMENTS
from ..style import use
from ..sweep.executors import given_or_local
from ..sweep.schedule import Job, Scheduler
from ..sweep.shards import parquet
from ..sweep.store import Store
from ..sweep.sweep import Results, Sweep
from .accounts import ABOUT, LEDGER, Account, found_in
from .base import Claim, Measured, Scale, judge, load, measured, read, value_without
from .verdicts import recorded

ORIGIN = ("version", "commit", "device", "python", "jax", "matmul_precision")
JOB = ("what", "runs", "started", "training_seconds", "seconds", "flags")
"""What is kept of the manifest of each job."""


def reproduce(
    name: str,
    scale: Scale = "quick",
    out: Path | str = "out",
    store: Store | None = None,
    *,
    executor: Executor | None = None,
    watch: Callable[[SweepStatus], None] | None = None,
) -> dict[str, Any]:
    """Run one experiment, judge its claims, and write figures, table and verdicts to a folder of its own.

    `out` holds the store too, unless one is given. Returns the account: claims with verdicts, figures, where it ran.
    """
    out = Path(out)
    store = Store.create(out / "store") if store is None else store
    with hears_once(), given_or_local(executor) as hands:
        ((_, results, jobs),) = do_runs([name], scale, store, executor=hands, watch=watch)
    if results.missing:
        raise IncompleteError(name, results)
    return write_up(name, scale, out, results, jobs)


def do_runs(
    names: Iterable[str],
    scale: Scale,
    store: Store,
    *,
    executor: Executor,
    planned: Mapping[str, Sweep] | None = None,
    watch: Callable[[SweepStatus], None] | None = None,
) -> Generator[tuple[str, Results, list[dict[str, Any]]], None, None]:
    """The runs of each experiment and the manifests of the jobs behind them, as soon as they are there.

    A worker for whom one experiment has no more to do begins with the next, which is planned then unless it is among
    those `planned`. If it cannot be planned, because data are missing, say, those before it are finished first.
    """
    under_way: dict[str, tuple[Sweep, list[Job]]] = {}
    wrong: list[ValueError] = []

    def lots() -> Iterator[list[Job]]:
        for name in names:
            try:
                sweep = planned[name] if planned and name in planned else sweep_of(name, scale)
                jobs = sweep.jobs(getattr(executor, "platform", None))
            except ValueError as error:
                wrong.append(error)
                return
            under_way[name] = sweep, jobs
            yield jobs

    scheduler = Scheduler(lots(), store, executor, watch=watch)
    with closing(scheduler.rounds()) as rounds:
        for _ in rounds:
            for name in [name for name, (_, jobs) in under_way.items() if scheduler.through(jobs)]:
                sweep, jobs = under_way.pop(name)
                own = {job.name for job in jobs}
                results = sweep.results(store, [failure for failure in scheduler.failed if failure.job in own])
                yield name, results, jobs_of(results, store)
    if wrong:
        raise wrong[0]


def sweep_of(name: str, scale: Scale) -> Sweep:
    """All that an experiment wants to be done."""
    experiment = load(name)
    return Sweep(experiment.plan(experiment.SETTINGS[scale]))


def write_up(name: str, scale: Scale, out: Path, results: Results, jobs: list[dict[str, Any]]) -> Account:
    """Judges the runs of an experiment, draws them, and writes it all to a folder; also returns what it wrote."""
    about, figures = account_of(name, scale, results, jobs)
    write_account(about, figures, results, out)
    return about


DATA = ("runs.csv", "runs.parquet")
MOST_ROWS_OF_CSV = 300_000
"""Two million rows are a file of 630 MB as CSV, a minute's work that nobody opens, and one of 37 MB as Parquet."""


def account_of(
    name: str, scale: Scale, results: Results, jobs: list[dict[str, Any]]
) -> tuple[Account, dict[str, Figure]]:
    """What became of an experiment's claims, and its figures by name.

    It asks no store, which may be growing meanwhile in another thread.
    """
    experiment = load(name)
    settings = experiment.SETTINGS[scale]
    seconds = sum(job["seconds"] for job in jobs)
    data = read(experiment, settings, results)
    claims = [
        row_of(name, claim, ours, value_without(claim.null, data), scale, seconds)
        for claim, ours in measured(experiment, settings, data).items()
    ]
    with use():
        figures = experiment.plot(settings, data)
    about = {
        "experiment": name,
        "title": EXPERIMENTS[name].title,
        "scale": scale,
        "seconds": seconds,
        "runs": len(results.arrow),
        "steps": steps_of(results),
        "text": inspect.cleandoc(experiment.__doc__ or ""),
        "settings": plainly(settings),
        "command": f"paritylab reproduce {name} --scale {scale}",
        "claims": claims,
        "figures": [f"{figure}.png" for figure in figures],
        "seen": {f"{name}.png": seen(figure) for name, figure in figures.items()},
        "data": [*DATA] if len(results.arrow) <= MOST_ROWS_OF_CSV else [DATA[-1]],
        "origins": origins_of(jobs),
        "jobs": [{name: job.get(name) for name in JOB} for job in jobs],
    }
    return about, figures


def write_account(about: Account, figures: Mapping[str, Figure], results: Results, out: Path) -> None:
    """Writes the figures, the runs, and at the end the account that names them."""
    folder = out / about["scale"] / about["experiment"]
    make_folder(folder)
    for name, figure in figures.items():
        save(figure, folder / name)
    table, rows = DATA
    if table in about["data"]:
        write_whole(folder / table, results.table().to_csv(index=False))  # without curves
    else:
        (folder / table).unlink(missing_ok=True)
    write_whole(folder / rows, parquet(results.arrow))
    write_whole(folder / ABOUT, document(about))


class IncompleteError(RuntimeError):
    """Some runs of an experiment failed, so that nothing can be said of it."""

    def __init__(self, name: str, results: Results):
        last = results.failures[-1].reason if results.failures else "no job of theirs failed"
        super().__init__(f"{results.missing} runs of {name} are missing ({last}); the others are kept.")


def row_of(name: str, claim: Claim, ours: Measured, null: float, scale: Scale, seconds: float) -> dict[str, Any]:
    """A row of the ledger; `null` is what the claim's own measures."""
    return {
        "claim": f"{name}/{claim.name}",
        "statement": claim.statement,
        "paper": claim.paper,
        "theory": claim.theory,
        "region": str(claim.region),
        "measured": ours.value,
        "interval": list(ours.interval),
        "null": words_of(claim, null),
        "verdict": judge(claim.region, ours.interval, null),
        "recorded": recorded(name, claim, scale),
        "explanation": claim.explanation,
        "tested_by": " ".join(claim.tested_by),
        "scale": scale,
        "seconds": seconds,
    }


def words_of(claim: Claim, null: float) -> str:
    """A claim's null and what it measures."""
    if claim.null is None:
        return ""
    return claim.null.name if math.isnan(null) else f"{claim.null.name}: {null:.4g}"


def steps_of(results: Results) -> int:
    """Steps of training, of all runs together."""
    if "steps" not in results.arrow.column_names or not pa.types.is_integer(results.arrow["steps"].type):
        return 0  # calls, which do not train, or whose steps are a setting
    return int(pc.sum(results.arrow["steps"]).as_py() or 0)


def jobs_of(results: Results, store: Store) -> list[dict[str, Any]]:
    """The manifests of the jobs behind the results."""
    manifests = store.manifests()
    return [manifests[job] for job in results.arrow.column("job").unique().to_pylist() if job in manifests]


def origins_of(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The machines and versions that did the jobs, each once."""
    origins = {tuple(job.get(name) for name in ORIGIN): None for job in jobs}
    return [dict(zip(ORIGIN, origin, strict=True)) for origin in origins]


def plainly(settings: Any) -> dict[str, str]:
    """The settings as words."""
    fields = asdict(settings) if is_dataclass(settings) and not isinstance(settings, type) else dict(settings)
    return {name: str(value) for name, value in fields.items()}


def write_ledger(out: Path) -> list[dict[str, Any]]:
    """`claims.json`: the claims of all experiments that the folder holds."""
    ledger = [claim for about in found_in(out) for claim in about["claims"]]
    write_whole(out / LEDGER, document(ledger))
    return ledger
