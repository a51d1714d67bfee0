"""Sweeps that survive anything: killed at random, shared, on a cluster; and what scheduling costs."""

import json
import random
import time

import pandas as pd
import pytest
from sweeps import finish, kill, start, table, workers, write_file

SIZE = {"rates": [0.05, 0.1, 0.2, 0.3, 0.5], "runs_per_job": 50, "steps": 12_000}
SEEDS, RUNS, POINTS = 50, 2000, 40


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = finish(write_file(folder, seeds=SEEDS, **SIZE), folder / "store")
    assert done["done"] == done["runs"] == RUNS
    found = table(folder / "store")
    assert found.job.nunique() >= 40
    return found


def disturb(random_moments: random.Random, processes: list) -> str:
    """Kills a worker or a parent of one of the sweeps, or finds that there is none."""
    process = random_moments.choice(processes)
    hands = workers(process)
    if hands and random_moments.random() < 0.5:
        kill(random_moments.choice(hands))
        return "worker"
    kill(process)
    process.wait()
    for _ in range(100):
        if not any(hand.is_running() for hand in hands):
            return "parent"
        time.sleep(0.1)
    raise AssertionError("The workers outlived their parent.")


@pytest.mark.acceptance
@pytest.mark.parametrize("together", [1, 2], ids=["one process", "two processes"])
def test_a_sweep_killed_20_times_is_as_one_undisturbed(undisturbed, tmp_path, together):
    file, store = write_file(tmp_path, seeds=SEEDS, **SIZE), tmp_path / "store"
    chance, killed, progress = random.Random(together), [], []
    processes = [start(file, store) for _ in range(together)]
    while len(killed) < 20:
        time.sleep(chance.uniform(0.5, 6))
        running = [process for process in processes if process.poll() is None]
        if running:
            killed.append(disturb(chance, running))
            progress.append(len(list((store / "runs").glob("*-sha256-*"))))
        processes = [process if process.poll() is None else start(file, store) for process in processes]
    for process in processes:
        process.wait()
    done = finish(file, store)
    assert done["done"] == done["runs"] == RUNS and not done["failed"]
    print(f"\nkilled: {killed.count('worker')} workers, {killed.count('parent')} parents; jobs done then: {progress}")
    pd.testing.assert_frame_equal(table(store), undisturbed)

    before = set(table(store).run)
    files = {path.name for path in (store / "runs").glob("*-sha256-*")}
    assert finish(write_file(tmp_path, seeds=SEEDS + 1, **SIZE), store)["done"] == RUNS + POINTS
    after = table(store)
    new = after[~after.run.isin(before)]
    assert len(after) == RUNS + POINTS and (new.seed == SEEDS).all()
    assert files <= {path.name for path in (store / "runs").glob("*-sha256-*")}


@pytest.mark.acceptance
def test_a_dask_cluster_of_which_a_worker_is_killed_twice(undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed")
    file, store = write_file(tmp_path, seeds=SEEDS, **SIZE), tmp_path / "store"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        sweep = start(file, store, "--executor", cluster.scheduler_address.replace("tcp", "dask"))
        for jobs_done in (3, 12):
            while len(list((store / "runs").glob("*-sha256-*"))) < jobs_done:
                assert sweep.poll() is None
                time.sleep(0.1)
            kill(next(iter(cluster.workers.values())).process.process)
        assert sweep.wait() == 0, file.with_suffix(".err").read_text()
    assert json.loads(file.with_suffix(".out").read_text())["done"] == RUNS
    pd.testing.assert_frame_equal(table(store), undisturbed)


@pytest.mark.acceptance
def test_scheduling_costs_less_than_15_percent(tmp_path):
    """300 jobs of 0.3 to 1 second each: the part of the workers' time that is not training."""
    from paritylab.sweep import LocalPool, Store, Sweep
    from paritylab.sweep.files import parse, sweep_of

    said = parse({"fixed": SLOW, "axes": {"rate": [i / 1000 for i in range(1, 301)]}, "runs_per_job": 64})
    made: Sweep = sweep_of(said)
    pool = LocalPool()
    try:
        warm = parse({"fixed": SLOW, "axes": {"rate": [0.5, 0.6, 0.7, 0.8]}})
        sweep_of(warm).run(tmp_path / "warm", executor=pool, runs_per_job=64)
        begun = time.perf_counter()
        results = made.run(tmp_path / "store", executor=pool, runs_per_job=64)
        wall = time.perf_counter() - begun
    finally:
        pool.shutdown()
    assert not results.missing
    seconds = [each["training_seconds"] for each in Store(tmp_path / "store").manifests().values()]
    overhead = 1 - sum(seconds) / (pool.workers * wall)
    print(f"\n{len(seconds)} jobs of {min(seconds):.2f} to {max(seconds):.2f} s: overhead {100 * overhead:.1f}%")
    assert len(seconds) == 300
    assert overhead < 0.15


SLOW = {"n": 30, "k": 9, "width": 100, "batch": 32, "steps": 400, "seeds": 64}
"""Nothing is learned, so every job takes as long."""
