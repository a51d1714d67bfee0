"""Who does the work: local processes by default, or any `concurrent.futures.Executor`."""

import contextlib
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait as wait_for
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from ..runtime import cores, gpus
from .keeper import Keeper
from .pickling import pack, unpack


class Place(NamedTuple):
    """Where one worker works: a core or a GPU, by number."""

    platform: str
    number: int


MOST_ON_A_GPU, MEMORY_OF_ONE = 6, 16 * 2**10
"""Workers that share a GPU at the most, and the MiB that each should have. Small programs leave most of a GPU idle."""


def places() -> list[Place]:
    """One or more places per GPU that JAX can use, else one per core.

    One worker compiles while another trains, so a large GPU has several. JAX itself is not asked: it
    would seize the GPUs.
    """
    seats = [gpu for gpu in gpus() for _ in range(workers_on(gpu))]
    return [Place("gpu", gpu) for gpu in seats] or [Place("cpu", core) for core in cores()]


@functools.cache
def workers_on(gpu: int) -> int:
    """As many as its memory allows; one where that is not known."""
    ask = ["nvidia-smi", f"--id={gpu}", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(ask, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return 1
    return min(MOST_ON_A_GPU, max(1, int(told) // MEMORY_OF_ONE)) if told.isdigit() else 1


class WorkerLost(BrokenExecutor):
    """A worker ended in the middle of a job."""


class WorkerError(Exception):
    """What went wrong inside a worker, with its traceback as text."""


class JobTimeout(Exception):
    """A call took longer than it may."""


class WorkStopped(RuntimeError):
    """No further job can be done, so there is no use in trying again; what was finished is kept."""


class WorkersCannotStart(WorkStopped):
    """No worker process can do anything here."""


WORKER, UNGUARDED = "paritylab worker", 77
"""The name of worker processes, and the exit code of one that finds itself running the script that started it."""
GUARD = 'Put what starts the workers under `if __name__ == "__main__":` in a file, and run that.'


def check_main() -> None:
    """Workers import the main module, as all spawned processes of Python do: says where that cannot go well."""
    if multiprocessing.current_process().name == WORKER and multiprocessing.parent_process() is None:
        raise SystemExit(UNGUARDED)  # this is a worker that imports the main module; its parent says what is wrong
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if main.__spec__ is None and file is not None and not Path(file).exists():
        raise WorkersCannotStart(f"Worker processes import the main module, and {file!r} is no file. {GUARD}")


class LocalPool(Executor):
    """Spawned processes, one per place, which end with their parent.

    Each keeps what it has compiled from one call to the next. One that is killed costs the call that
    it was busy with (`WorkerLost`); the next call starts another.
    """

    def __init__(self, at: list[Place] | None = None):
        check_main()
        self.places = places() if at is None else at
        self.platform = self.places[0].platform
        self._threads = ThreadPoolExecutor(len(self.places))
        self._keeper = Keeper()
        share = 1 if self.platform == "cpu" else max(1, len(cores()) // len(self.places))
        self._members = [_Member(place, share, self._keeper) for place in self.places]
        self._idle, self._lock = [*self._members], threading.Lock()

    @property
    def workers(self) -> int:
        return len(self.places)

    @property
    def had(self) -> list[frozenset[Hashable]]:
        """The forms of the calls that each worker has answered, and so has compiled, since it was started."""
        return [member.had for member in self._members]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._threads.submit(self._call, None, (fn, args, kwargs))

    def submit_within(
        self,
        seconds: int | float | None,
        fn: Callable[..., Any],
        /,
        *args: Any,
        worker: int | None = None,
        form: Hashable = None,
    ) -> Future[Any]:
        """The same for a call that may take so many seconds once a worker has it; then the worker is killed.

        The call goes to the `worker` of that number if it is idle. Its `form` says what will be compiled for it.
        """
        return self._threads.submit(self._call, seconds, (fn, args, {}), worker, form)

    def _call(
        self, seconds: int | float | None, call: tuple[Any, ...], worker: int | None = None, form: Hashable = None
    ) -> Any:
        member = self._take_idle(worker)
        try:
            return member.call(pack(call), seconds, form)  # what cannot be sent is said before it is sent
        finally:
            with self._lock:
                self._idle.append(member)

    def _take_idle(self, worker: int | None) -> "_Member":
        """The member of that number if it is idle, else the one that has been idle longest."""
        wanted = None if worker is None else self._members[worker]
        with self._lock:  # there are as many threads as members, so one is idle
            return self._idle.pop(self._idle.index(wanted) if wanted in self._idle else 0)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """With `cancel_futures`, calls that are under way are lost too: their workers are killed."""
        if cancel_futures:
            for member in self._members:
                member.end()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        for member in self._members:
            member.end()
        self._keeper.dismiss()


class _Member:
    """One worker process, started when it is first needed."""

    def __init__(self, place: Place, share: int, keeper: Keeper):
        self.place, self._share, self._keeper = place, share, keeper
        self._process: Any = None
        self._line: Connection | None = None
        self._ended = False
        self.had: frozenset[Hashable] = frozenset()
        """The forms that its process has compiled; replaced and never changed, since other threads read it."""

    def call(self, message: bytes, seconds: int | float | None, form: Hashable = None) -> Any:
        if self._process is None or not self._process.is_alive():
            self._start()
        late = threading.Event()
        try:
            with self._killed_after(seconds, late):
                good, value = self._answer(message)
        except (EOFError, OSError) as error:
            self.had, text = frozenset(), self._farewell()
            raise JobTimeout(text) if late.is_set() else WorkerLost(text) from error
        if not good:
            self.had -= {form}  # the next attempt is not drawn to where the last one failed
            raise WorkerError(value)
        if form is not None:
            self.had |= {form}
        return value

    @contextlib.contextmanager
    def _killed_after(self, seconds: int | float | None, late: threading.Event) -> Iterator[None]:
        """While this lasts the worker has so many seconds to live, if any number is given."""
        if seconds is None:
            yield
            return

        def kill() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # one that is just about to kill must not hit the next call

    def _start(self) -> None:
        if self._ended:
            raise WorkerLost("The pool was shut down.")
        self.had = frozenset()  # the last process may have ended while it was idle
        context = multiprocessing.get_context("spawn")
        # Its share of the cores, which the libraries count for themselves when they are loaded: six workers of a GPU
        # with 16 threads each for the products of a call kept each other, and the GPU, waiting.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", str(self._share))
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.place), name=WORKER, daemon=True)
        try:
            with _ctrl_c_blocked():
                self._process.start()
        except RuntimeError as error:  # this process was spawned itself and has not imported its main module yet
            raise WorkersCannotStart(f"A process that imports its main module starts no others. {GUARD}") from error
        finally:
            theirs.close()
        self._keeper.watch(self._process.pid)
        try:
            self._answer()
        except (EOFError, OSError):
            raise self._stillborn() from None

    def _answer(self, message: bytes | None = None) -> Any:
        """What the worker says next, in answer to a message if there is one; `EOFError` if it ends instead."""
        assert self._line is not None
        if message is not None:
            self._line.send_bytes(message)
        wait([self._line, self._process.sentinel])
        if not self._line.poll():
            raise EOFError
        return self._line.recv()

    def _stillborn(self) -> Exception:
        """Why a worker ended before it could take a call; one that was killed says nothing about the next."""
        text, code = self._farewell(), self._process.exitcode
        if code == UNGUARDED:
            return WorkersCannotStart(f"Worker processes import the main module, which would start them again. {GUARD}")
        if code is None or code < 0:
            return WorkerLost(text)
        return WorkersCannotStart(
            f"A worker process ended while it imported the main module (exit code {code}). {GUARD}"
        )

    def _farewell(self) -> str:
        self._process.join(5)
        return f"A worker process ended in the middle of a job (exit code {self._process.exitcode})."

    def end(self) -> None:
        self._ended = True
        if self._process is not None and self._process.is_alive():
            self._process.kill()
            self._process.join()


@contextlib.contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """In this thread, and for ever in the processes that it starts: Ctrl-C is their parent's to answer."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # once for all processes, and it would lift the block again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(line: Connection, place: Place) -> None:
    """The life of a worker: takes a call, answers it, until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be blocked
    threading.Thread(target=_end_with_parent, daemon=True).start()
    line.send("ready")
    if place.platform == "gpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = str(place.number)
        # JAX takes three quarters by itself; what is loaded takes room besides.
        os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{0.75 / workers_on(place.number):.3f}")
    elif hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):  # the core was taken from us meanwhile: any other is slower, and as good
            os.sched_setaffinity(0, {place.number})
    else:
        os.environ["PARITYLAB_CORES"] = "1"
    with contextlib.suppress(EOFError, OSError), ThreadPoolExecutor(1) as hands:
        while True:
            done = hands.submit(_do, line.recv_bytes())
            error = done.exception()  # whatever a job raises is an answer, and the worker lives on
            line.send((True, done.result()) if error is None else (False, "".join(traceback.format_exception(error))))


def _do(message: bytes) -> Any:
    fn, args, kwargs = unpack(message)
    return fn(*args, **kwargs)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def submit_within(
    executor: Executor,
    seconds: int | float | None,
    fn: Callable[..., Any],
    /,
    *args: Any,
    worker: int | None = None,
    form: Hashable = None,
) -> Future[Any]:
    """Hands a call to an executor. One that takes longer than the seconds that are given fails with `JobTimeout`.

    The `worker` that should have it, and its `form`, mean something to a `LocalPool` alone.
    """
    if isinstance(executor, LocalPool):
        return executor.submit_within(seconds, fn, *args, worker=worker, form=form)
    if seconds is None:
        return executor.submit(fn, *args)
    return executor.submit(within, seconds, fn, *args)


def within(seconds: int | float, fn: Callable[..., Any], /, *args: Any) -> Any:
    """What a function returns, if it does so in time.

    Workers that are not ours cannot be killed: what takes too long is left alone in its thread, and the worker is free.
    """
    answer: Future[Any] = Future()

    def work() -> None:
        try:
            answer.set_result(fn(*args))
        except BaseException as error:  # whatever it raises is an answer
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()  # a thread that the process need not wait for
    if not wait_for([answer], seconds).done:
        raise JobTimeout(f"Not done after {seconds:g} s.")
    return answer.result()


@contextlib.contextmanager
def executor_of(address: str | None, workers: int | None = None) -> Iterator[Executor]:
    """The executor that an address names: nothing for local processes, `dask://HOST:PORT` for a Dask cluster."""
    if address is not None:
        from .cluster import dask_executor

        with dask_executor(address) as executor:
            yield executor
        return
    at = places()
    if workers is not None and not 1 <= workers <= len(at):
        raise ValueError(f"This machine has places for 1 to {len(at)} workers (on cores or GPUs), got {workers}.")
    pool, well = LocalPool(at[:workers]), False
    try:
        yield pool
        well = True
    finally:
        pool.shutdown(cancel_futures=not well)


def given_or_local(executor: Executor | None) -> contextlib.AbstractContextManager[Executor]:
    """The executor that is given, which stays open, or local processes of its own."""
    return executor_of(None) if executor is None else contextlib.nullcontext(executor)
