"""`paritylab train`."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..documents import document, write_whole
from ..progress import progress_bar
from ..registry import INITIALIZATIONS, LOSSES, TARGETS
from .app import INTERRUPTED, app, check_writable, code_of_writing, exit_2_on_bad_input
from .options import AsJson, folder, numbers, option, whole_numbers
from .printing import print_json, print_summary

if TYPE_CHECKING:
    from ..training.runs import Runs


A_ROW = 2000
"""Bytes of one run in the document of a command, as Python's objects and as text."""


@app.command()
def train(
    target: Annotated[str, option(f"What to learn: {', '.join(TARGETS)}.")] = "parity",
    n: Annotated[int, option("Number of coordinates.")] = 30,
    k: Annotated[int | None, option("Degree of the parity, activation or PolyNet; 3 if not given.")] = None,
    support: Annotated[str | None, option("Coordinates of the parity, such as 3,14,15.")] = None,
    inputs: Annotated[
        str, option("Distribution of the inputs, or a mixture such as '0.5 uniform + 0.5 product(0.2)': 'list inputs'.")
    ] = "uniform",
    mean: Annotated[float, option("Mean of every coordinate: 0 is the uniform distribution.")] = 0.0,
    share: Annotated[float, option("Fraction of the examples with that mean; the others are uniform.")] = 1.0,
    encoding: Annotated[str, option("How inputs are written: signs, unit (signs / sqrt(n)), or bits.")] = "signs",
    network: Annotated[str, option("Name of the network; see 'paritylab list networks'.")] = "relu-mlp",
    width: Annotated[str | None, option("Width, or widths of the layers; a Transformer's embedding.")] = None,
    init: Annotated[str, option(f"Initialization: {', '.join(INITIALIZATIONS)}.")] = "default",
    batch: Annotated[int, option("Batch size.")] = 32,
    rate: Annotated[str, option("Learning rate, or several to try: 1,0.1.")] = "0.1",
    loss: Annotated[str, option(f"Loss: {', '.join(LOSSES)}.")] = "hinge",
    optimizer: Annotated[str, option("Any optimizer of optax by name: sgd, adam, ...")] = "sgd",
    decay: Annotated[float, option("Weight decay, decoupled.")] = 0.0,
    noise: Annotated[float, option("Probability of a flipped label in training.")] = 0.0,
    sample: Annotated[int | None, option("Train on a finite sample of this size.")] = None,
    seeds: Annotated[int, option("Number of seeds: 0, 1, 2, ...")] = 25,
    steps: Annotated[int, option("Steps after which a run ends.")] = 100_000,
    every: Annotated[int, option("Steps between looks at the validation batch.")] = 10,
    validation: Annotated[int, option("Points of the validation batch.")] = 8192,
    float64: Annotated[bool, option("Train in double precision.", "--float64")] = False,
    fused: Annotated[bool, option("Use a GPU's fused kernels where they cover the runs.", "--fused/--no-fused")] = True,
    out: Annotated[Path | None, option("Folder for the result (train.json, runs.csv).", parser=folder)] = None,
    as_json: AsJson = False,
) -> None:
    """Train many networks at once and say when each of them learned."""
    configuration = {name: value for name, value in locals().items() if name not in ("as_json", "out")}
    with exit_2_on_bad_input():
        configuration["rate"] = numbers(rate, "--rate")
        configuration["support"] = None if support is None else whole_numbers(support, "--support")
        configuration["width"] = None if width is None else whole_numbers(width, "--width")
        from ..names import check_degree_is_used, plan_from_names
        from ..runtime import cores
        from ..training.checks import check_number_of_runs

        cores()  # a wrong PARITYLAB_CORES is said here
        check_number_of_runs(seeds, len(configuration["rate"]), A_ROW)
        check_degree_is_used(target, network, k)
        plan, configuration["k"] = plan_from_names(configuration)
        plan.ensemble  # noqa: B018 (what does not fit into memory is said here)
        if out is not None:
            check_writable(out, "train.json", "runs.csv")
    with progress_bar(as_json) as watch:
        runs = dataclasses.replace(plan, watch=watch).run()
    result = report({**configuration, "way": plan.way}, runs)
    code = 0 if out is None else code_of_writing(lambda: write(out, result, runs))
    if as_json:
        print_json(result)
    else:
        print_summary(result["summary"])
        if runs.interrupted:
            typer.echo("Interrupted: what was not finished counts for as long as it was watched.", err=True)
    raise typer.Exit(INTERRUPTED if runs.interrupted else code)


def write(out: Path, result: dict[str, Any], runs: "Runs") -> None:
    """The result in its two forms."""
    write_whole(out / "train.json", document(result))
    write_whole(out / "runs.csv", runs.table().to_csv(index=False))


def report(configuration: dict[str, Any], runs: "Runs") -> dict[str, Any]:
    """The JSON document of `train`."""
    from ..manifest import manifest
    from ..training.rules.outcomes import Outcome

    rows = [
        {
            "seed": seed,
            "rate": rate,
            "outcome": Outcome(outcome).word,
            "converged_at": step if outcome == Outcome.LEARNED else None,
            "steps": step,
            "error": error,
        }
        for seed, rate, outcome, step, error in zip(
            *(runs.columns[name].tolist() for name in ("seed", "rate")),
            *(values.tolist() for values in (runs.outcome, runs.steps, runs.error)),
            strict=True,
        )
    ]
    return {
        "configuration": {**configuration, "lanes": int(runs.lanes[0]), **manifest()},
        "runs": rows,
        "summary": runs.summary(),
        **({"interrupted": True} if runs.interrupted else {}),
    }
