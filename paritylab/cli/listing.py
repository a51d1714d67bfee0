"""`paritylab list`."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from .. import registry
from ..progress import duration
from ..registry import ACTIVATIONS, BOUNDS, EXPERIMENTS, Row, nearest
from .app import app, exit_2_on_bad_input
from .options import AsJson
from .printing import print_json, shown, table

ROWS: dict[str, Mapping[str, Row]] = {
    "targets": registry.TARGETS,
    "networks": registry.NETWORKS,
    "activations": ACTIVATIONS,
    "initializations": registry.INITIALIZATIONS,
    "losses": registry.LOSSES,
    "inputs": registry.INPUT_DISTRIBUTIONS,
    "circuit-distributions": registry.CIRCUIT_DISTRIBUTIONS,
    "gate-distributions": registry.GATE_DISTRIBUTIONS,
}
WHAT = ("experiments", *ROWS, "bounds")


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(help=f"{', '.join(WHAT)}, or the name of an experiment")] = WHAT[0],
    status: Annotated[bool, typer.Option("--status", help="What was run at which scale, and what came of it.")] = False,
    as_json: AsJson = False,
) -> None:
    """What there is: experiments and what they cost, networks, targets, bounds; what one experiment claims."""
    with exit_2_on_bad_input():
        if what not in (*WHAT, *EXPERIMENTS):
            raise ValueError(nearest("list", what, [*WHAT, *EXPERIMENTS]))
        if status and what != "experiments":
            raise ValueError(f"--status is about all experiments, got {what!r}. Leave one of the two out.")
    rows = status_rows() if status else rows_of(what)
    if as_json:
        print_json(rows)
    elif status:
        table([[shown(cell) for cell in row.values()] for row in rows], list(rows[0]))
    else:
        table([[str(cell) for cell in row.values()] for row in rows], list(rows[0]))


def status_rows() -> list[dict[str, Any]]:
    """Of every experiment the largest scale at which it was run, and what came of its claims there."""
    from ..experiments.status import columns, status

    return [columns(each) for each in status()]


def rows_of(what: str) -> list[dict[str, Any]]:
    if what in ROWS:
        named = any(row.settings for row in ROWS[what].values())
        return [
            {"name": name, "what": row.what, **({"settings": row.settings} if named else {}), "made by": made_by(row)}
            for name, row in ROWS[what].items()
        ]
    if what == "bounds":
        return [{"name": name, "what": text} for name, (_, text) in BOUNDS.items()]
    if what == "experiments":
        return [
            {"name": name, "what": entry.title, "quick": duration(entry.quick_seconds), "headline": entry.headline}
            for name, entry in EXPERIMENTS.items()
        ]
    from ..experiments.base import load

    experiment = load(what)
    claims = experiment.claims(experiment.SETTINGS["paper"])
    return [{"claim": claim.name, "statement": claim.statement, "accepted": str(claim.region)} for claim in claims]


def made_by(row: Row) -> str:
    """The constructor as one would write it in Python."""
    room, _, name = row.make.partition(":")
    arguments = [*row.takes.split(), *([made_by(ACTIVATIONS[row.activation])] if row.activation else [])]
    return f"pl.{room}.{name}({', '.join(arguments)})" if arguments else f"pl.{room}.{name}"
