"""What training gives back: one row per run, and what was recorded on the way."""

import dataclasses
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, PyTree

from ..survival import CensoredTimes
from .engine.lanes import init_key
from .host.workers import Collected, Ensemble
from .rules.gradient_descent import GradientDescent, Problem, network_made_by
from .rules.leaves import Leaves, split
from .rules.outcomes import Outcome
from .summaries import censored_times, standard
from .views import View, Viewed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Log = list[tuple[np.ndarray, np.ndarray, PyTree]]
"""What was recorded, in pieces: runs, their steps, and a value of each record for each of them."""


UNKNOWN = (Outcome.RUNNING, Outcome.NOT_STARTED, Outcome.DIVERGED)
"""Outcomes of runs whose last validation says nothing."""


class Part(NamedTuple):
    """Runs of one shape, as they were trained together."""

    ensemble: Ensemble
    collected: Collected

    @property
    def init_seeds(self) -> np.ndarray:
        return self.ensemble.init_seeds

    @property
    def log(self) -> Log:
        return self.collected.log

    @property
    def weights(self) -> Leaves | None:
        """The arrays of the networks, a row for each run; None if they were not kept."""
        rule = self.ensemble.program.rule
        if not self.ensemble.program.keep or not isinstance(rule, GradientDescent):
            return None
        # The arrays of the network come first in a kept state (`TrainingState`).
        return tuple(self.collected.state[: rule.network.count])

    def problem(self, row: int) -> Problem | None:
        """What the run in a row was trained on, if by gradients."""
        program, rule = self.ensemble.program, self.ensemble.program.rule
        if not isinstance(rule, GradientDescent):
            return None
        own = tuple(array[row] for array in self.ensemble.own)
        filled: Problem = rule.problem.fill(program.whole(own, self.ensemble.common))
        return filled

    @property
    def array_shapes(self) -> list[tuple[int, ...]]:
        """The shape of each array of a network."""
        problem = self.problem(0)
        assert problem is not None
        return [leaf.shape for leaf in split(network_made_by(problem.network, problem.distribution.n))[0]]

    def network(self, leaves: Leaves) -> Any:
        """The network with these arrays."""
        rule = self.ensemble.program.rule
        assert isinstance(rule, GradientDescent)
        return rule.network.fill(leaves)


@dataclasses.dataclass(frozen=True, repr=False)
class Runs(Viewed):
    """The runs of a grid in its order: all seeds of the first rate, then of the next."""

    columns: dict[str, np.ndarray]
    """What told the runs apart: rate, decay, seed."""
    outcome: Int[np.ndarray, " runs"]
    steps: Int[np.ndarray, " runs"]
    mistakes: Int[np.ndarray, " runs"]
    points: Int[np.ndarray, " runs"]
    lanes: Int[np.ndarray, " runs"]
    loss: Float[np.ndarray, " runs"]
    """The mean loss over the validation points at the end, where `LossBelow` says what was learned; else NaN."""
    interrupted: bool
    _parts: tuple[Any, ...] = dataclasses.field(repr=False)

    @classmethod
    def of(cls, ensemble: Ensemble, collected: Collected, columns: dict[str, np.ndarray]) -> "Runs":
        nothing = np.zeros(len(ensemble), np.int32)
        mistakes, points = collected.statistics[:2] if collected.statistics else (nothing, nothing)
        loss = np.full(len(ensemble), np.nan)
        rule = ensemble.program.rule
        if collected.statistics and isinstance(rule, GradientDescent) and rule.judged_by_loss:
            known = (points > 0) & ~np.isin(collected.outcome, UNKNOWN)
            loss = np.where(known, collected.statistics[3] / np.maximum(points, 1), np.nan)
        return cls(
            columns,
            collected.outcome,
            collected.step,
            mistakes,
            points,
            np.full(len(ensemble), ensemble.program.lanes),
            loss,
            collected.interrupted,
            (Part(ensemble, collected),),
        )

    @classmethod
    def joined(cls, several: Sequence["Runs"]) -> "Runs":
        """Runs of several shapes, one after the other."""
        names = ("outcome", "steps", "mistakes", "points", "lanes", "loss")
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
        known = (self.points > 0) & ~np.isin(self.outcome, UNKNOWN)
        return np.where(known, self.mistakes / np.maximum(self.points, 1), np.nan)

    @property
    def keys(self) -> list[Any]:
        """The key from which each run's network was drawn."""
        return [init_key(np.uint32(seed)) for part in self._parts for seed in part.init_seeds]

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
            **({} if np.isnan(self.loss).all() else {"validation_loss": self.loss}),
        }
        table = standard(pd.DataFrame({**self.columns, **results}))
        return table.assign(converged_at=table.converged_at.where(learned))

    def network(self, run: int | np.integer) -> Any:
        """The trained network of one run, if networks were kept."""
        if Outcome(self.outcome[run]) in (Outcome.RUNNING, Outcome.NOT_STARTED):
            raise ValueError(f"There is no network of run {run}. {Outcome(self.outcome[run]).sentence}")
        part, row = self._place_of(run)
        if (weights := part.weights) is None:
            raise ValueError("Networks were not kept; train with keep=True.")
        return part.network(tuple(array[row] for array in weights))

    def _place_of(self, run: int | np.integer) -> tuple[Any, int]:
        """The part that a run was trained in, and its row there; a negative number counts from the end."""
        first = np.cumsum([0, *(len(part.init_seeds) for part in self._parts)])
        place = range(len(self))[run]
        index = int(np.searchsorted(first, place, side="right")) - 1
        return self._parts[index], place - int(first[index])

    def checkpoint(self, run: int | np.integer, step: int | np.integer) -> Any:
        """The network of one run as it was at a step, if `Parameters` were recorded then."""
        part, row = self._place_of(run)
        kept = {
            int(steps[i]): values["parameters"][i]
            for runs, steps, values in part.log
            if "parameters" in values
            for i in np.flatnonzero(runs == row)
        }
        if step not in kept:
            raise ValueError(
                f"There is no checkpoint of run {run} at step {step}; "
                + (f"there are some at {min(kept)} to {max(kept)}." if kept else "record `Parameters()`.")
            )
        sizes = np.cumsum([math.prod(shape) for shape in part.array_shapes])
        if len(kept[int(step)]) != sizes[-1]:
            raise ValueError("A network with frozen arrays has no checkpoints. Keep it as it is at the end.")
        pieces = np.split(kept[int(step)], sizes[:-1])
        return part.network(tuple(piece.reshape(shape) for piece, shape in zip(pieces, part.array_shapes, strict=True)))

    @property
    def recorded(self) -> bool:
        """Whether records were kept."""
        return any(part.log for part in self._parts)

    def curves(self) -> "pd.DataFrame":
        """What the records kept: one row per run and recorded step, in this order."""
        import pandas as pd

        if not self.recorded:
            raise ValueError("Nothing was recorded; train with records=(...).")
        first = np.cumsum([0, *(len(part.init_seeds) for part in self._parts)])
        log = [
            (run + start, step, values)
            for start, part in zip(first, self._parts, strict=False)
            for run, step, values in part.log
        ]
        runs, steps, values = zip(*log, strict=True)
        run, step = np.concatenate(runs), np.concatenate(steps)
        order = np.lexsort((step, run))
        columns: dict[str, Any] = {name: _column([each[name] for each in values], order) for name in values[0]}
        names = {name: column[run[order]] for name, column in self.columns.items()}
        return pd.DataFrame({"run": run[order], **names, "step": step[order], **columns})

    def first_below(self, record: str, value: int | float) -> "pd.DataFrame":
        """When a record was at most `value` for the first time: one row per run, or per run and part of the record.

        `step` is the first recorded step, missing where it never was; `watched` is the last one. So times per output of
        `OutputErrors`, or per task of `ErrorsOn`, come censored as they should.
        """
        import pandas as pd

        curves = self.curves()
        if record not in curves:
            known = [name for name in curves if name not in ("run", "step", *self.columns)]
            raise ValueError(f"There is no record {record!r}; recorded were {', '.join(known)}.")
        whole = np.stack(curves[record].to_numpy()) if curves[record].dtype == object else curves[record].to_numpy()
        parts = whole.reshape(len(curves), -1)
        rows = []
        for run, places in curves.groupby("run").indices.items():
            steps, low = curves.step.to_numpy()[places], parts[places] <= value
            ever, first = low.any(axis=0), steps[low.argmax(axis=0)]
            columns = {name: column[run] for name, column in self.columns.items()}
            rows += [
                {"run": run, **columns, "part": part, "step": first[part] if ever[part] else None, "watched": steps[-1]}
                for part in range(parts.shape[1])
            ]
        return pd.DataFrame(rows).astype({"step": "Int64"})

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the runs to a new folder: tables as Parquet, networks (if kept) as npz; `pl.load(folder)` reads it."""
        from .saved import save

        save(self, folder)

    def _view(self) -> View:
        table = self.table().assign(run=np.arange(len(self)))
        return View(table, tuple(name for name in self.columns if name != "seed"), self.recorded, self.curves)

    def _arrow(self) -> "pa.Table":
        import pyarrow as pa

        return pa.Table.from_pandas(self.table(), preserve_index=False)

    def __repr__(self) -> str:
        return f"Runs({self._sentence()})"


def _column(pieces: list[PyTree], order: np.ndarray) -> Any:
    values = np.concatenate(pieces)[order]
    return values if values.ndim == 1 else list(values)
