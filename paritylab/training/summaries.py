"""Tables of runs in a few numbers: how many learned, and when."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..survival import CensoredTimes
from .rules.outcomes import Outcome

if TYPE_CHECKING:
    import pandas as pd

RESULT_COLUMNS = ("outcome", "converged_at", "steps", "error")
"""How a run ended, in every table of runs."""


def standard(table: "pd.DataFrame") -> "pd.DataFrame":
    """A table of runs with whole numbers as whole numbers, whether it was just trained or comes from a store."""
    if not {*RESULT_COLUMNS} <= {*table.columns}:
        return table
    steps = "Int64" if table.steps.isna().any() else "int64"
    return table.astype({"converged_at": "Int64", "steps": steps})


def censored_times(table: "pd.DataFrame") -> CensoredTimes:
    """When the runs of a table learned, or how far it is known that they did not."""
    outcome, steps = table.outcome.to_numpy(object), table.steps.to_numpy(float)
    never = np.isin(outcome, [each.word for each in Outcome if each.never_learns])
    return CensoredTimes(np.where(never, np.inf, steps), outcome == Outcome.LEARNED.word)


def summarize(table: "pd.DataFrame", names: Sequence[str]) -> list[dict[str, Any]]:
    """For each combination of the named columns: how many learned, the 10th percentile and the median of the time.

    - `learned`, `runs`: how many learned, and of how many that were asked for;
    - `unfinished`: how many were interrupted or given up in a race after they had begun;
    - `not_started`: how many had not begun;
    - `t10`, `median`: the first step by which a tenth, or half, of the runs has learned (Kaplan-Meier, where a run
      that was stopped counts as long as it was watched); infinite if that step was not reached;
    - `interval`: holds the true median with 95%; None where so few runs say nothing about it.
    """
    # What is missing becomes None: it is one value to group by, and NaN is not equal to itself.
    columns = [table[name].astype(object).where(table[name].notna(), None).tolist() for name in names]
    rows = list(zip(*columns, strict=True)) if names else [()] * len(table)
    members: dict[Any, list[int]] = {}
    for place, row in enumerate(rows):
        members.setdefault(row, []).append(place)
    return [{**dict(zip(names, point, strict=True)), **_entry(table.iloc[here])} for point, here in members.items()]


def _entry(runs: "pd.DataFrame") -> dict[str, Any]:
    times = censored_times(runs)
    stopped = runs.outcome.isin([each.word for each in Outcome if each.unfinished]).to_numpy(bool)
    begun = times.step > 0
    interval = times.interval()
    return {
        "learned": int(times.learned.sum()),
        "runs": len(runs),
        "unfinished": int((stopped & begun).sum()),
        "not_started": int((stopped & ~begun).sum()),
        "t10": times.quantile(0.1),
        "median": times.quantile(0.5),
        "interval": None if interval == (0, math.inf) else interval,
    }


def counted_outcomes(table: "pd.DataFrame") -> str:
    """How many runs there are, and how they ended, in words."""
    counts = table.outcome.fillna("unknown").value_counts()
    how = ", ".join(f"{count:,} {word.replace('_', ' ')}" for word, count in counts.items())
    return f"{len(table):,} run{'s' if len(table) != 1 else ''}" + (f": {how}" if how else "")
