"""What a worker can do: train runs of one shape together, or call a function on a configuration.

Each single run has a name, the hash of its own configuration, and gives rows of a table. A job takes
some runs of one work; the names do not depend on what else is in the job.
"""

import abc
import dataclasses
import functools
import hashlib
import itertools
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from jaxtyping import Int

from ..brief import brief
from ..demands import check_function, check_kind, echo
from ..runtime import make_room_for_programs
from ..training.plans import Cell, Plan
from ..training.rules.outcomes import Outcome
from ..training.runs import Runs
from .canonical_form import RESULTS, canonical, canonical_each, digest
from .rows import joined, with_plain_texts
from .store import Store

JOB_SECONDS = 30
"""About how long a job should take at most if every run takes all its steps; a full device comes first."""
BYTES_PER_SECOND = {"cpu": 1.5e10, "gpu": 3e12}
"""What one core or one GPU writes in training, within a factor of two for all shapes that were measured."""
COMPILE_SECONDS = {"cpu": 5.0, "gpu": 5.0}
"""Of a shape: 4 to 5 s of one core for networks of two layers, 10 s for a Transformer. The same is assumed for GPUs."""


OF_THE_STORE = ("run", "job", "device", "worker")
"""Columns that every table of a store has."""


class AbstractWorkload(abc.ABC):
    """Runs that can be done together."""

    @property
    @abc.abstractmethod
    def what(self) -> str:
        """One line for people: what is compiled, or called."""

    @functools.cached_property
    @abc.abstractmethod
    def names(self) -> list[str]:
        """The name of each run."""

    @functools.cached_property
    @abc.abstractmethod
    def columns(self) -> dict[str, np.ndarray]:
        """What tells the runs apart, for people."""

    @property
    def raced_names(self) -> list[str]:
        """The name of each run in case that it is given up in a race; another than `names` only where there is one."""
        return self.names

    def missing(self, store: Store, runs: Int[np.ndarray, " some"] | None = None) -> Int[np.ndarray, " fewer"]:
        """Those of some runs, or of all, that are still to be done."""
        runs = np.arange(len(self)) if runs is None else runs
        return runs[store.missing([self.names[run] for run in runs])]

    def end_of_job(self, last: int) -> int:
        """Where a job that could hold the runs up to `last` ends: what must be done together is not cut."""
        return min(last, len(self))

    @abc.abstractmethod
    def take(self, runs: Int[np.ndarray, " some"]) -> "AbstractWorkload":
        """Some of the runs."""

    @abc.abstractmethod
    def runs_per_job(self, platform: str) -> int:
        """How many runs a job should hold."""

    @abc.abstractmethod
    def seconds(self, platform: str) -> float:
        """How long all runs take at the most on one core or one GPU, roughly; NaN if nothing is known."""

    def compile_seconds(self, platform: str) -> float:
        """How long a worker that has not compiled the shape before needs for that, roughly."""
        return 0.0

    @abc.abstractmethod
    def form(self, platform: str) -> Hashable:
        """What a worker keeps for the next workload of the same form: the compiled program, or the function."""

    @abc.abstractmethod
    def configuration(self) -> list[Any]:
        """The canonical form of all configurations."""

    @abc.abstractmethod
    def perform(self) -> tuple[pa.Table, float]:
        """Does it all: the rows, with a column `run` of the names, and the seconds that it took."""

    def __len__(self) -> int:
        return len(self.names)


@dataclasses.dataclass(frozen=True, eq=False)
class TrainingWorkload(AbstractWorkload):
    """Runs of one shape, trained together."""

    plan: Plan

    @property
    def what(self) -> str:
        cell = self.plan.cells[0]
        return f"train {brief(cell.network)}, n={cell.problem.distribution.n}, batch={cell.batch}"

    @functools.cached_property
    def names(self) -> list[str]:
        cells = [digest({"train": form, "results": RESULTS}) for form in canonical_each(self.plan.cells)]
        seeds = zip(*(each.tolist() for each in self.plan.seeds), strict=True)
        return [
            hashlib.sha256(f"{cells[cell]} {target} {init} {data}".encode()).hexdigest()[:32]
            for cell, (target, init, data) in zip(self.plan.cell.tolist(), seeds, strict=True)
        ]

    @functools.cached_property
    def columns(self) -> dict[str, np.ndarray]:
        described = pd.DataFrame([describe(cell) for cell in self.plan.cells]).iloc[self.plan.cell]
        return {**{name: described[name].to_numpy() for name in described}, **self.plan.columns}

    @functools.cached_property
    def raced_names(self) -> list[str]:
        """A run that was given up is a result of its race alone: its name holds all who took part in it."""
        race = self.plan.race
        if race is None:
            return self.names
        names = np.array(self.names)
        against = [digest([share, *sorted(names[race == i])]) for i, share in enumerate(self.plan.shares)]
        return [f"{name}-{against[number]}" if number >= 0 else name for name, number in zip(names, race, strict=True)]

    def missing(self, store: Store, runs: Int[np.ndarray, " some"] | None = None) -> Int[np.ndarray, " fewer"]:
        """A race is run as a whole or not at all."""
        runs = np.arange(len(self)) if runs is None else runs
        race, raced = self.plan.race, self.raced_names
        missing = super().missing(store, runs)
        if race is None:
            return missing
        missing = missing[store.missing([raced[run] for run in missing])]
        again = (race[runs] >= 0) & np.isin(race[runs], race[missing])
        return runs[again | np.isin(runs, missing)]

    def not_started(self, absent: Int[np.ndarray, " absent"]) -> pa.Table:
        """A row for each of these runs."""
        columns = {"run": pa.array([self.raced_names[place] for place in absent], pa.string())}
        columns |= {name: column(values[absent]) for name, values in self.columns.items()}
        columns["outcome"] = pa.array([Outcome.NOT_STARTED.word] * len(absent), pa.string())
        columns |= {"converged_at": pa.nulls(len(absent), pa.int64()), "error": pa.nulls(len(absent), pa.float64())}
        return pa.table({**columns, "steps": pa.array(np.zeros(len(absent), np.int64))})

    def end_of_job(self, last: int) -> int:
        race = self.plan.race
        while race is not None and last < len(race) and race[last] == race[last - 1] >= 0:
            last += 1
        return super().end_of_job(last)

    def take(self, runs: Int[np.ndarray, " some"]) -> "TrainingWorkload":
        return TrainingWorkload(self.plan.take(runs))

    def runs_per_job(self, platform: str) -> int:
        lanes = self.plan.size(platform).lanes
        if platform == "cpu":  # elsewhere a program's lanes are in the device's memory
            self.plan.footprint(platform, 4 * lanes).check()
        in_time = JOB_SECONDS * len(self) / max(self.seconds(platform), 1e-9)
        return int(np.clip(in_time, lanes, 4 * lanes))

    def seconds(self, platform: str) -> float:
        steps = np.array([cell.steps for cell in self.plan.cells])[self.plan.cell].sum()
        return float(steps) * self.plan.size(platform).step_bytes / BYTES_PER_SECOND[platform]

    def compile_seconds(self, platform: str) -> float:
        return COMPILE_SECONDS[platform]

    def form(self, platform: str) -> Hashable:
        """Equal for shapes with one compiled program: with fused kernels those that differ in the batch alone."""
        size = self.plan.size(platform)
        arrays = tuple(tuple((leaf.shape, leaf.dtype) for leaf in leaves) for leaves in (size.own, size.common))
        return _number_of(size.program.form, arrays)

    def configuration(self) -> list[Any]:
        return [*canonical_each(self.plan.cells)]

    def perform(self) -> tuple[pa.Table, float]:
        started = time.perf_counter()
        runs = self.plan.run()
        if runs.interrupted:  # a store keeps no unfinished run
            raise KeyboardInterrupt
        seconds = time.perf_counter() - started
        return run_table(self, runs), seconds


_numbers = itertools.count()


@functools.cache
def _number_of(*form: Hashable) -> int:
    """The same number for the same form, in this process: schedulers compare forms often, and programs are large."""
    return next(_numbers)


def run_table(work: TrainingWorkload, runs: Runs) -> pa.Table:
    """One row per run: what it was, how it ended, and what was recorded as lists."""
    table = runs.table().drop(columns=list(runs.columns))
    names = np.where(table.outcome == Outcome.RACED_OUT.word, work.raced_names, work.names)
    columns = {"run": pa.array(names), **{name: column(values) for name, values in work.columns.items()}}
    columns |= {name: pa.array(table[name], from_pandas=True) for name in table}
    columns["lanes"] = pa.array(runs.lanes)
    if runs.recorded:
        columns |= lists(runs.curves(), len(runs))
    return pa.table(columns)


def lists(curves: pd.DataFrame, runs: int) -> dict[str, pa.Array]:
    """Curves as list columns: `recorded_step` and the records, one list per run."""
    ends = pa.array(np.searchsorted(curves.run.to_numpy(), np.arange(runs + 1)), pa.int32())
    names = list(curves.columns)[list(curves.columns).index("step") :]
    columns = {name: pa.ListArray.from_arrays(ends, nested(curves[name].to_numpy())) for name in names}
    return {"recorded_step": columns.pop("step"), **columns}


def nested(values: np.ndarray) -> pa.Array:
    """Numbers, or arrays of one shape (as lists of lists)."""
    if values.dtype != object:
        return pa.array(values)
    stacked = np.stack(list(values))
    flat = pa.array(stacked.reshape(-1))
    for size in stacked.shape[:0:-1]:
        flat = pa.FixedSizeListArray.from_arrays(flat, size)
    return flat


def column(values: np.ndarray) -> pa.Array:
    """A column for people; what is neither number, truth value nor text is written as text."""
    if values.dtype != object:
        return pa.array(values)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if (len(kinds) <= 1 and kinds <= {bool, int, float, str}) or kinds == {int, float}:
        return pa.array([float(value) if value is not None and float in kinds else value for value in plain])
    return pa.array([None if value is None else str(value) for value in plain])


def describe(cell: Cell) -> dict[str, Any]:
    """The configuration of a cell in a few columns; the whole of it is in the manifest."""
    return {
        "task": brief(cell.task),
        "n": cell.problem.distribution.n,
        "network": brief(cell.network),
        "loss": brief(cell.loss),
        "optimizer": brief(cell.optimizer.rule),
        "batch": cell.batch,
        "sample": cell.sample,
        "limit": cell.steps,
        "every": cell.every,
        "validation": cell.validation,
        "float64": cell.float64,
        **({} if cell.learned is None else {"learned": brief(cell.learned)}),
    }


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """A function with a name, called on a configuration: an audit, a margin, a bound.

    The function takes the configuration as keywords and returns a number (a row with the column `value`), a mapping
    (one row), or a list of them or a `pandas.DataFrame` (several). It must be pure: its results are kept under the
    configuration's name.
    """

    function: Callable[..., Any]
    configuration: Mapping[str, Any]
    labels: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seconds: int | float = float("nan")
    """How long it takes, if that is known; an estimate for people."""

    def __post_init__(self) -> None:
        check_function("function", self.function, "a function of a module")
        for name in ("configuration", "labels"):
            given = getattr(self, name)
            check_kind(name, given, Mapping, "names with values, such as {'n': 30}")
            if taken := [each for each in given if each in OF_THE_STORE]:
                raise ValueError(
                    f"Every table of a store has a column {taken[0]!r}, so no argument or label of a call can be "
                    "called that. Choose another name."
                )
        check_kind("seconds", self.seconds, (int, float), "a number of seconds")


@dataclasses.dataclass(frozen=True, eq=False)
class CallWorkload(AbstractWorkload):
    """Calls of one function."""

    calls: tuple[Call, ...]

    @property
    def what(self) -> str:
        function = self.calls[0].function
        return f"call {function.__module__}.{function.__qualname__}"

    @functools.cached_property
    def names(self) -> list[str]:
        return [
            digest({"call": canonical(call.function), "of": canonical(call.configuration), "results": RESULTS})
            for call in self.calls
        ]

    @functools.cached_property
    def columns(self) -> dict[str, np.ndarray]:
        rows = [{**call.configuration, **call.labels} for call in self.calls]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: _objects([row.get(name) for row in rows]) for name in names}

    def take(self, runs: Int[np.ndarray, " some"]) -> "CallWorkload":
        return CallWorkload(tuple(self.calls[run] for run in runs))

    def runs_per_job(self, platform: str) -> int:
        """Calls are held to be long; short ones go together as far as they say how short they are."""
        longest = max((call.seconds for call in self.calls), default=0.0)
        return max(1, int(JOB_SECONDS / 10 / longest)) if longest > 0 else 1

    def seconds(self, platform: str) -> float:
        return float(sum(call.seconds for call in self.calls))

    def form(self, platform: str) -> Hashable:
        return self.calls[0].function

    def configuration(self) -> list[Any]:
        return [canonical(call.configuration) for call in self.calls]

    def perform(self) -> tuple[pa.Table, float]:
        make_room_for_programs()
        started = time.perf_counter()
        tables = [_table(name, call) for name, call in zip(self.names, self.calls, strict=True)]
        return joined(dict(zip(self.names, tables, strict=True))), time.perf_counter() - started


def _objects(values: Sequence[Any]) -> np.ndarray:
    """A column of values as they are; numpy would make a matrix of tuples."""
    made = np.empty(len(values), object)
    made[:] = list(values)
    return made


def _table(name: str, call: Call) -> pa.Table:
    """The rows of one call, with its configuration where the function does not give a column of that name."""
    frame = _frame(call.function(**call.configuration), call)
    rows = len(frame)
    if not rows:  # a store knows what is done by its rows
        what = f"{call.function.__qualname__}({', '.join(f'{k}={v!r}' for k, v in call.configuration.items())})"
        raise ValueError(f"{what} gave no rows. A call gives at least one; say with a column that there is nothing.")
    given_names = [str(label) for label in frame]
    if taken := [label for label in given_names if label in (*OF_THE_STORE, *call.labels)]:
        why = "is a label of the call" if taken[0] in call.labels else "is in every table of a store"
        raise ValueError(f"{call.function.__qualname__} gave a column {taken[0]!r}, which {why}. Choose another name.")
    columns: dict[str, pa.Array] = {"run": pa.array([name] * rows, pa.string())}
    for label, value in {**call.configuration, **call.labels}.items():
        columns[label] = column(_objects([value] * rows))
    columns |= {str(label): pa.array(frame[label], from_pandas=True) for label in frame}
    return with_plain_texts(pa.table(columns))


def _frame(given: Any, call: Call) -> pd.DataFrame:
    """What a call gave, as rows."""
    if isinstance(given, pd.DataFrame):
        return given
    if np.ndim(given) == 0 and np.asarray(given).dtype.kind in "biuf":
        given = {"value": np.asarray(given).item()}
    if given is None or isinstance(given, str | bytes):
        raise TypeError(
            f"{call.function.__qualname__} gives a number, a mapping, a list of mappings or a DataFrame, "
            f"got {echo(given)}."
        )
    return pd.DataFrame([given] if isinstance(given, Mapping) else given)


def workloads_of(parts: Iterable[Plan | Call]) -> list[AbstractWorkload]:
    """Parts grouped by what can be done together, in the order in which they first occur."""
    groups: dict[Any, list[Any]] = {}
    for part in parts:
        groups.setdefault(part.cells[0].shape if isinstance(part, Plan) else part.function, []).append(part)
    return [
        TrainingWorkload(Plan.merged(group)) if isinstance(group[0], Plan) else CallWorkload(tuple(group))
        for group in groups.values()
    ]
