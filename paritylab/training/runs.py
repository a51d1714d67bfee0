"""What training gives back: one row per run, and what was recorded on the way."""

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Int, PyTree

from ..survival import CensoredTimes
from .engine.lanes import init_key
from .host.workers import Collected, Ensemble
from .rules.gradient_descent import GradientDescent
from .rules.outcomes import Outcome

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Part(NamedTuple):
    """Runs of one shape, as they were trained together."""

    ensemble: Ensemble
    collected: Collected


@dataclasses.dataclass(frozen=True)
class Runs:
    """The runs of a grid in its order: all seeds of the first rate, then of the next."""

    columns: dict[str, np.ndarray]
    """What told the runs apart: rate, decay, seed."""
    outcome: Int[np.ndarray, " runs"]
    steps: Int[np.ndarray, " runs"]
    mistakes: Int[np.ndarray, " runs"]
    points: Int[np.ndarray, " runs"]
    lanes: Int[np.ndarray, " runs"]
    interrupted: bool
    _parts: tuple[Part, ...] = dataclasses.field(repr=False)

    @classmethod
    def of(cls, ensemble: Ensemble, collected: Collected, columns: dict[str, np.ndarray]) -> "Runs":
        nothing = np.zeros(len(ensemble), np.int32)
        mistakes, points = collected.statistics[:2] if collected.statistics else (nothing, nothing)
        return cls(
            columns,
            collected.outcome,
            collected.step,
            mistakes,
            points,
            np.full(len(ensemble), ensemble.program.lanes),
            collected.interrupted,
            (Part(ensemble, collected),),
        )

    @classmethod
    def joined(cls, several: Sequence["Runs"]) -> "Runs":
        """Runs of several shapes, one after the other."""
        names = ("outcome", "steps", "mistakes", "points", "lanes")
        rows = {name: np.concatenate([getattr(runs, name) for runs in several]) for name in names}
        return cls(
            columns={name: np.concatenate([runs.columns[name] for runs in several]) for name in several[0].columns},
            interrupted=any(runs.interrupted for runs in several),
            _parts=tuple(part for runs in several for part in runs._parts),
            **rows,
        )

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def converged_at(self) -> np.ndarray:
        """The convergence time of each run; infinite if it did not learn."""
        return np.where(self.outcome == Outcome.LEARNED, self.steps, np.inf)

    @property
    def censored(self) -> CensoredTimes:
        """When the runs learned, or how far it is known that they did not."""
        return censored_times(self.table())

    @property
    def error(self) -> np.ndarray:
        """The fraction of mistakes on the validation batch at the end; NaN where there is none to tell."""
        unknown = (Outcome.RUNNING, Outcome.NOT_STARTED, Outcome.DIVERGED)
        known = (self.points > 0) & ~np.isin(self.outcome, unknown)
        return np.where(known, self.mistakes / np.maximum(self.points, 1), np.nan)

    @property
    def keys(self) -> list[Any]:
        """The key from which each run's network was drawn."""
        return [init_key(np.uint32(seed)) for part in self._parts for seed in part.ensemble.init_seeds]

    def table(self) -> "pd.DataFrame":
        """One row per run: rate, seed, outcome, converged_at, steps, error."""
        import pandas as pd

        words = np.array([outcome.word for outcome in Outcome])
        learned = self.outcome == Outcome.LEARNED
        results = {
            "outcome": words[self.outcome],
            "converged_at": pd.array(self.steps, dtype="Int64").copy(),
            "steps": self.steps,
            "error": self.error,
        }
        table = standard(pd.DataFrame({**self.columns, **results}))
        return table.assign(converged_at=table.converged_at.where(learned))

    def summary(self) -> list[dict[str, Any]]:
        """For each rate (and decay): how many learned, the 10th percentile and the median of the time.

        See `summarize` for what an entry means.
        """
        return summarize(self.table(), [name for name in self.columns if name != "seed"])

    def network(self, run: int | np.integer) -> Any:
        """The trained network of one run, if networks were kept."""
        if Outcome(self.outcome[run]) in (Outcome.RUNNING, Outcome.NOT_STARTED):
            raise ValueError(f"There is no network of run {run}. {Outcome(self.outcome[run]).sentence}")
        ends = np.cumsum([len(part.ensemble) for part in self._parts])
        place = range(len(self))[run]  # a negative number counts from the end
        part = int(np.searchsorted(ends, place, side="right"))
        ensemble, collected = self._parts[part]
        rule = ensemble.program.rule
        if not ensemble.program.keep or not isinstance(rule, GradientDescent):
            raise ValueError("Networks were not kept; train with keep=True.")
        # The arrays of the network come first in a kept state (`TrainingState`).
        row = place - int(ends[part]) + len(ensemble)
        return rule.network.fill(tuple(array[row] for array in collected.state[: rule.network.count]))

    @property
    def recorded(self) -> bool:
        """Whether records were kept."""
        return any(part.collected.log for part in self._parts)

    def curves(self) -> "pd.DataFrame":
        """What the records kept: one row per run and recorded step, in this order."""
        import pandas as pd

        if not self.recorded:
            raise ValueError("Nothing was recorded; train with records=(...).")
        first = np.cumsum([0, *(len(part.ensemble) for part in self._parts)])
        log = [
            (run + start, step, values)
            for start, part in zip(first, self._parts, strict=False)
            for run, step, values in part.collected.log
        ]
        runs, steps, values = zip(*log, strict=True)
        run, step = np.concatenate(runs), np.concatenate(steps)
        order = np.lexsort((step, run))
        columns: dict[str, Any] = {name: _column([each[name] for each in values], order) for name in values[0]}
        names = {name: column[run[order]] for name, column in self.columns.items()}
        return pd.DataFrame({"run": run[order], **names, "step": step[order], **columns})

    def plot(self) -> "Figure":
        """The recorded errors or losses over steps; without records, the fraction of runs that learned."""
        from ..figures import plot_runs

        return plot_runs(self)


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


def _column(pieces: list[PyTree], order: np.ndarray) -> Any:
    values = np.concatenate(pieces)[order]
    return values if values.ndim == 1 else list(values)
