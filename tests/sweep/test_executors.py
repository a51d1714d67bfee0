"""Local worker processes: one per place, ended with their parent, and lost one at a time."""

import functools
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jobs
import psutil
import pytest
from sweeps import workers

from paritylab.runtime import cores
from paritylab.sweep.executors import (
    JobTimeout,
    LocalPool,
    Place,
    WorkerError,
    WorkerLost,
    executor_of,
    places,
    submit_within,
    workers_on,
)
from paritylab.sweep.pickling import pack, unpack

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def pool():
    made = LocalPool()
    yield made
    made.shutdown(cancel_futures=True)


@pytest.fixture
def one_core(monkeypatch):
    """This process may use its last core alone, which is not the first where there are several."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    monkeypatch.setenv("PARITYLAB_CORES", "64")
    yield max(before)
    os.sched_setaffinity(0, before)


def test_there_is_one_worker_per_core_that_we_may_use_however_many_are_asked_for(one_core):
    with LocalPool() as pool:
        assert pool.workers == 1 and pool.submit(jobs.core).result() == [one_core]
    assert os.sched_getaffinity(0) == {one_core}


def test_each_worker_keeps_to_a_core_of_its_own(pool):
    found = [future.result() for future in [pool.submit(jobs.core) for _ in pool.places]]
    assert pool.workers == len(cores()) and all(len(each) == 1 for each in found)


def test_a_worker_lives_on_from_call_to_call(pool):
    seen = {pool.submit(jobs.pid).result() for _ in range(5)}
    assert len(seen) <= pool.workers and os.getpid() not in seen


def test_an_error_in_a_job_comes_back_with_its_traceback(pool):
    with pytest.raises(WorkerError, match="RuntimeError: 3 is bad"):
        pool.submit(jobs.fails_on, 3, 3).result()
    assert pool.submit(jobs.fails_on, 3, 4).result() == {"x": 3}


def test_a_worker_that_is_killed_costs_its_own_call_only(pool):
    first = pool.submit(jobs.pid).result()
    slow = pool.submit(jobs.pid, 2.0)
    with pytest.raises(WorkerLost, match="ended in the middle of a job"):
        pool.submit(jobs.dies_on, 1, 1).result()
    after = [pool.submit(jobs.pid).result() for _ in range(3)]
    assert slow.result() in psutil.pids() and first and all(each > 0 for each in after)


def test_what_cannot_be_sent_says_so(pool):
    for unsent in [(lambda: 1,), (jobs.square, threading.Lock())]:
        with pytest.raises(TypeError, match=r"something in it is not \(.*\)\. Give functions a name at the top of a"):
            pool.submit(*unsent).result()
    assert pool.submit(jobs.square, 3).result() == {"square": 9}


PARENT = """
import sys, time
sys.path.insert(0, {here!r})
import jobs
from paritylab.sweep import executors
if __name__ == "__main__":
    pool = executors.LocalPool(executors.places()[:1])
    {then}
"""
BUSY = "pool.submit(jobs.pid).result(); pool.submit({call}); print(flush=True); time.sleep(60)"


@pytest.mark.parametrize(("told", "workers"), [("143771", 6), ("81559", 4), ("24564", 1), ("[N/A]", 1), ("8192", 1)])
def test_a_large_gpu_has_several_workers(monkeypatch, told, workers):
    answer = subprocess.CompletedProcess([], 0, stdout=f"{told}\n")
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: answer)
    assert workers_on.__wrapped__(0) == workers


@pytest.mark.parametrize(
    "then",
    [
        "pool.submit(jobs.pid); print(flush=True); time.sleep(60)",
        BUSY.format(call="jobs.deaf"),
        pytest.param(
            "executors.Keeper.watch = lambda *_: None; " + BUSY.format(call="jobs.pid, 60"),
            marks=pytest.mark.acceptance,
        ),
    ],
    ids=["starts", "is deaf", "looks itself"],
)
def test_a_worker_ends_with_a_parent_that_is_killed_whatever_it_does(tmp_path, then):
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(here=str(HERE), then=then))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as parent:
        parent.stdout.readline()
        while not (started := workers(parent)):
            assert parent.poll() is None
            time.sleep(0.01)
        time.sleep(0.3)
        parent.kill()
    until = time.monotonic() + 2
    while any(worker.is_running() for worker in started):
        assert time.monotonic() < until, "a worker outlived its parent"
        time.sleep(0.02)


SWEEP = """
import sys
sys.path.insert(0, {here!r})
import jobs
from paritylab.sweep import Call, Sweep

def here(x):
    return {{"x": x}}

{guard}
    print("tried", Sweep([Call({function}, {{"x": 3}})]).run({store!r}).table().x.tolist(), flush=True)
"""
GUARDED, NOT = 'if __name__ == "__main__":', "if True:"
WORDS = (  # from Python 3.13 on their source is kept
    "is defined in a session that keeps no source (`python -c`, say)"
    if sys.version_info < (3, 13)
    else "A worker cannot import 'here', which is defined in another process (in a notebook, say)."
)
AGAIN = 'Put what starts the workers under `if __name__ == "__main__":` in a file, and run that.'


@pytest.mark.parametrize(
    ("how", "guard", "function", "said"),
    [
        ("file", GUARDED, "here", None),
        ("file", NOT, "jobs.square", f"import the main module, which would start them again. {AGAIN}"),
        ("-", GUARDED, "jobs.square", f"import the main module, and '<stdin>' is no file. {AGAIN}"),
        ("-c", NOT, "jobs.square", None),
        ("-c", NOT, "here", WORDS),
    ],
    ids=["file", "no guard", "standard input", "words", "words that define"],
)
def test_a_main_module_that_workers_cannot_import_says_so(tmp_path, monkeypatch, how, guard, function, said):
    """At once, in one sentence, and only where it is so."""
    monkeypatch.setenv("PARITYLAB_CORES", "1")
    text, file = SWEEP.format(here=str(HERE), guard=guard, function=function, store=str(tmp_path / "store")), None
    if how == "file":
        file = tmp_path / "script.py"
        file.write_text(text)
    words = {"file": [file], "-": ["-"], "-c": ["-c", text]}[how]
    ended = subprocess.run(
        [sys.executable, *words], input=text, capture_output=True, text=True, timeout=120, check=False
    )
    if said is None:
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "tried [3]\n", "")
    else:
        assert (ended.returncode, ended.stdout) == (1, "")
        assert said in ended.stderr.splitlines()[-1] and ended.stderr.count("Traceback") == 1
        assert not list(tmp_path.glob("store/leases/*"))


def test_a_main_module_that_cannot_be_imported_says_so(tmp_path, monkeypatch):
    """Not at the third attempt, but at the first; what the worker said of it comes before."""
    monkeypatch.setenv("PARITYLAB_CORES", "1")
    script = tmp_path / "script.py"
    script.write_text(
        SWEEP.format(here=str(HERE), guard=GUARDED, function="jobs.square", store=str(tmp_path / "store"))
        + 'if __name__ != "__main__":\n    raise ZeroDivisionError("only once")\n'
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    last = ended.stderr.splitlines()[-1]
    assert ended.returncode == 1 and ended.stderr.count("ZeroDivisionError: only once") == 1
    assert "WorkersCannotStart: A worker process ended while it imported the main module (exit code 1)." in last


def test_what_a_notebook_defines_is_named_where_a_worker_lacks_it(pool, monkeypatch):
    """A notebook's main module has no file, so that a worker has none of what is defined there."""

    def defined_there():
        return 1

    defined_there.__module__, defined_there.__qualname__ = "__main__", "defined_there"
    monkeypatch.setattr(sys.modules["__main__"], "defined_there", defined_there, raising=False)
    with pytest.raises(WorkerError, match="ValueError: A worker cannot import 'defined_there', which is defined in"):
        pool.submit(defined_there).result()
    with pytest.raises(WorkerError, match="cannot import 'defined_there'"):
        pool.submit(unpack, pack(functools.partial(defined_there))).result()


def test_places_are_gpus_where_jax_can_use_them_and_cores_elsewhere(monkeypatch, tmp_path):
    class Entry:
        name = "xla_cuda12"

    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Entry])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    monkeypatch.setattr("paritylab.sweep.executors.workers_on", {2: 1, 5: 2}.get)
    assert places() == [Place("gpu", 2), Place("gpu", 5), Place("gpu", 5)]
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert places() == [Place("cpu", core) for core in cores()]
    monkeypatch.setenv("JAX_PLATFORMS", "cuda,cpu")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert places()[0].platform == "cpu"


@pytest.mark.parametrize(
    ("address", "workers", "sentence"),
    [
        (None, 0, "places for 1 to"),
        (None, 10**6, "got 1000000"),
        ("slurm://x", None, "An executor is written dask://HOST:PORT or tls://HOST:PORT .*, got 'slurm://x'"),
        ("dask://nowhere", None, "got 'dask://nowhere'"),
        ("dask://h:notaport", None, "got 'dask://h:notaport'"),
        ("tls://h:65536", None, "got 'tls://h:65536'"),
    ],
)
def test_an_executor_that_cannot_be_says_so(address, workers, sentence):
    with pytest.raises(ValueError, match=sentence), executor_of(address, workers):
        pass


def test_cores_can_be_told_and_are_never_more_than_there_are(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {9, 1, 5})
    for told, found in (("1", [1]), ("2", [1, 5]), ("3", [1, 5, 9]), ("64", [1, 5, 9]), ("", [1, 5, 9])):
        monkeypatch.setenv("PARITYLAB_CORES", told)
        assert cores() == found


def test_a_call_may_have_a_time_limit_on_any_executor(pool):
    """A local worker is killed and another takes its place; others are left with what they do."""
    with ThreadPoolExecutor(1) as threads:
        for executor in (pool, threads):
            assert submit_within(executor, 60, jobs.square, 3).result() == {"square": 9}
            with pytest.raises(JobTimeout):
                submit_within(executor, 0.2, jobs.pid, 1.0).result()
            with pytest.raises((WorkerError, RuntimeError), match="3 is bad"):
                submit_within(executor, 60, jobs.fails_on, 3, 3).result()
            assert submit_within(executor, None, jobs.square, 4).result() == {"square": 16}


def test_any_executor_has_a_number_of_workers():
    from paritylab.sweep.schedule import workers_of

    with ThreadPoolExecutor(3) as threads:
        assert workers_of(threads) == 3
