"""`Sweep`: many plans and calls, done once, kept in a store."""

import dataclasses
import functools
import itertools
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int

from ..brief import brief
from ..demands import check_function, check_kind, check_whole, echo
from ..interruptions import hears_once
from ..progress import SweepStatus, sweep_bar
from ..tables import Summary, html_table, sentence_html, shown
from ..training.checks import check_column_names
from ..training.plans import Plan
from ..training.summaries import RESULT_COLUMNS
from ..training.views import View, Viewed
from .executors import given_or_local, places
from .rows import curves_of, joined, table_of, with_column, without_empty
from .schedule import Failure, Job, Scheduler, check_limits, jobs_of
from .store import Store
from .workloads import AbstractWorkload, Call, CallWorkload, TrainingWorkload, column, workloads_of

SHOWN = 10
"""Rows of a table of calls that a notebook shows."""
READINGS = 3
"""How often a sweep is done again because what was just written could not be read."""


LAST = ("run", "job", "worker")
"""Columns that stand behind all others in tables for people: hashes and the like."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Results(Viewed):
    """The rows of a sweep's runs, in its order, with its labels."""

    arrow: pa.Table
    missing: int
    """How many runs are not there. Those of training have a row all the same, and the outcome `not_started`."""
    failures: tuple[Failure, ...] = ()
    labels: tuple[str, ...] = ()
    """What tells the runs of training apart but for their seeds."""

    def table(self) -> pd.DataFrame:
        """One row per run (or several, of a call): what it was and how it ended. Labels come first, hashes last."""
        table = table_of(self.arrow)
        first = [name for name in (*self.labels, "seed") if name in table]
        last = [name for name in LAST if name in table]
        return table[[*first, *(name for name in table if name not in {*first, *last}), *last]]

    def summary(self, *names: str) -> Summary:
        if "outcome" not in self.arrow.column_names:
            raise ValueError("A summary is of runs that were trained, and there is none.")
        return super().summary(*names)

    summary.__doc__ = Viewed.summary.__doc__

    def curves(self) -> pd.DataFrame:
        """What was recorded: one row per run and recorded step."""
        return curves_of(self.arrow)

    def part(self, label: str, value: str) -> "Results":
        """The runs with this label, without the columns that only others have; for sweeps of several kinds of runs."""
        return Results(_own_columns(self.arrow.filter(pc.equal(self.arrow.column(label), value))), 0)

    @property
    def recorded(self) -> bool:
        """Whether records were kept."""
        return "recorded_step" in self.arrow.column_names

    def _view(self) -> View:
        table = self.table()
        if "outcome" not in table:
            raise ValueError("Curves and maps are of runs that were trained, and there is none. Draw table().")
        return View(table, self.labels, self.recorded, self.curves)

    def _arrow(self) -> pa.Table:
        return self.arrow

    def _sentence(self) -> str:
        missing = f" {self.missing:,} of them are missing." if self.missing else ""
        if "outcome" not in self.arrow.column_names:
            return f"{len(self.arrow):,} rows of calls." + missing
        return super()._sentence() + "." + missing

    def _repr_html_(self) -> str:
        if "outcome" in self.arrow.column_names:
            return super()._repr_html_()
        return sentence_html(self._sentence()) + html_table(*_cells_of(self.table().head(SHOWN)))

    def __repr__(self) -> str:
        return f"Results({self._sentence()})"


class SweepFailed(RuntimeError):
    """No run of a sweep could be done."""


class Sweep:
    """Plans of training and calls of functions, of any number of shapes.

    >>> import paritylab as pl
    >>> task = pl.Uniform(pl.Parity(10, (0, 1)))
    >>> sweep = Sweep(pl.plan(task, pl.MLP(width), seeds=3, labels={"width": width}) for width in (10, 20))
    >>> len(sweep), [len(work) for work in sweep.works]  # runs, and how many of each shape
    (6, [3, 3])
    """

    def __init__(self, parts: Iterable[Plan | Call]):
        check_kind("parts", parts, Iterable, "a sequence of plans and calls")
        self.parts = tuple(parts)
        if wrong := [part for part in self.parts if not isinstance(part, Plan | Call)]:
            raise TypeError(f"A sweep is made of plans and calls, plan(...) or Call(f, ...), got {echo(wrong[0])}.")
        if any(isinstance(part, Plan) and part.cells[0].keep for part in self.parts):
            raise ValueError(
                "A store keeps no networks, got a plan with keep=True. Record what you need of them (`Weights`, or a "
                "record of your own), or train with `train`."
            )

    @classmethod
    def over(cls, make: Callable[..., Plan | Call], /, **axes: Iterable[Any]) -> "Sweep":
        """The plan or call of every combination of the axes' values, which are columns of its runs.

        >>> import paritylab as pl
        >>> task = pl.Uniform(pl.Parity(10, (0, 1)))
        >>> make = lambda width, batch: pl.plan(task, pl.MLP(width), batch=batch, seeds=3)
        >>> sweep = pl.Sweep.over(make, width=[10, 20], batch=[8, 32])
        >>> len(sweep), sweep.parts[1].columns["batch"].tolist()
        (12, [32, 32, 32])
        """
        check_function("make", make, "lambda width, batch: plan(task, MLP(width), batch=batch)")
        for name, each in axes.items():
            if isinstance(each, str) or not isinstance(each, Iterable):
                raise TypeError(f"An axis is a sequence of values, such as {name}=[10, 100], got {name}={echo(each)}.")
        values = {name: [*each] for name, each in axes.items()}
        if empty := [name for name, each in values.items() if not each]:
            raise ValueError(f"An axis has at least one value, got {empty[0]}=[].")
        points = (dict(zip(values, point, strict=True)) for point in itertools.product(*values.values()))
        return cls(_labelled(make(**point), point) for point in points)

    @functools.cached_property
    def works(self) -> list[AbstractWorkload]:
        return workloads_of(self.parts)

    def __len__(self) -> int:
        return sum(len(work) for work in self.works)

    def jobs(self, platform: str | None = None, runs_per_job: int | None = None) -> list[Job]:
        """All runs, cut into jobs for a kind of device (this machine's if none is given)."""
        if runs_per_job is not None:
            check_whole("runs_per_job", runs_per_job)
        if runs_per_job is not None and runs_per_job < 1:
            raise ValueError(f"A job holds at least one run, got runs_per_job={runs_per_job}.")
        return jobs_of(self.works, platform or places()[0].platform, runs_per_job)

    def run(
        self,
        store: Store | str | os.PathLike[str],
        *,
        executor: Executor | None = None,
        runs_per_job: int | None = None,
        attempts: int = 3,
        job_timeout: int | float | None = None,
        watch: Callable[[SweepStatus], None] | bool | None = None,
        check: bool = True,
    ) -> Results:
        """Does what is missing in the store and gives back all. Running it again is a no-op.

        A job that fails stops no other: at the end there is a warning, or `SweepFailed` if no run at all is there.

        - `executor`: any `concurrent.futures.Executor`; local processes, one per core or up to six per GPU, if none
          is given.
        - `attempts`: how often a job that fails is tried.
        - `job_timeout`: the most seconds that a job may take once a worker has it. One that takes longer has failed.
          Its process is killed if it is a local one; other executors are left to themselves with it.
        - `watch`: called several times a second with a `SweepStatus`. If there is none, a progress bar is shown where
          standard error is a terminal or a notebook; `watch=False` turns that off.
        - `check`: raise `SweepFailed` if every job failed, and warn if some did; what failed is in the results'
          `failures` in any case.
        """
        check_limits(attempts, job_timeout)
        if executor is not None:
            check_kind("executor", executor, Executor, "an executor of concurrent.futures, such as LocalPool()")
        jobs = self.jobs(getattr(executor, "platform", None), runs_per_job)
        check_kind("store", store, (Store, str, os.PathLike), "a store or its folder")
        store = store if isinstance(store, Store) else Store.create(store)
        results = None if self._missing(store) else self.results(store)
        if results is not None and not results.missing:
            return results
        with hears_once(), given_or_local(executor) as hands, sweep_bar(quiet=watch not in (None, True)) as bar:
            tell = watch if callable(watch) else bar
            for _ in range(READINGS):  # a shard that turns out to be damaged when it is read is done again
                scheduler = Scheduler([jobs], store, hands, attempts=attempts, job_timeout=job_timeout, watch=tell)
                results = self.results(store, scheduler.run())
                if not results.missing or results.failures:
                    break
        assert results is not None
        if check and results.missing:
            self._complain(results, store)
        return results

    def _complain(self, results: Results, store: Store) -> None:
        """Raises if nothing came out, and warns if some runs are missing."""
        if results.failures:
            why = f"failed jobs: {len(results.failures)}, the first with {results.failures[0].reason}"
            where = f"the tracebacks are in {store.folder / 'failures'}"
        else:
            why, where = "no job failed, but what was written could not be read", f"see {store.folder / 'aside'}"
        if results.missing == len(self):
            raise SweepFailed(f"No run of this sweep is there ({why}); {where}. Mend what is wrong and run it again.")
        warnings.warn(f"{results.missing} of {len(self)} runs are missing ({why}); {where}.", stacklevel=3)

    def results(self, store: Store, failures: Iterable[Failure] = ()) -> Results:
        """What the store has of this sweep, done or not."""
        store.refresh()
        names = [name for work in self.works for name in work.names]
        raced = [name for work in self.works for name in work.raced_names]
        absent = set(store.missing(names))
        # A run that was given up in a race, and done for another purpose, is known in full.
        known = [other if i in absent else name for i, (name, other) in enumerate(zip(names, raced, strict=True))]
        gone, first, parts = np.array(store.missing(known), int), 0, [store.rows(known)]
        for work in self.works:
            if isinstance(work, TrainingWorkload):
                parts.append(work.not_started(gone[(first <= gone) & (gone < first + len(work))] - first))
            first += len(work)
        everything = joined({str(place): rows for place, rows in enumerate(parts)})
        rows, places = _rows_of(known, everything.column("run").to_pylist())
        table = _own_columns(self._labelled(everything.take(rows), places))
        trained = (work.plan for work in self.works if isinstance(work, TrainingWorkload))
        labels = dict.fromkeys(name for plan in trained for name in plan.columns if name != "seed")
        return Results(table, self._missing(store), tuple(failures), tuple(labels))

    def _missing(self, store: Store) -> int:
        return sum(len(work.missing(store)) for work in self.works)

    def _labelled(self, rows: pa.Table, place: np.ndarray) -> pa.Table:
        """A run may have been done for another sweep, with other labels: those of this one count."""
        labels: dict[str, np.ndarray] = {}
        done = 0
        for work in self.works:
            for name, values in _labels(work).items():
                labels.setdefault(name, np.full(len(self), None))[done : done + len(work)] = values
            done += len(work)
        for name, values in labels.items():
            argument = np.concatenate([np.full(len(work), name in _arguments(work)) for work in self.works])[place]
            values = values[place]
            if argument.any():
                values = np.where(argument, np.array(rows.column(name).to_pylist(), object), values)
            rows = with_column(rows, name, column(values))
        return rows


def _rows_of(known: list[str], runs: list[str]) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]:
    """The rows of each run of a sweep, in its order, and its place; a run that it has twice has its rows twice."""
    wanted = pd.DataFrame({"run": known, "place": np.arange(len(known))})
    pairs = wanted.merge(pd.DataFrame({"run": runs, "row": np.arange(len(runs))}), on="run")
    return pairs["row"].to_numpy(int), pairs["place"].to_numpy(int)


def _labels(work: AbstractWorkload) -> dict[str, np.ndarray]:
    """Those columns that a sweep's author chose."""
    if isinstance(work, TrainingWorkload):
        return work.plan.columns
    assert isinstance(work, CallWorkload)
    return {name: work.columns[name] for name in dict.fromkeys(name for call in work.calls for name in call.labels)}


def _arguments(work: AbstractWorkload) -> set[str]:
    """The names of the arguments of calls, which are no labels: they are the same in every sweep."""
    return {name for call in work.calls for name in call.configuration} if isinstance(work, CallWorkload) else set()


def _own_columns(table: pa.Table) -> pa.Table:
    """Columns of other sweeps in the same store are of no concern here. Runs of which none learned have their times."""
    ended = "outcome" in table.column_names and table.column("outcome").null_count < max(1, len(table))
    return without_empty(table, RESULT_COLUMNS if ended else ())


def _labelled(part: Any, point: Mapping[str, Any]) -> Any:
    """A part with the values of its axes as columns, before its own."""
    if not isinstance(part, Plan):
        return part  # the arguments of a call are columns; and what is no part is said where it is taken in
    plain = (bool, int, float, str)
    shown_as = {name: value if isinstance(value, plain) else brief(value) for name, value in point.items()}
    labels = {name: np.full(len(part), value) for name, value in shown_as.items() if name not in part.columns}
    check_column_names({name: value for name, value in shown_as.items() if name in labels}, decays=False)
    return dataclasses.replace(part, columns={**labels, **part.columns})


def _cells_of(table: pd.DataFrame) -> tuple[list[list[str]], list[str]]:
    """A table as it is shown."""
    rows = [[shown(value) for value in row] for row in table.itertuples(index=False, name=None)]
    return rows, [str(name) for name in table]
