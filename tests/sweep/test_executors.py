"""Local worker processes: one per place, ended with their parent, and lost one at a time."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jobs
import psutil
import pytest

from paritylab.runtime import cores
from paritylab.sweep.executors import LocalPool, Place, WorkerError, WorkerLost, executor_of, places, workers_on

HERE = Path(__file__).parent


@pytest.fixture
def pool():
    made = LocalPool()
    yield made
    made.shutdown(cancel_futures=True)


def test_there_is_one_worker_per_core_and_each_keeps_to_its_own(pool):
    found = [future.result() for future in [pool.submit(jobs.core) for _ in cores()]]
    assert pool.workers == len(cores()) and all(len(each) == 1 for each in found)
    assert os.sched_getaffinity(0) == set(cores())


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
    with pytest.raises((AttributeError, TypeError, Exception), match="pickle"):
        pool.submit(lambda: 1).result()
    assert pool.submit(jobs.square, 3).result() == {"square": 9}


PARENT = """
import sys, time
sys.path.insert(0, {here!r})
import jobs
from paritylab.sweep.executors import LocalPool
if __name__ == "__main__":
    pool = LocalPool()
    print(*{{future.result() for future in [pool.submit(jobs.pid, 0.5) for _ in range(pool.workers)]}}, flush=True)
    {then}
"""


@pytest.mark.parametrize(("told", "workers"), [("143771", 6), ("81559", 4), ("24564", 1), ("[N/A]", 1), ("8192", 1)])
def test_a_large_gpu_has_several_workers(monkeypatch, told, workers):
    answer = subprocess.CompletedProcess([], 0, stdout=f"{told}\n")
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: answer)
    assert workers_on.__wrapped__(0) == workers


@pytest.mark.parametrize("then", ["time.sleep(60)", "pool.submit(jobs.pid, 60).result()"], ids=["idle", "busy"])
def test_workers_end_with_a_parent_that_is_killed(tmp_path, then):
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(here=str(HERE), then=then))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert workers and all(psutil.pid_exists(worker) for worker in workers)
        parent.kill()
    until = time.monotonic() + 10
    while any(psutil.pid_exists(worker) for worker in workers):
        assert time.monotonic() < until, "workers outlived their parent"
        time.sleep(0.05)


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
        ("slurm://x", None, "An executor is written dask://HOST:PORT, got 'slurm://x'"),
        ("dask://nowhere", None, "got 'dask://nowhere'"),
    ],
)
def test_an_executor_that_cannot_be_says_so(address, workers, sentence):
    with pytest.raises(ValueError, match=sentence), executor_of(address, workers):
        pass


def test_cores_can_be_told(monkeypatch):
    monkeypatch.setenv("PARITYLAB_CORES", "1")
    assert cores() == [0]


def test_any_executor_has_a_number_of_workers():
    from paritylab.sweep.schedule import workers_of

    with ThreadPoolExecutor(3) as threads:
        assert workers_of(threads) == 3
