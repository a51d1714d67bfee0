"""Jobs, and one process that sees to it that all of them get done.

The scheduler holds the leases and writes the store; workers only compute, so a worker needs neither
the store's folder nor any memory of what was done before.
"""

import itertools
import math
import os
import socket
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from ..demands import check_whole
from ..manifest import manifest
from ..progress import SweepStatus, counted
from .canonical_form import digest
from .executors import JobTimeout, LocalPool, WorkerError, WorkersCannotStart, WorkStopped, submit_within
from .pickling import pack, unpack
from .store import Store
from .workloads import AbstractWorkload

FLAGS = ("XLA_FLAGS", "JAX_PLATFORMS", "JAX_ENABLE_X64", "JAX_DEFAULT_MATMUL_PRECISION")
POLL_SECONDS, LOOK_SECONDS = 0.2, 5.0
"""How long to wait for workers at a time, and how often to look, besides, at what others hold."""
SILENT_SECONDS = 4.0
"""How long this process waits for others before it says so."""


class Job(NamedTuple):
    """Some runs of one work. The name depends on which they are, not on which of them are missing."""

    name: str
    work: AbstractWorkload
    runs: Int[np.ndarray, " runs"]
    form: Hashable
    """That of the work on the platform that the jobs are cut for."""


class JobQueue:
    """Jobs in the order in which they came, by their forms."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[tuple[int, Job]]] = {}
        self._places = itertools.count()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def extend(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            self._waiting.setdefault(job.form, deque()).append((next(self._places), job))

    def take(self, compiled: Set[Hashable] = frozenset(), begun: Set[Hashable] = frozenset()) -> Job:
        """The first job of a form that is compiled; else of one that is not begun; else the first of all."""
        forms = [form for form in self._waiting if form in compiled]
        forms = forms or [form for form in self._waiting if form not in begun] or [*self._waiting]
        form = min(forms, key=lambda form: self._waiting[form][0][0])
        _, job = self._waiting[form].popleft()
        if not self._waiting[form]:
            del self._waiting[form]
        return job


def jobs_of(works: Sequence[AbstractWorkload], platform: str, runs_per_job: int | None = None) -> list[Job]:
    """All runs, cut into jobs; the same for everyone who asks, so that leases on jobs have a meaning.

    The longest come first, so that none of them is left at the end with one worker.
    """
    jobs, lengths = [], []
    for work in counted(works, "shapes are cut into jobs"):
        size = work.runs_per_job(platform) if runs_per_job is None else runs_per_job
        seconds, form = np.nan_to_num(work.seconds(platform)) / max(len(work), 1), work.form(platform)
        first = 0
        while first < len(work):
            runs = np.arange(first, work.end_of_job(first + size))
            jobs.append(Job(digest([work.raced_names[run] for run in runs]), work, runs, form))
            lengths.append(float(seconds) * len(runs))
            first += len(runs)
    return [jobs[place] for place in sorted(range(len(jobs)), key=lambda place: -lengths[place])]


def perform(name: str, parcel: bytes, names: list[str]) -> tuple[pa.Table, dict[str, Any]]:
    """What a worker does: the rows of a job, and where they come from. `names` are those of its runs to who asks."""
    started, begun = time.time(), time.perf_counter()
    work: AbstractWorkload = unpack(parcel)
    if work.names != names:
        raise OtherCode(
            "A worker has other code than the process that sent it the job: a file was edited in between, or it is "
            "another copy. Start again, long-lived workers too."
        )
    table, training_seconds = work.perform()
    origin = manifest()
    worker = f"{socket.gethostname()}:{os.getpid()}"
    for label, value in (("job", name), ("device", origin["device"]), ("worker", worker)):
        table = table.append_column(label, pa.array([value] * len(table), pa.string()))
    return table, {
        "job": name,
        "what": work.what,
        "runs": len(work),
        **origin,
        "flags": {flag: os.environ[flag] for flag in FLAGS if flag in os.environ},
        "worker": worker,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "training_seconds": training_seconds,
        "seconds": time.perf_counter() - begun,
        "configuration": work.configuration(),
    }


class Failure(NamedTuple):
    """A job that was given up."""

    job: str
    runs: int
    attempts: int
    traceback: str

    @property
    def reason(self) -> str:
        """What went wrong, in one line: the last of the traceback."""
        return self.traceback.strip().splitlines()[-1]


class StoreCannotBeWritten(WorkStopped):
    """No further result could be kept."""


class OtherCode(RuntimeError):
    """A worker would compute something else than what it was asked for."""


def workers_of(executor: Executor) -> int:
    """How many jobs an executor can do at a time, as far as it tells."""
    known: int | None = getattr(executor, "workers", None) or getattr(executor, "_max_workers", None)
    return known or os.cpu_count() or 1


def check_limits(attempts: int, job_timeout: int | float | None) -> None:
    """Says what is wrong with the limits of a job."""
    check_whole("attempts", attempts, 1)
    if job_timeout is not None and not 0 < job_timeout < math.inf:
        raise ValueError(
            f"The time limit of a job is a number of seconds above 0, got {job_timeout}. Leave it out for none."
        )


class Scheduler:
    """Hands jobs to an executor and their rows to the store.

    Jobs come in lots: the next lot is asked for when a worker has nothing to do. A job that an earlier lot held is
    not done again. Local workers keep to the forms that they have compiled as long as there are jobs of them.
    """

    def __init__(
        self,
        lots: Iterable[list[Job]],
        store: Store,
        executor: Executor,
        *,
        attempts: int = 3,
        job_timeout: int | float | None = None,
        watch: Callable[[SweepStatus], None] | None = None,
    ):
        check_limits(attempts, job_timeout)
        self.store, self.executor, self._watch = store, executor, watch
        self.attempts, self.job_timeout = attempts, job_timeout
        self.queue, self.elsewhere = JobQueue(), deque[Job]()
        self.busy: dict[Future[Any], tuple[Job, int, int | None]] = {}
        """Each job that is under way, how many of its runs are done, and by which worker of a `LocalPool`."""
        self.failed: list[Failure] = []
        self._tries: dict[str, int] = {}
        self._lots = iter(lots)
        self._runs, self._left = 0, dict[str, int]()
        self._begun, self._computed = time.monotonic(), 0
        self._looked = self._begun
        """When the jobs of others were looked at."""
        self._idle_since: float | None = None
        """Since when there is nothing to do here but wait for others."""
        self._waiting, self._said = 0, False
        """How many runs are waited for, and whether that was said."""

    def run(self) -> list[Failure]:
        """Until every job is in the store or was given up, by this process or another; what was given up."""
        for _ in self.rounds():
            pass
        return self.failed

    def rounds(self) -> Generator[None, None, None]:
        """The same, but the caller is asked to go on several times a second, and after each lot that came."""
        try:
            while self._ask() or self.queue or self.busy or self.elsewhere:
                self._submit()
                self._mind_others()
                self._collect()
                self._tell()
                yield
        finally:
            for future in self.busy:
                future.cancel()
            for name in filter(self.store.leases.holds, self._left):  # Ctrl-C may come right after one was taken
                self.store.leases.give_back(name)

    def through(self, jobs: list[Job]) -> bool:
        """Whether all of these jobs are in the store or were given up."""
        return not any(self._left[job.name] for job in jobs)

    def _ask(self) -> bool:
        """Whether a worker had nothing to do and there was another lot, which is in the queue now."""
        if self.queue or len(self.busy) >= workers_of(self.executor) or (lot := next(self._lots, None)) is None:
            return False
        new = [job for job in lot if job.name not in self._left]
        self.queue.extend(new)
        self._left |= {job.name: len(job.runs) for job in new}
        self._runs += sum(len(job.runs) for job in new)
        return True

    def _submit(self) -> None:
        """Keeps every worker busy."""
        while self.queue and len(self.busy) < workers_of(self.executor):
            job, worker = self._next()
            if not len(self._missing(job)):
                self._left[job.name] = 0
            elif not self._lease(job):
                self.elsewhere.append(job)
            elif not len(part := self._missing(job, fresh=True)):  # another finished it just before
                self.store.leases.give_back(job.name)
                self._left[job.name] = 0
            else:
                call = (perform, job.name, pack(job.work.take(part)), [job.work.names[run] for run in part])
                future = submit_within(self.executor, self.job_timeout, *call, worker=worker, form=job.form)
                self.busy[future] = job, len(part), worker

    def _next(self) -> tuple[Job, int | None]:
        """The next job, and the idle worker that should have it, where workers are known: compiling takes seconds."""
        if not isinstance(self.executor, LocalPool):
            return self.queue.take(), None
        had, busy = self.executor.had, {worker for _, _, worker in self.busy.values()}
        idle = [worker for worker in range(len(had)) if worker not in busy]
        begun = {job.form for job, _, _ in self.busy.values()}.union(*had)
        job = self.queue.take(frozenset[Hashable]().union(*(had[worker] for worker in idle)), begun)
        return job, min(idle, key=lambda worker: (job.form not in had[worker], len(had[worker])))

    def _mind_others(self) -> None:
        """Says it once if all that is left has been in the hands of other processes for a while."""
        if self.busy or not self.elsewhere:
            self._idle_since, self._waiting = None, 0
            return
        now = time.monotonic()
        self._idle_since = self._idle_since or now
        self._waiting = sum(self._left[job.name] for job in self.elsewhere)
        if self._said or now < self._idle_since + SILENT_SECONDS:
            return
        self._said = True
        what = list(dict.fromkeys(job.work.what for job in self.elsewhere))
        more = f" and {len(what) - 1} more" if len(what) > 1 else ""
        print(
            f"paritylab: Waiting for {self._waiting} runs ({what[0]}{more}) that another process has in hand, in the "
            f"store {self.store.folder}. If it ends without them, they are done here.",
            file=sys.stderr,
            flush=True,
        )

    def _missing(self, job: Job, fresh: bool = False) -> Int[np.ndarray, " runs"]:
        """The runs of a job that are missing."""
        if fresh:
            self.store.refresh()
        return job.work.missing(self.store, job.runs)

    def _lease(self, job: Job) -> bool:
        try:
            return self.store.leases.take(job.name)
        except OSError as error:
            raise self._cannot_write(error) from error

    def _collect(self) -> None:
        """Takes in what is done. What others hold is looked at again from time to time."""
        if self.elsewhere and not self.busy and not self.queue:
            time.sleep(POLL_SECONDS)
        if self.elsewhere and (not self.busy or time.monotonic() > self._looked + LOOK_SECONDS):
            self.store.refresh()
            self.queue.extend(self.elsewhere)
            self.elsewhere.clear()
            self._looked = time.monotonic()
        if not self.busy:
            return
        for future in wait(self.busy, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done:
            job, runs, _ = self.busy[future]
            if future.cancelled():
                workers_of(self.executor)  # raises if there are none any more
            error = CancelledError("The executor cancelled it.") if future.cancelled() else future.exception()
            if isinstance(error, WorkersCannotStart):
                raise error
            if error is None:
                self._keep(job, runs, *future.result())
            del self.busy[future]  # only now: until then an error above still gives the lease back
            self.store.leases.give_back(job.name)
            if error is not None:
                self._retry(job, runs, error)

    def _keep(self, job: Job, runs: int, table: pa.Table, origin: dict[str, Any]) -> None:
        try:
            self.store.add(table, origin)
        except OSError as error:
            raise self._cannot_write(error) from error
        self.store.forget_failure(job.name)
        self._computed += runs
        self._left[job.name] = 0

    def _cannot_write(self, error: OSError) -> StoreCannotBeWritten:
        return StoreCannotBeWritten(
            f"The store {self.store.folder} cannot be written ({error.strerror or error}). What was finished is kept; "
            "make room and run the same command again."
        )

    def _retry(self, job: Job, runs: int, error: BaseException) -> None:
        """A failed job goes to the end of the queue, up to a limit; nothing stops the others."""
        tries = self._tries[job.name] = self._tries.get(job.name, 0) + 1
        if isinstance(error, JobTimeout):
            limit = f"the {self.job_timeout:g} s that a job may take"
            text = f"JobTimeout: {job.work.what}, {runs} runs in one job, took longer than {limit}, and was ended."
        else:
            text = str(error) if isinstance(error, WorkerError) else "".join(traceback.format_exception(error))
        failure = Failure(job.name, len(job.runs), tries, text)
        self.store.note_failure(job.name, {"what": job.work.what, **failure._asdict()})
        if tries < self.attempts:
            self.queue.extend([job])
        else:
            self.failed.append(failure)
            self._left[job.name] = 0

    def _tell(self) -> None:
        if self._watch is None:
            return
        left = sum(self._left.values())
        elapsed = time.monotonic() - self._begun
        estimate = elapsed * left / self._computed if self._computed else float("nan")
        self._watch(SweepStatus(self._runs - left, self._runs, len(self.failed), estimate, self._waiting))
