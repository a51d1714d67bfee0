"""What training gives back: one row per run, and what was recorded on the way."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int, PyTree

from ..statistics import median_interval, quantile
from .crew import Collected, Ensemble
from .lanes import init_key
from .outcomes import Outcome
from .rules import Training

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Runs:
    """The runs of one ensemble, in the order of its grid: all seeds of the first rate, then of the next."""

    columns: dict[str, np.ndarray]
    """What told the runs apart: rate, decay, seed."""
    outcome: Int[np.ndarray, " runs"]
    steps: Int[np.ndarray, " runs"]
    mistakes: Int[np.ndarray, " runs"]
    points: Int[np.ndarray, " runs"]
    interrupted: bool
    lanes: int
    _ensemble: Ensemble = dataclasses.field(repr=False)
    _collected: Collected = dataclasses.field(repr=False)

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
            collected.interrupted,
            ensemble.program.lanes,
            ensemble,
            collected,
        )

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def converged_at(self) -> np.ndarray:
        """The convergence time of each run; infinite if it did not learn."""
        return np.where(self.outcome == Outcome.LEARNED, self.steps, np.inf)

    @property
    def error(self) -> np.ndarray:
        """The fraction of mistakes on the validation batch at the end; NaN where there is none to tell."""
        known = (self.points > 0) & (self.outcome != Outcome.DIVERGED) & (self.outcome != Outcome.RUNNING)
        return np.where(known, self.mistakes / np.maximum(self.points, 1), np.nan)

    @property
    def keys(self) -> list[Any]:
        """The key from which each run's network was drawn."""
        return [init_key(np.uint32(seed)) for seed in self._ensemble.init_seeds]

    def table(self) -> "pd.DataFrame":
        """One row per run: rate, seed, outcome, converged_at, steps, error."""
        import pandas as pd

        words = np.array([outcome.word for outcome in Outcome])
        learned = self.outcome == Outcome.LEARNED
        return pd.DataFrame(
            {
                **self.columns,
                "outcome": words[self.outcome],
                "converged_at": pd.array(np.where(learned, self.steps, 0), dtype="Int64").copy(),
                "steps": self.steps,
                "error": self.error,
            }
        ).assign(converged_at=lambda table: table.converged_at.where(learned))

    def summary(self) -> list[dict[str, Any]]:
        """For each rate (and decay): how many learned, the 10th percentile and the median of the time.

        A run that did not learn counts as infinitely slow; `interval` holds the true median with 95%.
        """
        return summarize(self.table(), [name for name in self.columns if name != "seed"])

    def network(self, run: int | np.integer) -> Any:
        """The trained network of one run, if networks were kept."""
        rule = self._ensemble.program.rule
        if not self._ensemble.program.keep or not isinstance(rule, Training):
            raise ValueError("Networks were not kept; train with keep=True.")
        if self.outcome[run] == Outcome.RUNNING:
            raise ValueError(f"There is no network of run {run}. {Outcome.RUNNING.sentence}")
        # The arrays of the network come first in a kept state (`TrainingState`).
        return rule.network.fill(tuple(array[run] for array in self._collected.state[: rule.network.count]))

    @property
    def recorded(self) -> bool:
        """Whether records were kept."""
        return bool(self._collected.log)

    def curves(self) -> "pd.DataFrame":
        """What the records kept: one row per run and recorded step, in this order."""
        import pandas as pd

        if not self.recorded:
            raise ValueError("Nothing was recorded; train with records=(...).")
        runs, steps, values = zip(*self._collected.log, strict=True)
        run, step = np.concatenate(runs), np.concatenate(steps)
        order = np.lexsort((step, run))
        columns: dict[str, Any] = {name: _column([each[name] for each in values], order) for name in values[0]}
        names = {name: column[run[order]] for name, column in self.columns.items()}
        return pd.DataFrame({"run": run[order], **names, "step": step[order], **columns})

    def plot(self) -> "Figure":
        """The recorded errors or losses over steps; without records, the fraction of runs that learned."""
        from ..figures import plot_runs

        return plot_runs(self)


def summarize(table: "pd.DataFrame", names: list[str]) -> list[dict[str, Any]]:
    """For each combination of the named columns: how many learned, the 10th percentile and the median of the time.

    A run that did not learn counts as infinitely slow; `interval` holds the true median with 95%. Where
    runs were raced out, the times are not known: NaN.
    """
    rows = list(zip(*(table[name].tolist() for name in names), strict=True)) if names else [()] * len(table)
    times = table.converged_at.astype("Float64").to_numpy(float, na_value=np.inf)
    ended = (table.outcome != Outcome.RUNNING.word).tolist()
    raced_out = (table.outcome == Outcome.RACED_OUT.word).tolist()
    members: dict[Any, list[int]] = {row: [] for row in rows}
    for place, row in enumerate(rows):
        members[row] += [place] * ended[place]
    summaries = []
    for point, here in members.items():
        known = times[here] if here else np.array([np.inf])
        given_up = any(raced_out[place] for place in here)
        summaries.append(
            {
                **dict(zip(names, point, strict=True)),
                "learned": int(np.isfinite(times[here]).sum()),
                "runs": len(here),
                "t10": np.nan if given_up else quantile(known, 0.1),
                "median": np.nan if given_up else quantile(known, 0.5),
                "interval": (np.nan, np.nan) if given_up else median_interval(known),
            }
        )
    return summaries


def _column(pieces: list[PyTree], order: np.ndarray) -> Any:
    values = np.concatenate(pieces)[order]
    return values if values.ndim == 1 else list(values)
