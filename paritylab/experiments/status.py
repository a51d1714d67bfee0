"""What was run, at which scale and where: one table for each paper, `runs.csv`, written by `reproduce --record`."""

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..registry import EXPERIMENTS
from .base import SCALES, Scale, Verdict
from .verdicts import commit_of, folder_of, table, verdicts, write_table


class Ran(NamedTuple):
    """A row of the table: an experiment at one scale."""

    experiment: str
    scale: Scale
    runs: int
    steps: int
    """Of training, of all runs together; none where nothing is trained."""
    seconds: float
    """Of work, of all workers together."""
    device: str
    commit: str
    date: str


class Status(NamedTuple):
    """How far an experiment has come."""

    experiment: str
    ran: Ran | None
    """At paper scale if it was run so, else at quick scale; none if it never was."""
    found: Counter[Verdict]
    cut: str
    """What the settings at paper scale leave out of the paper's."""


def path_of(paper: str) -> Path:
    """The file of what was run of a paper."""
    return folder_of(paper) / "runs.csv"


def ran(paper: str) -> dict[tuple[str, str], Ran]:
    """What was run of a paper, by experiment and scale."""
    rows = (Ran(*row.values()) for row in table(path_of(paper)))  # type: ignore[arg-type]
    read = (row._replace(runs=int(row.runs), steps=int(row.steps), seconds=float(row.seconds)) for row in rows)
    return {(row.experiment, row.scale): row for row in read}


def note(accounts: Iterable[Mapping[str, Any]], today: datetime.date) -> list[Path]:
    """Writes down that experiments were run; the tables that changed."""
    changed: dict[str, dict[tuple[str, str], Ran]] = {}
    for about in accounts:
        paper = about["experiment"].split("/")[0]
        made = of_account(about, today.isoformat())
        changed.setdefault(paper, ran(paper))[made.experiment, made.scale] = made
    for paper, rows in changed.items():
        write_table(path_of(paper), Ran._fields, rows.values())
    return [path_of(paper) for paper in changed]


def of_account(about: Mapping[str, Any], date: str) -> Ran:
    """The row of an account."""
    devices = ", ".join(sorted({str(origin["device"]) for origin in about["origins"]}))
    size = about["runs"], about["steps"], round(about["seconds"], 1)
    return Ran(about["experiment"], about["scale"], *size, devices, commit_of(about), date)


def status() -> list[Status]:
    """Of every experiment, in the order of the registry."""
    done = {paper: ran(paper) for paper in dict.fromkeys(name.split("/")[0] for name in EXPERIMENTS)}
    found = []
    for name, entry in EXPERIMENTS.items():
        paper = name.split("/")[0]
        last = next((done[paper][name, at] for at in reversed(SCALES) if (name, at) in done[paper]), None)
        mine = (row for row in verdicts(paper).values() if last and row.claim.startswith(f"{name}/"))
        counted = Counter(row.verdict for row in mine if last and row.scale == last.scale)
        found.append(Status(name, last, counted, entry.cut))
    return found


COLUMNS = ("experiment", "scale", "runs", "steps", "seconds", "device", "hold", "fail", "open", "cut")


def columns(each: Status) -> dict[str, Any]:
    """A row as it is shown."""
    counted = (each.found["holds"], each.found["fails"], each.found["inconclusive"])
    about = (*each.ran[1:6], *counted) if each.ran else ("not run", *[None] * 7)
    return dict(zip(COLUMNS, (each.experiment, *about, each.cut), strict=True))
