"""`paritylab list`."""

from typing import Annotated, Any

import typer

from ..progress import duration
from ..registry import BOUNDS, EXPERIMENTS, NETWORKS, TARGETS, nearest
from .app import AsJson, app, exit_2_on_bad_input
from .printing import print_json, table

WHAT = ("experiments", "networks", "targets", "bounds")


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(help=f"{', '.join(WHAT)}, or the name of an experiment")] = WHAT[0],
    as_json: AsJson = False,
) -> None:
    """What there is: experiments and what they cost, networks, targets, bounds; what one experiment claims."""
    with exit_2_on_bad_input():
        if what not in (*WHAT, *EXPERIMENTS):
            raise ValueError(nearest("list", what, [*WHAT, *EXPERIMENTS]))
    rows = rows_of(what)
    if as_json:
        print_json(rows)
    else:
        table([[str(cell) for cell in row.values()] for row in rows], list(rows[0]))


def rows_of(what: str) -> list[dict[str, Any]]:
    if what == "networks":
        return [{"name": name, "what": entry.what, "settings": entry.settings} for name, entry in NETWORKS.items()]
    if what == "targets":
        return [{"name": name, "what": text} for name, text in TARGETS.items()]
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
