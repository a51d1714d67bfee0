"""Runs as they are watched: what they record, gathered as it comes, and told as one document after the other."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, PyTree

from ..demands import echo
from ..distributions import AbstractDistribution
from ..statistics import bands
from ..targets import Parity
from ..training.host.observer import Observer
from ..training.rules.fourier_records import target_of
from ..training.rules.outcomes import Outcome
from ..training.summaries import censored_times
from ..training.views import said
from .curves import learned_by_step, number, numbers

LINES = 60
"""Runs that are drawn one by one; bands are of all."""
BAND = (0.1, 0.5, 0.9)
ENOUGH = 0.75
"""The share of the begun runs of which a step of a band must be known: those ahead are a faster worker's."""
MOST_SUBSETS, FEW_RELEVANT = 40, 4
"""Subsets of a support of which coefficients are shown; up to which degree these are all of them."""


class Drawn(NamedTuple):
    """What is drawn of runs: which of their records, how finely, and how they are told apart."""

    curves: dict[str, tuple[str, int | None]]
    """For each curve the record that it is of; its place in the record where that has several numbers."""
    every: int
    steps: int
    names: list[str]
    """Of the runs, for people."""
    group_of: list[str]
    """Which runs are drawn together."""
    layer: str = ""
    """The record of weights of the layer that sees the input: `weights`, or with biases `neurons`; none if empty."""
    neurons: int = 0
    subsets: tuple[tuple[int, ...], ...] = ()
    """Subsets of which the network's Fourier coefficients are recorded, as places in the support."""


def told_apart(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """A few words for each row, which say what it has in these columns.

    >>> told_apart(pd.DataFrame({"rate": [0.1, 1.0], "seed": [3, 4]}), ["rate", "seed"])
    ['rate 0.1, seed 3', 'rate 1, seed 4']
    """
    rows = zip(*(table[name].tolist() for name in columns), strict=True)
    return [", ".join(map(said, columns, row)) for row in rows] if columns else [""] * len(table)


def subsets_of(degree: int) -> tuple[tuple[int, ...], ...]:
    """Subsets of a support of this degree whose coefficients are shown, the whole one last.

    >>> subsets_of(2)
    ((0,), (1,), (0, 1))
    """
    whole = tuple(range(degree))
    if degree <= FEW_RELEVANT:
        masks = sorted(range(1, 2**degree - 1), key=lambda mask: (mask.bit_count(), mask))
        return (*(tuple(i for i in whole if mask >> i & 1) for mask in masks), whole)
    return (*((i,) for i in whole if degree < MOST_SUBSETS), whole)


def relevant_of(distribution: AbstractDistribution) -> list[int]:
    """The coordinates on which labels depend, where they are those of a parity; none are marked if not."""
    target = target_of(distribution)
    return list(target.support) if isinstance(target, Parity) else []


class Watched(Observer):
    """Runs of which something is drawn. The thread that reads `document` is another than those that train."""

    def __init__(self, drawn: Drawn):
        super().__init__()
        self.drawn, runs = drawn, len(drawn.names)
        self.groups = [*dict.fromkeys(drawn.group_of)]
        self._group = np.array([self.groups.index(name) for name in drawn.group_of], int)
        self._lock = threading.Lock()
        self._values = np.full((len(drawn.curves), runs, -(-drawn.steps // drawn.every) + 1), np.nan, np.float32)
        self._step, self._outcome = np.zeros(runs, np.int64), np.zeros(runs, np.int8)
        self._weights: dict[int, tuple[int, np.ndarray]] = {}
        self._coefficients: dict[int, tuple[int, np.ndarray]] = {}
        """The last ones of each run."""
        self._lines: list[list[Any]] = []
        self._ends: dict[int, list[Any]] = {}
        """What is known of a line beyond its last point; it is drawn once the run has ended."""
        self._line = set(np.unique(np.linspace(0, runs - 1, min(runs, LINES)).astype(int)).tolist())
        self.watched, self.neuron = 0, 0

    # What the threads that train call.

    def recorded(self, runs: Int[np.ndarray, " rows"], steps: Int[np.ndarray, " rows"], values: PyTree) -> None:
        order = np.argsort(steps, kind="stable")  # of several rows between two points the last one counts
        runs, steps = runs[order], steps[order]
        row = -(-steps // self.drawn.every)
        columns = [values[record] if i is None else values[record][:, i] for record, i in self.drawn.curves.values()]
        columns = [np.asarray(column)[order] for column in columns]
        with self._lock:
            for place, column in enumerate(columns):
                self._values[place, runs, row] = column
            np.maximum.at(self._step, runs, steps)
            if self.drawn.layer:
                self._keep_last(self._weights, runs, steps, np.asarray(values[self.drawn.layer])[order])
            if self.drawn.subsets:
                self._keep_last(self._coefficients, runs, steps, np.asarray(values["support_fourier"])[order])
            for i, (run, step) in enumerate(zip(runs.tolist(), steps.tolist(), strict=True)):
                if run in self._line:
                    point = [run, step, *(number(column[i]) for column in columns)]
                    if step % self.drawn.every:
                        self._ends[run] = point
                    else:
                        self._lines.append(point)

    @staticmethod
    def _keep_last(
        kept: dict[int, tuple[int, np.ndarray]], runs: np.ndarray, steps: np.ndarray, values: np.ndarray
    ) -> None:
        for run, step, value in zip(runs.tolist(), steps.tolist(), values, strict=True):
            known = kept.get(run)
            if known is None or known[0] <= step:
                kept[run] = (step, np.array(value))

    def ended(
        self, runs: Int[np.ndarray, " some"], outcome: Int[np.ndarray, " some"], step: Int[np.ndarray, " some"]
    ) -> None:
        with self._lock:
            self._outcome[runs], self._step[runs] = outcome, step

    # What is asked by whoever looks.

    @property
    def phase(self) -> str:
        """What goes on: one of `compiling`, `training`, `paused`, `ended`, `stopped`, `failed`."""
        return "ended"

    @property
    def sentence(self) -> str:
        """What there is to say beside the numbers."""
        return ""

    @property
    def seconds_taken(self) -> float:
        """Since training began."""
        return 0.0

    def look_at(self, run: Any, neuron: Any) -> None:
        """Chooses whose weights, coefficients and gradient are shown."""
        runs, neurons = len(self.drawn.names), max(1, self.drawn.neurons)
        if type(run) is not int or type(neuron) is not int:
            raise ValueError(f"A run and a neuron are whole numbers, got {echo(run)} and {echo(neuron)}.")
        if not (0 <= run < runs and 0 <= neuron < neurons):
            raise ValueError(f"There are runs 0 to {runs - 1} and neurons 0 to {neurons - 1}, got {run} and {neuron}.")
        self.watched, self.neuron = run, neuron

    def about(self) -> dict[str, Any]:
        """What does not change while they train."""
        return {
            "runs": len(self.drawn.names),
            "steps": self.drawn.steps,
            "every": self.drawn.every,
            "curves": [*self.drawn.curves],
            "neurons": self.drawn.neurons,
            "groups": self.groups,
            "group_of": self._group.tolist(),
            "names": self.drawn.names,
        }

    def document(self, since: int) -> tuple[dict[str, Any], int]:
        """All that is to be shown now, with the lines' points from the given one on; and how many there are."""
        phase = self.phase  # asked before the numbers are taken: of what is over all are there
        with self._lock:
            for run in [run for run in self._ends if self._outcome[run] != Outcome.RUNNING]:
                self._lines.append(self._ends.pop(run))
            values, step, outcome = self._values.copy(), self._step.copy(), self._outcome.copy()
            lines = self._lines[since:]
            weights, coefficients = self._weights.get(self.watched), self._coefficients.get(self.watched)
        shown: dict[str, Any] = {
            "phase": phase,
            "sentence": self.sentence,
            "seconds": self.seconds_taken,
            "finished": int(np.sum(outcome != Outcome.RUNNING)),
            "learned": int(np.sum(outcome == Outcome.LEARNED)),
            "groups": [self._group_now(self._group == i, values, step, outcome) for i in range(len(self.groups))],
            "lines": lines,
        }
        if weights is not None:
            shown |= {"weights": self._shown_weights(*weights), "gap": self._gap_at(*weights)}
        if coefficients is not None:
            shown["fourier"] = self._shown_coefficients(*coefficients)
        return shown, since + len(lines)

    def _group_now(
        self,
        mine: np.ndarray,
        values: Float[np.ndarray, "curves runs rows"],
        step: Int[np.ndarray, " runs"],
        outcome: Int[np.ndarray, " runs"],
    ) -> dict[str, Any]:
        """The runs of one group: bands of what they record, and when they learned."""
        every = self.drawn.every
        ended, last = outcome[mine] != Outcome.RUNNING, -(-step[mine] // every)
        reach = int(last.max(initial=0)) + 1
        kept = values[:, mine, :reach]
        stays = ended[:, None] & (np.arange(reach) > last[:, None])
        kept = np.where(stays, np.take_along_axis(kept, np.minimum(last, reach - 1)[None, :, None], axis=2), kept)
        if len(kept):
            there = np.sum(~np.isnan(kept[0]), axis=0)
            kept = kept[:, :, : int(np.max(np.flatnonzero(there >= ENOUGH * there[0]), initial=0)) + 1]
        words = np.array([each.word for each in Outcome])
        times = censored_times(pd.DataFrame({"outcome": words[outcome[mine]], "steps": step[mine]}))
        return {
            "runs": int(mine.sum()),
            "learned": int(times.learned.sum()),
            "median": number(times.quantile(0.5)),
            "steps": (np.arange(kept.shape[2]) * every).tolist(),
            "reach": int(step[mine].max(initial=0)),
            "bands": {name: numbers(bands(each, BAND)) for name, each in zip(self.drawn.curves, kept, strict=True)},
            "survival": learned_by_step(times),
        }

    def _shown_weights(self, step: int, weights: np.ndarray) -> dict[str, Any]:
        rows = weights[:, :-1] if self.drawn.layer == "neurons" else weights
        return {"run": self.watched, "step": step, "relevant": self.relevant(self.watched), "rows": numbers(rows)}

    def _shown_coefficients(self, step: int, coefficients: np.ndarray) -> dict[str, Any]:
        support = self.relevant(self.watched)
        subsets = [[support[i] for i in subset if i < len(support)] for subset in self.drawn.subsets]
        return {"run": self.watched, "step": step, "subsets": subsets, "values": numbers(coefficients)}

    def relevant(self, run: int) -> list[int]:
        """The coordinates that the labels of a run depend on, where they are marked."""
        return []

    def _gap_at(self, step: int, weights: np.ndarray) -> dict[str, Any] | None:
        """The exact gradient of the neuron that is looked at, if one is there."""
        return None
