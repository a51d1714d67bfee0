"""`paritylab sweep`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..progress import duration, sweep_bar
from .app import FAILED, INTERRUPTED, app, code_of_writing, exit_2_on_bad_input, say
from .options import AsJson, folder, option
from .printing import print_json, print_summary, table

if TYPE_CHECKING:
    from ..sweep.files import SweepFile
    from ..sweep.store import Store
    from ..sweep.sweep import Results, Sweep


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="The sweep: a TOML file.")],
    store: Annotated[Path, option("Folder that keeps the results; what is there is not done again.", parser=folder)],
    executor: Annotated[
        str | None, option("A Dask cluster: dask://HOST:PORT or tls://HOST:PORT. This machine if not.")
    ] = None,
    workers: Annotated[
        int | None, option("Worker processes here; if not given one per core, or up to six per GPU.")
    ] = None,
    attempts: Annotated[int, option("How often a job that fails is tried.")] = 3,
    job_timeout: Annotated[
        float | None, option("Seconds that a job may take; one that takes longer fails. No limit if not.")
    ] = None,
    module: Annotated[
        list[str] | None,
        option("A module outside of this folder whose functions the file may name as its job."),
    ] = None,
    dry_run: Annotated[
        bool, option("Say what would be done; do nothing, and import no code of yours.", "--dry-run")
    ] = False,
    compact: Annotated[bool, option("At the end, merge the store's files into one.", "--compact")] = False,
    as_json: AsJson = False,
) -> None:
    """Do all runs of a sweep that are not in the store yet. Run it again to resume, or to see how far it is."""
    with exit_2_on_bad_input():
        if attempts < 1:
            raise ValueError(f"--attempts is at least 1, got {attempts}.")
        from ..runtime import cores, leave_devices_to_workers

        cores()  # a wrong PARITYLAB_CORES is said here, before there is a store
        leave_devices_to_workers()
        from ..sweep.files import read, sweep_of
        from ..sweep.schedule import check_limits

        check_limits(attempts, job_timeout)
        said = read(file, module or ())
        if dry_run:
            print_plan(plan_of_calls(said) if said.function else plan_of(said, sweep_of(said), store), as_json)
            return
        made = sweep_of(said)
    options = {"runs_per_job": said.runs_per_job, "attempts": attempts, "job_timeout": job_timeout, "check": False}
    place, document, code = work_off(said, made, store, executor, workers, options, as_json)
    if compact and not code:
        code = code_of_writing(lambda: document.update(files=[str(path) for path in place.compact()]))
    if as_json:
        print_json(document)
    else:
        print_outcome(document)
    raise typer.Exit(code)


def work_off(
    said: "SweepFile",
    made: "Sweep",
    folder: Path,
    executor: str | None,
    workers: int | None,
    options: dict[str, Any],
    quiet: bool,
) -> tuple["Store", dict[str, Any], int]:
    """Does what is missing; the store, what there is to print, and the exit code."""
    from ..sweep.executors import WorkStopped, executor_of
    from ..sweep.store import Store

    store = None
    try:
        with exit_2_on_bad_input(), sweep_bar(quiet) as watch, executor_of(executor, workers) as hands:
            # Only now: what is wrong with the executor leaves no store behind.
            store = Store.create(folder, say=say)
            results = made.run(store, executor=hands, watch=watch or False, **options)
    except KeyboardInterrupt:
        if store is None:
            raise
        return store, {**outcome_of(said, made, made.results(store)), "interrupted": True}, INTERRUPTED
    except WorkStopped as error:
        assert store is not None
        say(error)
        return store, outcome_of(said, made, made.results(store)), FAILED
    for failure in results.failures:
        where = store.folder / "failures" / f"{failure.job}.json"
        say(f"A job of {failure.runs} runs failed {failure.attempts} times: {failure.reason} ({where})")
    return store, outcome_of(said, made, results), FAILED if results.missing else 0


def outcome_of(said: "SweepFile", made: "Sweep", results: "Results") -> dict[str, Any]:
    """What is there now."""
    from ..training.summaries import summarize

    rows = results.table()
    columns = {name: "limit" if name == "steps" else name for name in (*said.points[0], "rate")}
    names = dict.fromkeys(each for each in columns.values() if each in rows and rows[each].nunique(dropna=False) > 1)
    return {
        "runs": len(made),
        "done": len(made) - results.missing,
        "failed": [failure._asdict() for failure in results.failures],
        "summary": summarize(rows, [*names]) if said.job == "train" else [],
    }


def plan_of(said: "SweepFile", made: "Sweep", store: Path) -> dict[str, Any]:
    """What a run would do, without touching the store."""
    from ..sweep.executors import places
    from ..sweep.store import Store

    at = places()
    platform, kept = at[0].platform, Store(store) if (store / "store.json").exists() else None
    jobs = made.jobs(platform, said.runs_per_job)
    shapes: list[dict[str, Any]] = []
    for work in made.works:
        missing = len(work) if kept is None else len(work.missing(kept))
        own = [job for job in jobs if job.work is work]
        at_most = work.seconds(platform) * missing / len(work)
        needed = math.ceil(len(own) * missing / len(work))
        # Each worker compiles a shape when it is first given a job of it.
        compiling = work.compile_seconds(platform) * min(needed, len(at))
        shape = {"shape": work.what, "runs": len(work), "missing": missing, "jobs": len(own)}
        shapes.append({**shape, "seconds": at_most, "compile_seconds": compiling})
    first = sum(shape["compile_seconds"] for shape in shapes) / len(at)
    total = sum(shape["seconds"] for shape in shapes) / len(set(at)) + first
    runs, missing = len(made), sum(shape["missing"] for shape in shapes)
    about = {"runs": runs, "missing": missing, "jobs": len(jobs), "workers": len(at)}
    return {**about, "seconds": total, "compile_seconds": first, "shapes": shapes}


def plan_of_calls(said: "SweepFile") -> dict[str, Any]:
    """What is known of calls of a function whose code is not imported."""
    from ..sweep.executors import places

    assert said.function is not None
    runs, jobs = len(said.points), math.ceil(len(said.points) / (said.runs_per_job or 1))
    unchecked = ["which runs are in the store, since their names depend on the code"]
    if said.function.parameters is None:
        unchecked.append(f"whether {said.job} takes these arguments, since its source does not tell")
    shape = {"shape": f"call {said.job}", "runs": runs, "missing": None, "jobs": jobs, "seconds": math.nan}
    at = {"workers": len(places()), "seconds": math.nan}
    return {"runs": runs, "missing": None, "jobs": jobs, **at, "shapes": [shape], "unchecked": unchecked}


def print_plan(plan: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(plan)
        return
    if "unchecked" in plan:
        typer.echo(f"{plan['runs']} runs of {plan['shapes'][0]['shape']}, in {plan['jobs']} jobs.")
        typer.echo(f"A dry run imports no code of yours and has not checked {', nor '.join(plan['unchecked'])}.")
        return
    rows = [
        [each["shape"], str(each["runs"]), str(each["missing"]), str(each["jobs"]), estimate(each["seconds"])]
        for each in plan["shapes"]
    ]
    table(rows, ["compiled shape", "runs", "missing", "jobs", "at most, on one worker"])
    typer.echo(
        f"{plan['runs']} runs, {plan['missing']} of them missing, in {plan['jobs']} jobs and {len(rows)} shapes; "
        f"{plan['workers']} workers need {estimate(plan['seconds'])} if no run ends before its last step, "
        f"{estimate(plan['compile_seconds'])} of it for compiling what was not compiled before."
    )


def estimate(seconds: float) -> str:
    return "an unknown time" if seconds != seconds else f"about {duration(max(1.0, seconds))}"


def print_outcome(document: dict[str, Any]) -> None:
    if document["summary"]:
        print_summary(document["summary"])
    typer.echo(f"{document['done']} of {document['runs']} runs are in the store.")
    for path in document.get("files", ()):
        typer.echo(path)
    if document.get("interrupted"):
        typer.echo("Interrupted: what was finished is kept; run the same command again to go on.", err=True)
