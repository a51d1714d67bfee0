"""The command line: parses, calls, prints. No science inside, and no JAX until a command needs it."""

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__
from .registry import INITIALIZATIONS, LOSSES, NETWORKS, TARGETS

if TYPE_CHECKING:
    from .training.crew import Status
    from .training.runs import Runs

WRONG_INPUT, INTERRUPTED = 2, 130

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


def printable(value: Any) -> Any:
    """JSON knows neither NaN nor infinity: both are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: printable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [printable(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def print_json(document: Any) -> None:
    typer.echo(json.dumps(printable(document), indent=1, allow_nan=False))


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


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(help="networks or targets")] = "networks", as_json: AsJson = False
) -> None:
    """What there is: networks (with the settings of hidden-progress that they are) and targets."""
    with kind_to_wrong_input():
        if what not in ("networks", "targets"):
            raise ValueError(f"There is nothing to list under {what!r}; say 'networks' or 'targets'.")
    if what == "networks":
        rows = [{"name": name, "what": entry.what, "settings": entry.settings} for name, entry in NETWORKS.items()]
    else:
        rows = [{"name": name, "what": text} for name, text in TARGETS.items()]
    if as_json:
        print_json(rows)
    else:
        table([[str(cell) for cell in row.values()] for row in rows], list(rows[0]))


@app.command()
def train(
    target: Annotated[str, typer.Option(help=f"What to learn: {', '.join(TARGETS)}.")] = "parity",
    n: Annotated[int, typer.Option(help="Number of coordinates.")] = 30,
    k: Annotated[int | None, typer.Option(help="Degree of the parity, activation or PolyNet; 3 if not given.")] = None,
    support: Annotated[str | None, typer.Option(help="Coordinates of the parity, such as 3,14,15.")] = None,
    network: Annotated[str, typer.Option(help="Name of the network; see 'paritylab list networks'.")] = "relu-mlp",
    width: Annotated[
        str | None, typer.Option(help="Width, or widths of the layers; a Transformer's embedding.")
    ] = None,
    init: Annotated[str, typer.Option(help=f"Initialization: {', '.join(INITIALIZATIONS)}.")] = "default",
    batch: Annotated[int, typer.Option(help="Batch size.")] = 32,
    rate: Annotated[str, typer.Option(help="Learning rate, or several to try: 1,0.1.")] = "0.1",
    loss: Annotated[str, typer.Option(help=f"Loss: {', '.join(LOSSES)}.")] = "hinge",
    optimizer: Annotated[str, typer.Option(help="Any optimizer of optax by name: sgd, adam, ...")] = "sgd",
    decay: Annotated[float, typer.Option(help="Weight decay, decoupled.")] = 0.0,
    noise: Annotated[float, typer.Option(help="Probability of a flipped label in training.")] = 0.0,
    sample: Annotated[int | None, typer.Option(help="Train on a finite sample of this size.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds: 0, 1, 2, ...")] = 25,
    steps: Annotated[int, typer.Option(help="Steps after which a run ends.")] = 100_000,
    every: Annotated[int, typer.Option(help="Steps between looks at the validation batch.")] = 10,
    validation: Annotated[int, typer.Option(help="Points of the validation batch.")] = 8192,
    float64: Annotated[bool, typer.Option("--float64", help="Train in double precision.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the result (train.json, runs.csv).")] = None,
    as_json: AsJson = False,
) -> None:
    """Train many networks at once and say when each of them learned."""
    configuration = {name: value for name, value in locals().items() if name not in ("as_json", "out")}
    with kind_to_wrong_input():
        configuration["rate"] = numbers(rate, "--rate")
        configuration["support"] = None if support is None else whole_numbers(support, "--support")
        configuration["width"] = None if width is None else whole_numbers(width, "--width")
        from .names import plan_from_names

        plan, configuration["k"] = plan_from_names(configuration)
        plan.ensemble  # noqa: B018 (what does not fit into memory is said here)
        if out is not None:
            check_writable(out)
    with progress_bar(as_json) as watch:
        runs = dataclasses.replace(plan, watch=watch).run()
    document = report(configuration, runs)
    if out is not None:
        (out / "train.json").write_text(json.dumps(printable(document), indent=1, allow_nan=False) + "\n")
        runs.table().to_csv(out / "runs.csv", index=False)
    if as_json:
        print_json(document)
    else:
        print_summary(document["summary"])
        if runs.interrupted:
            typer.echo("Interrupted: the table counts what was finished.", err=True)
    if runs.interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command()
def bench(
    cases: Annotated[str | None, typer.Option(help="Numbers of the cases to run, 1 to 6: 1,2.")] = None,
    rounds: Annotated[int, typer.Option(help="Interleaved rounds; the median counts.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Measure the engine against a PyTorch loop, PyTorch vmap and plain JAX, on the same work."""
    with kind_to_wrong_input():
        from .bench.throughput import CASES, machine, measure

        chosen = range(1, len(CASES) + 1) if cases is None else whole_numbers(cases, "--cases")
        if rounds < 1 or not all(1 <= case <= len(CASES) for case in chosen):
            raise ValueError(f"There are cases 1 to {len(CASES)} and at least one round, got {cases} and {rounds}.")
        rows = measure([CASES[case - 1] for case in chosen], rounds, lambda text: typer.echo(text, err=True))
    if as_json:
        print_json({"machine": machine(), "rows": rows})
        return
    for name, value in machine().items():
        typer.echo(f"{name}: {value}")
    columns = list(rows[0])
    table([[shown(row[column]) for column in columns] for row in rows], columns)


def check_writable(folder: Path) -> None:
    """Makes the folder, or says why that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".paritylab-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(f"--out {folder} cannot be written ({reason}). Choose another folder.") from None


def report(configuration: dict[str, Any], runs: "Runs") -> dict[str, Any]:
    """The JSON document of `train`."""
    from .manifest import manifest
    from .training.outcomes import Outcome

    rows = [
        {
            "seed": seed,
            "rate": rate,
            "outcome": Outcome(outcome).word,
            "converged_at": step if outcome == Outcome.LEARNED else None,
            "error": error,
        }
        for seed, rate, outcome, step, error in zip(
            *(runs.columns[name].tolist() for name in ("seed", "rate")),
            *(values.tolist() for values in (runs.outcome, runs.steps, runs.error)),
            strict=True,
        )
        if outcome != Outcome.RUNNING
    ]
    return {
        "configuration": {**configuration, "lanes": runs.lanes, **manifest()},
        "runs": rows,
        "summary": runs.summary(),
        **({"interrupted": True} if runs.interrupted else {}),
    }


def print_summary(summary: list[dict[str, Any]]) -> None:
    rows = [
        [
            *(shown(row[name]) for name in row if name not in ("learned", "runs", "t10", "median", "interval")),
            f"{row['learned']} of {row['runs']}",
            shown(row["t10"]),
            shown(row["median"]),
            f"{shown(row['interval'][0])} to {shown(row['interval'][1])}",
        ]
        for row in summary
    ]
    names = [name for name in summary[0] if name not in ("learned", "runs", "t10", "median", "interval")]
    table(rows, [*names, "learned", "10th percentile", "median time", "95% interval of the median"])


def shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows: list[list[str]], names: list[str]) -> None:
    """Columns with two spaces in between; numbers would rather stand right, words left."""
    widths = [max(len(row[i]) for row in [names, *rows]) for i in range(len(names))]
    right = [all(cell[:1].isdigit() or cell == "-" for cell in (row[i] for row in rows)) for i in range(len(names))]
    for row in [names, ["-" * width for width in widths], *rows]:
        cells = [
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(row, widths, right, strict=True)
        ]
        typer.echo("  ".join(cells).rstrip())


@contextmanager
def progress_bar(quiet: bool) -> Iterator["Callable[[Status], None] | None"]:
    """A bar on standard error while a person watches; the estimate is the longest it can take."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[learned]} learned"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=None, learned=0, left="compiling")

        def watch(status: "Status") -> None:
            left = f"at most {duration(status.seconds_left)} left"
            bar.update(task, completed=status.finished, total=status.runs, learned=status.learned, left=left)

        yield watch


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def main() -> None:
    app()
