"""Recorded verdicts: one table for each paper, `verdicts.csv`, written by `paritylab reproduce --record`.

A row says what a run at one scale found for one claim, from which commit and when, and how its acceptance region came
about. It belongs to the claim as it was worded then: of a claim that has changed since, or was never run at a scale,
no verdict is known.
"""

import csv
import datetime
import hashlib
import io
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ..documents import write_whole
from .base import Claim, Scale, Verdict

Basis = Literal["paper", "theory", "chosen before", "chosen after a look"]
"""Where an acceptance region comes from: the paper's own statement, a proof or closed form, or ourselves."""
BASES: tuple[Basis, ...] = get_args(Basis)


class Recorded(NamedTuple):
    """A row of the table."""

    claim: str
    scale: Scale
    verdict: Verdict
    region: str
    basis: Basis
    commit: str
    date: str
    wording: str
    """A digest of the claim's statement and region."""


def folder_of(paper: str) -> Path:
    """Where the tables of a paper are."""
    return Path(__file__).parent / paper.replace("-", "_")


def table_of(paper: str) -> Path:
    """The file of a paper's verdicts."""
    return folder_of(paper) / "verdicts.csv"


@cache
def verdicts(paper: str) -> dict[tuple[str, str], Recorded]:
    """The recorded verdicts of a paper by claim and scale."""
    rows = (Recorded(**row) for row in table(table_of(paper)))  # type: ignore[arg-type]
    return {(row.claim, row.scale): row for row in rows}


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none where there is no file."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [*csv.DictReader(file)]


def recorded(experiment: str, claim: Claim, scale: Scale) -> Verdict | None:
    """The verdict that is known of a claim; another is news."""
    paper = experiment.split("/")[0]
    row = verdicts(paper).get((f"{experiment}/{claim.name}", scale))
    return row.verdict if row is not None and row.wording == wording(claim.statement, str(claim.region)) else None


def wording(statement: str, region: str) -> str:
    """A digest of what a claim says."""
    return hashlib.sha256(f"{statement}\n{region}".encode()).hexdigest()[:8]


def record(accounts: Iterable[Mapping[str, Any]], today: datetime.date) -> list[Path]:
    """Writes down the verdicts of experiments; the tables that changed.

    A region that was changed since a verdict was recorded was chosen after a look.
    """
    new: dict[str, dict[tuple[str, str], Recorded]] = {}
    for about in accounts:
        paper, commit = about["experiment"].split("/")[0], commit_of(about)
        known = new.setdefault(paper, dict(verdicts(paper)))
        for row in about["claims"]:
            before = known.get((row["claim"], row["scale"]))
            basis: Basis = "chosen before" if before is None else before.basis
            if before is not None and basis == "chosen before" and before.region != row["region"]:
                basis = "chosen after a look"
            said = wording(row["statement"], row["region"])
            made = Recorded(
                row["claim"], row["scale"], row["verdict"], row["region"], basis, commit, today.isoformat(), said
            )
            same = before is not None and (before.verdict, before.wording) == (made.verdict, made.wording)
            known[row["claim"], row["scale"]] = before if before is not None and same else made
    changed = [paper for paper, rows in new.items() if rows != verdicts(paper)]
    for paper in changed:
        write(paper, new[paper].values())
    return [table_of(paper) for paper in changed]


def commit_of(about: Mapping[str, Any]) -> str:
    """The commit that did the runs of an experiment, or those that did."""
    commits = [origin.get("commit") for origin in about["origins"]]
    if not commits or None in commits:
        raise ValueError(
            f"A verdict is recorded for runs of a known commit, and those of {about['experiment']} have none. "
            "Reproduce it in a git checkout, or set PARITYLAB_COMMIT."
        )
    return " ".join(sorted({commit[:10] for commit in commits}))


def write(paper: str, rows: Iterable[Recorded]) -> None:
    """Writes a table whole."""
    write_table(table_of(paper), Recorded._fields, rows)
    verdicts.cache_clear()


def write_table(path: Path, names: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Writes rows in their order."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(sorted(rows))
    write_whole(path, buffer.getvalue())
