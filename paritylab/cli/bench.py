"""`paritylab bench`."""

from typing import Annotated

import typer

from .app import app, exit_2_on_bad_input
from .options import AsJson, option, whole_numbers
from .printing import print_json, shown, table


@app.command()
def bench(
    cases: Annotated[str | None, option("Numbers of the cases to run, from 1 on: 1,2.")] = None,
    rounds: Annotated[int, option("Interleaved rounds; the median counts.")] = 5,
    torch: Annotated[
        bool, typer.Option("--torch/--no-torch", help="Measure PyTorch, too, where it is installed.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Measure the engine against a PyTorch loop, PyTorch vmap and plain JAX, on the same work."""
    with exit_2_on_bad_input():
        from ..bench.throughput import CASES, machine, measure

        chosen = range(1, len(CASES) + 1) if cases is None else whole_numbers(cases, "--cases")
        if rounds < 1 or not all(1 <= case <= len(CASES) for case in chosen):
            raise ValueError(f"There are cases 1 to {len(CASES)} and at least one round, got {cases} and {rounds}.")
        rows, interrupted = measure(
            [CASES[case - 1] for case in chosen], rounds, lambda text: typer.echo(text, err=True), torch
        )
    if as_json and rows:
        print_json({"machine": machine(), "rows": rows})
    elif rows:
        for name, value in machine().items():
            typer.echo(f"{name}: {value}")
        columns = list(rows[0])
        table([[shown(row[column]) for column in columns] for row in rows], columns)
    if interrupted:
        raise KeyboardInterrupt
