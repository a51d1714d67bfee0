"""Workers keep to what they have compiled: the forms of workloads, the order of jobs, what a pool knows of its workers.

The two functions of `jobs` that meet keep two workers in step: neither gets ahead of the other.
"""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import jobs
import numpy as np
import pytest

import paritylab as pl
from paritylab.sweep import Call, LocalPool, Store, Sweep
from paritylab.sweep.executors import JobTimeout, WorkerError, WorkerLost, places
from paritylab.sweep.schedule import Job, JobQueue, Scheduler
from paritylab.sweep.workloads import TrainingWorkload, workloads_of
from paritylab.training.fused.kernels import VERSION
from paritylab.training.plans import Plan

TASK = pl.Uniform(pl.Parity(10, (0, 1)))


@pytest.fixture(scope="module")
def pool():
    made = LocalPool(places()[:1] * 2)
    yield made
    made.shutdown(cancel_futures=True)


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return str(folder)


def meeting(marks, count, longest_first="rfrffrrf"):
    """As many jobs of either function, interleaved in length."""
    rest = {
        kind: iter(Sweep(Call(function, {"folder": marks, "x": x}) for x in range(count)).jobs("cpu"))
        for kind, function in (("r", jobs.rises), ("f", jobs.falls))
    }
    return [next(rest[kind]) for kind in (longest_first * count)[: 2 * count]]


def done_by(store: Store) -> dict[str, set[str]]:
    """What each worker did."""
    found: dict[str, set[str]] = {}
    for origin in store.manifests().values():
        found.setdefault(origin["worker"], set()).add(origin["what"])
    return found


def width(width: int, **more) -> Plan:
    return pl.plan(TASK, pl.MLP(width), **{"seeds": 3, "steps": 50, "validation": 256, "lanes": 4, **more})


def form(*plans: Plan, platform: str = "cpu"):
    return TrainingWorkload(Plan.merged(plans)).form(platform)


def fused(plan: Plan) -> Plan:
    """As where a GPU is there."""
    return dataclasses.replace(plan, cells=tuple(dataclasses.replace(cell, kernel=VERSION) for cell in plan.cells))


def test_shapes_have_the_form_of_the_program_that_is_compiled_for_them():
    assert form(width(4)) == form(width(4, seeds=[7], rate=0.3, steps=80)) == form(width(4), width(4, seeds=[9]))
    others = [width(8), width(4, batch=7), width(4, lanes=8), width(4, float64=True), width(4, validation=512)]
    others.append(pl.plan(pl.FlippedLabels(TASK, 0.1), pl.MLP(4), seeds=3, steps=50, validation=256, lanes=4))
    assert len({form(width(4)), *map(form, others)}) == 1 + len(others)


def test_batches_of_all_sizes_have_one_form_with_fused_kernels():
    of = lambda *sizes: {form(fused(width(4, batch=batch)), platform="gpu") for batch in sizes}
    assert len(of(32, 64)) == 1 and form(width(4), platform="gpu") not in of(32)
    assert len({*of(32), form(fused(width(8, batch=32)), platform="gpu")}) == 2


def test_the_form_of_calls_is_their_function():
    works = workloads_of([Call(jobs.square, {"x": 1}), Call(jobs.table_of, {"x": 1}), Call(jobs.square, {"x": 2})])
    assert [work.form("cpu") for work in works] == [jobs.square, jobs.table_of]


def test_forms_take_no_trace_of_their_own(monkeypatch):
    asked, size = [], Plan._size
    monkeypatch.setattr(Plan, "_size", lambda plan, platform: asked.append(platform) or size(plan, platform))
    sweep = Sweep([width(4), width(8)])
    found = sweep.jobs("cpu", 1)
    assert asked == ["cpu", "cpu"] and len(found) == 6 and len({job.form for job in found}) == 2
    assert all(job.form == job.work.form("cpu") for job in found) and asked == ["cpu", "cpu"]


def test_a_queue_prefers_what_is_compiled_then_what_is_not_begun_then_what_came_first():
    queue = JobQueue()
    queue.extend(Job(name, None, np.arange(1), name[0]) for name in ("a1", "b1", "a2", "c1", "b2", "c2"))
    queue.extend([Job("a3", None, np.arange(1), "a")])
    assert queue.take({"c", "b"}, {"a", "b", "c"}).name == "b1"
    assert queue.take({"c"}, {"a", "b", "c"}).name == "c1"
    assert queue.take({"x"}, {"a", "x"}).name == "b2"
    assert queue.take({"x"}, {"a", "c", "x"}).name == "a1"
    assert [queue.take().name for _ in range(3)] == ["a2", "c2", "a3"] and not queue


def test_each_worker_keeps_to_one_form(pool, marks, tmp_path):
    store = Store.create(tmp_path / "store")
    lots = meeting(marks, 8)
    assert Scheduler([lots[:6], lots[6:]], store, pool, attempts=1).run() == []
    assert sorted(map(sorted, done_by(store).values())) == [["call jobs.falls"], ["call jobs.rises"]]
    assert all(len({jobs.rises, jobs.falls} & had) == 1 for had in pool.had)


def test_whoever_has_nothing_of_its_own_helps_the_others(pool, marks, tmp_path):
    """All is done, in whatever order, and as elsewhere: the calls of one function that meet need two workers."""
    calls = [Call(jobs.meets, {"folder": marks, "own": own, "other": other}) for own, other in ("ab", "ba", "cd", "dc")]
    calls += [Call(jobs.square, {"x": 3}), Call(jobs.table_of, {"x": 3})]
    found = Sweep(calls).run(tmp_path / "pool", executor=pool).table()
    with ThreadPoolExecutor(2) as threads:
        other = Sweep(calls).run(tmp_path / "threads", executor=threads).table()
    assert len(found) == 8 and found.drop(columns="worker").equals(other.drop(columns="worker"))
    done = done_by(Store(tmp_path / "pool"))
    assert len(done) == 2 and all("call jobs.meets" in what for what in done.values())


def test_other_executors_take_jobs_in_their_order(tmp_path, marks, monkeypatch):
    submitted = []
    for workers in (1, 2):
        with ThreadPoolExecutor(workers) as threads:
            submit = threads.submit
            monkeypatch.setattr(threads, "submit", lambda *call, to=submit: submitted.append(call[1]) or to(*call))
            lot = Sweep(Call(function, {"x": x}) for x in (3, 1, 2) for function in (jobs.square, jobs.table_of)).jobs()
            lot = [lot[place] for place in (0, 3, 4, 1, 5, 2)]
            assert Scheduler([lot], Store.create(tmp_path / str(workers)), threads).run() == []
        assert submitted == [job.name for job in lot]
        submitted.clear()


def test_a_pool_knows_what_its_workers_have_compiled():
    none, one = frozenset(), frozenset({"one"})
    pool = LocalPool(places()[:1] * 2)
    first, second = [pool.submit_within(None, jobs.pid, worker=1, form="one").result() for _ in range(2)]
    assert first == second and pool.had == [none, one]
    slow = pool.submit_within(None, jobs.pid, 0.5, worker=1, form="two")
    assert pool.submit_within(None, jobs.pid, worker=1, form="one").result() != first  # it was busy
    assert slow.result() == first and pool.had == [one, one | {"two"}]
    with pytest.raises(WorkerError, match="3 is bad"):
        pool.submit_within(None, jobs.fails_on, 3, 3, worker=1, form="one").result()
    assert pool.had == [one, {"two"}]
    with pytest.raises(WorkerLost):
        pool.submit_within(None, jobs.dies_on, 3, 3, worker=1, form="two").result()
    with pytest.raises(JobTimeout):
        pool.submit_within(0.1, jobs.pid, 1.0, worker=0, form="one").result()
    assert pool.had == [none, none]
    pool.shutdown(cancel_futures=True)
