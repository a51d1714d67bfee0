"""Runs that have ended, looked at as if they trained: the same pictures, of what they recorded."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..training.rules.gradient_descent import Problem
from ..training.rules.outcomes import Outcome
from ..training.runs import Part, Runs
from ..training.views import Viewed
from .session import exact, gap_at, on_uniform_points
from .watchable import drawn
from .watched import Watched, relevant_of


class Finished(Watched):
    """Runs with all that was recorded of them."""

    def __init__(self, runs: Viewed, by: str | Sequence[str] | None = None):
        view = runs._view()
        curves = view.curves() if view.recorded else None
        parts = [part for part in runs._parts if isinstance(part, Part)] if isinstance(runs, Runs) else []
        self._problems = [(part, row) for part in parts for row in range(len(part.init_seeds))]
        records = next((part.ensemble.program.records for part in parts), None)
        values = {} if curves is None else _values(curves, [name for name in curves if name not in view.table])
        shapes = {name: array.shape[1:] for name, array in values.items()}
        every = 1 if curves is None else _every(curves)
        steps = int(np.nanmax([1, view.table.steps.max()]))
        super().__init__(drawn(view, by, shapes, () if records is None else records.records, every, steps))
        place = {name: i for i, name in enumerate(view.table["run"])}
        if curves is not None:
            rows = curves["run"].map(place).to_numpy()
            self.recorded(rows, curves["step"].to_numpy(), values)
        codes = {each.word: int(each) for each in Outcome}
        outcome = view.table.outcome.map(codes).fillna(int(Outcome.NOT_STARTED)).to_numpy(np.int8)
        self.ended(np.arange(len(view.table)), outcome, view.table.steps.fillna(0).to_numpy(np.int64))

    def _problem(self, run: int) -> Problem | None:
        """What a run was trained on, where that is known: of runs of this process."""
        if not self._problems:
            return None
        part, row = self._problems[run]
        return part.problem(row)

    def relevant(self, run: int) -> list[int]:
        problem = self._problem(run)
        return [] if problem is None else relevant_of(problem.distribution)

    def _gap_at(self, step: int, weights: np.ndarray) -> dict[str, Any] | None:
        problem = self._problem(self.watched)
        if self.drawn.layer != "neurons" or problem is None or not on_uniform_points(problem.distribution):
            return None
        network, support = problem.network, self.relevant(self.watched)
        return exact(lambda: gap_at(network, support, self.watched, self.neuron, step, weights))


def _every(curves: pd.DataFrame) -> int:
    """The steps between two rows of the first run."""
    first = curves[curves["run"] == curves["run"].iloc[0]]["step"].to_numpy()
    return max(1, int(first[1] - first[0] if len(first) > 1 else first[0]))


def _values(curves: pd.DataFrame, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Records as arrays; one whose shape is not the same in all rows is left out."""
    found: dict[str, np.ndarray] = {}
    for name in names:
        if curves[name].dtype != object:
            found[name] = curves[name].to_numpy()
        elif len({np.shape(value) for value in curves[name]}) == 1:
            found[name] = np.stack(curves[name].tolist())
    del found["step"]
    return found
