"""Sweeps through the Python interface: jobs, retries, labels, executors, the same results as training directly."""

import math
from concurrent.futures import ThreadPoolExecutor

import jobs
import numpy as np
import pytest

import paritylab as pl
from paritylab.brief import brief
from paritylab.documents import publish
from paritylab.progress import SweepStatus, sweep_bar
from paritylab.sweep import Call, LocalPool, Store, Sweep, SweepFailed
from paritylab.sweep.schedule import Scheduler, jobs_of
from paritylab.sweep.shards import read
from paritylab.sweep.workloads import workloads_of
from paritylab.training.summaries import summarize

TASK = pl.Uniform(pl.Parity(10, (0, 1)))
SMALL = {"rate": [0.1, 0.3], "seeds": 5, "steps": 200, "validation": 256, "lanes": 4}


@pytest.fixture(scope="module")
def pool():
    made = LocalPool()
    yield made
    made.shutdown(cancel_futures=True)


def here():
    """An executor in this process."""
    return ThreadPoolExecutor(2)


def training(**more) -> Sweep:
    return Sweep(
        pl.plan(
            pl.FlippedLabels(TASK, noise), pl.MLP(width), **{**SMALL, **more}, labels={"noise": noise, "width": width}
        )
        for noise in (0.1, 0.2)
        for width in (4, 8)
    )


def test_plans_of_one_shape_go_together():
    sweep = training()
    assert len(sweep) == 40 and [len(work) for work in sweep.works] == [20, 20]
    assert [len(job.runs) for job in sweep.jobs("cpu", 8)] == [8, 8, 8, 8, 4, 4]  # the longest first
    names = [name for work in sweep.works for name in work.names]
    assert len(set(names)) == 40


@pytest.mark.acceptance
def test_a_sweep_gives_what_training_gives(pool, tmp_path):
    sweep = training(records=pl.training.Recording((pl.FreshError(), pl.training.Weights((0, 1))), 100))
    results = sweep.run(tmp_path / "store", executor=pool, runs_per_job=7)
    found, curves = results.table(), results.curves()
    assert results.missing == 0 and len(found) == 40
    for noise in (0.1, 0.2):
        for width in (4, 8):
            task = pl.FlippedLabels(TASK, noise)
            directly = pl.train(
                task,
                pl.MLP(width),
                **SMALL,
                records=pl.training.Recording((pl.FreshError(), pl.training.Weights((0, 1))), 100),
            )
            here = found[(found.noise == noise) & (found.width == width)]
            for name in ("rate", "seed", "outcome", "steps", "error"):
                assert here[name].tolist() == directly.table()[name].tolist()
            assert here.converged_at.astype("Int64").tolist() == directly.table().converged_at.tolist()
            lines = curves[(curves.noise == noise) & (curves.width == width)]
            assert lines.step.tolist() == directly.curves().step.tolist()
            assert lines.fresh_error.tolist() == directly.curves().fresh_error.tolist()
            np.testing.assert_array_equal(
                np.stack(lines.weights.to_list()), np.stack(directly.curves().weights.to_list())
            )


def test_running_again_does_nothing_and_more_seeds_do_only_themselves(pool, tmp_path):
    first = training().run(tmp_path / "store", executor=pool, runs_per_job=8)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "store" / "runs").iterdir()}
    again = training().run(tmp_path / "store", executor=None)
    assert again.arrow.equals(first.arrow)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "store" / "runs").iterdir()} == files
    more = training(seeds=6).run(tmp_path / "store", executor=pool, runs_per_job=8)
    assert len(more.table()) == 48
    new = set((tmp_path / "store" / "runs").iterdir()) - set(files)
    assert sum(len(read(path)) for path in new) == 8


def test_labels_are_those_of_the_sweep_that_asks(pool, tmp_path):
    plan = lambda **labels: Sweep([pl.plan(TASK, pl.MLP(4), **SMALL, labels=labels)])
    plan(figure="one").run(tmp_path / "store", executor=pool)
    found = plan(panel="two").run(tmp_path / "store", executor=pool).table()
    assert found.panel.tolist() == ["two"] * 10
    assert len(Store(tmp_path / "store").table()) == 10


def test_calls_give_rows(tmp_path):
    calls = [Call(jobs.square, {"x": x}, {"name": f"call {x}"}) for x in (3, 1, 2)]
    calls += [Call(jobs.table_of, {"x": 3})]
    with here() as executor:
        found = Sweep(calls).run(tmp_path / "store", executor=executor).table()
    assert found.x.tolist() == [3, 1, 2, 3, 3, 3]
    assert found.square.tolist()[:3] == [9, 1, 4] and found.name.tolist()[:3] == ["call 3", "call 1", "call 2"]
    assert found.i.tolist()[3:] == [0, 1, 2] and found.power.tolist()[3:] == [1, 2, 4]
    manifest = next(iter(Store(tmp_path / "store").manifests().values()))
    assert {"version", "commit", "device", "jax", "seconds", "flags", "configuration", "worker"} <= manifest.keys()


def test_a_call_without_rows_is_a_failure(tmp_path):
    with here() as executor, pytest.raises(SweepFailed, match=r"first with ValueError: table_of\(x=0\) gave no rows"):
        Sweep([Call(jobs.table_of, {"x": 0})]).run(tmp_path, executor=executor, attempts=1)


def test_columns_of_other_sweeps_change_no_type(tmp_path):
    """One sweep has text in a column and another numbers: each reads its own."""
    with here() as executor:
        Sweep([Call(jobs.square, {"x": 2}, {"i": "two"})]).run(tmp_path, executor=executor)
        found = Sweep([Call(jobs.table_of, {"x": 3})]).run(tmp_path, executor=executor).table()
    assert found.i.tolist() == [0, 1, 2]


def test_a_table_of_training_has_its_columns_even_if_no_run_learns(tmp_path):
    """Before anything is done, afterwards, and beside calls in one store."""
    of_training = ["outcome", "converged_at", "steps", "error"]
    sweep = Sweep([pl.plan(TASK, pl.MLP(2), seeds=2, steps=10, rate=1e-6, validation=256, labels={"kind": "mlp"})])
    store = Store.create(tmp_path)
    before = sweep.results(store).table()
    assert before.outcome.tolist() == ["not_started"] * 2 and {*of_training} <= {*before}
    with here() as executor:
        after = sweep.run(store, executor=executor).table()
        both = Sweep([*sweep.parts, Call(jobs.square, {"x": 2}, {"kind": "call"})])
        results = both.run(store, executor=executor)
    assert after.outcome.tolist() == ["out_of_steps"] * 2 and after.converged_at.isna().all()
    assert after.error.notna().all() and summarize(after, [])[0]["learned"] == 0
    assert {*of_training} <= {*results.part("kind", "mlp").table()}
    assert {*of_training}.isdisjoint(results.part("kind", "call").table())
    assert {*of_training}.isdisjoint(Sweep(both.parts[1:]).results(store).table())


def test_short_calls_that_say_so_share_a_job():
    quick = [Call(jobs.square, {"x": x}, seconds=0.1) for x in range(100)]
    (work,) = workloads_of(quick)
    assert len(jobs_of([work], "cpu")) < 10 and math.isclose(work.seconds("cpu"), 10)
    (work,) = workloads_of([Call(jobs.square, {"x": x}) for x in range(3)])
    assert len(jobs_of([work], "cpu")) == 3 and math.isnan(work.seconds("cpu"))


def test_a_job_that_fails_is_recorded_and_stops_no_other(tmp_path):
    sweep = Sweep(Call(jobs.fails_on, {"x": x, "bad": 2}) for x in range(5))
    with here() as executor, pytest.warns(UserWarning, match="1 of 5 runs are missing") as heard:
        results = sweep.run(tmp_path, executor=executor)
    assert len(heard) == 1
    assert f"the first with RuntimeError: 2 is bad); the tracebacks are in {tmp_path}" in str(heard[0].message)
    assert sorted(results.table().x) == [0, 1, 3, 4] and results.missing == 1
    (failure,) = results.failures
    assert failure.attempts == 3 and "RuntimeError: 2 is bad" in failure.traceback
    (kept,) = Store(tmp_path).failures().values()
    assert kept["attempts"] == 3 and "2 is bad" in kept["traceback"] and "fails_on" in kept["what"]


def test_a_sweep_of_which_all_jobs_fail_is_an_error(tmp_path):
    sweep = Sweep(Call(jobs.fails_on, {"x": 2, "bad": 2, "more": more}) for more in range(3))
    with (
        here() as executor,
        pytest.raises(SweepFailed, match="No run of this sweep is there") as error,
    ):
        sweep.run(tmp_path, executor=executor, attempts=1)
    assert "failed jobs: 3, the first with TypeError: fails_on() got an unexpected keyword argument 'more'" in str(
        error.value
    )
    assert str(tmp_path / "failures") in str(error.value) and len(Store(tmp_path).failures()) == 3
    with here() as executor:
        results = sweep.run(Store(tmp_path), executor=executor, attempts=1, check=False)
    assert results.missing == len(results.failures) == 3


def test_a_job_that_fails_at_first_is_tried_again(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    with here() as executor:
        sweep = Sweep(Call(jobs.fails_at_first, {"folder": str(marks), "x": x}) for x in range(3))
        results = sweep.run(tmp_path / "store", executor=executor)
    assert results.missing == 0 and not results.failures and Store(tmp_path / "store").failures() == {}


def test_a_job_that_kills_its_worker_is_given_up_and_stops_no_other(pool, tmp_path):
    with pytest.warns(UserWarning, match="1 of 6 runs are missing"):
        results = Sweep(Call(jobs.dies_on, {"x": x, "bad": 1}) for x in range(6)).run(tmp_path, executor=pool)
    assert sorted(results.table().x) == [0, 2, 3, 4, 5]
    (failure,) = results.failures
    assert "WorkerLost" in failure.traceback and "exit code 9" in failure.traceback


def test_two_schedulers_share_a_store(tmp_path):
    calls = [Call(jobs.sleeps, {"seconds": 0.05, "x": x}) for x in range(20)]
    with ThreadPoolExecutor(2) as both, here() as one, here() as other:
        runs = [both.submit(Sweep(calls).run, tmp_path / "store", executor=each) for each in (one, other)]
        found = [run.result().table() for run in runs]
    assert found[0].x.tolist() == found[1].x.tolist() == list(range(20))
    manifests = Store(tmp_path / "store").manifests()
    assert len(manifests) == 20  # every job was done once
    assert not list((tmp_path / "store" / "leases").iterdir())


def test_who_waits_for_another_process_says_so_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("paritylab.sweep.schedule.SILENT_SECONDS", 0.3)
    sweep = Sweep(Call(jobs.square, {"x": x}) for x in range(3))
    other, told = Store.create(tmp_path).leases, []  # as another process would hold them
    names = [job.name for job in sweep.jobs("cpu")]
    assert all(map(other.take, names[:2]))

    def watch(progress):
        told.append(progress.waiting)
        if len(told) == 10:
            for name in names[:2]:
                other.give_back(name)

    with here() as executor:
        assert sweep.run(tmp_path, executor=executor, watch=watch).missing == 0
    assert told[-1] == 0 and set(told) == {0, 2}
    assert capsys.readouterr() == (
        "",
        f"paritylab: Waiting for 2 runs (call jobs.square) that another process has in hand, in the store {tmp_path}. "
        "If it ends without them, they are done here.\n",
    )


def test_the_bar_says_what_is_waited_for(monkeypatch, capsys):
    monkeypatch.setattr("paritylab.progress.watched", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with sweep_bar() as tell:
        tell(SweepStatus(1, 3, 0, 5.0, waiting=2))
    out, err = capsys.readouterr()
    assert out == "" and "waiting for 2 runs of another process" in err


def test_a_worker_that_one_lot_leaves_idle_begins_with_the_next(tmp_path):
    """The first job ends only after the second; what an earlier lot held is not done again."""
    mark = {"mark": str(tmp_path / "mark")}
    first, second = (Sweep([Call(function, mark)]).jobs("cpu") for function in (jobs.waits_for, jobs.leaves))
    store = Store.create(tmp_path / "store")
    with here() as executor:
        scheduler = Scheduler(iter([first, second, [], [*first, *second]]), store, executor, attempts=1)
        assert scheduler.run() == [] and scheduler.through([*first, *second])
    assert len(store.manifests()) == 2 and not list((tmp_path / "store" / "leases").iterdir())


def test_progress_is_told(tmp_path):
    told = []
    with here() as executor:
        Sweep(Call(jobs.sleeps, {"seconds": 0.01, "x": x}) for x in range(10)).run(
            tmp_path, executor=executor, watch=told.append
        )
    assert told[-1].runs_done == told[-1].runs == 10 and told[-1].seconds_left == 0
    assert [each.runs_done for each in told] == sorted(each.runs_done for each in told)


def test_an_interruption_keeps_what_is_finished_and_gives_leases_back(tmp_path):
    def interrupt(progress):
        if progress.runs_done >= 3:
            raise KeyboardInterrupt

    sweep = Sweep(Call(jobs.sleeps, {"seconds": 0.05, "x": x}) for x in range(10))
    with here() as executor, pytest.raises(KeyboardInterrupt):
        sweep.run(tmp_path, executor=executor, watch=interrupt)
    assert 3 <= len(Store(tmp_path)) < 10 and not list((tmp_path / "leases").iterdir())
    with here() as executor:
        assert sweep.run(tmp_path, executor=executor).missing == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Sweep([pl.plan(TASK, pl.MLP(4), keep=True)]), "A store keeps no networks"),
        (lambda: training().jobs("cpu", 0), "got runs_per_job=0"),
        (lambda: training().run("nowhere", attempts=0), "is a whole number of at least 1, got attempts=0"),
        (lambda: training().run("nowhere", job_timeout=-1), "a number of seconds above 0, got -1"),
        (lambda: Sweep([Call(lambda: 1, {})]).works[0].names, "Define it with `def`"),
        (lambda: Sweep([Call(jobs.square, {"x": object()})]).works[0].names, "cannot be written down"),
    ],
)
def test_what_cannot_be_swept_says_so(tmp_path, monkeypatch, make, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        make()
    assert not list(tmp_path.iterdir())


def test_a_call_may_return_a_number(tmp_path):
    found = Sweep([Call(jobs.area, {"side": 3})])
    assert found.run(tmp_path / "store", executor=ThreadPoolExecutor(1)).table()["value"].tolist() == [9]


def names_itself(x):
    return {"run": str(x)}


def gives_an_error(x):
    return {"error": x}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Call(jobs.square, {"run": 1}), "Every table of a store has a column 'run'"),
        (lambda: Call(jobs.square, {"x": 1}, labels={"worker": 1}), "Every table of a store has a column 'worker'"),
        (lambda: pl.plan(TASK, pl.MLP(4), labels={"job": 1}), "A column 'job' is in every table of runs"),
        (lambda: pl.plan(TASK, pl.MLP(4), labels={"converged_at": 1}), "A column 'converged_at' is in every table"),
        (lambda: pl.plan(TASK, pl.MLP(4), seeds=[1, 1, 1]), "The seed 1 is given 3 times, and equal runs would"),
        (lambda: pl.train(TASK, pl.MLP(4), seeds=[0, 2, 2]), "The seed 2 is given 2 times"),
    ],
)
def test_names_and_seeds_that_would_miscount_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
    assert len(pl.plan(TASK, pl.MLP(4), seeds=pl.training.Seeds(init=[1, 1], data=[1, 2]))) == 2


def test_a_call_whose_columns_are_taken_fails_with_the_reason(tmp_path):
    sweep = Sweep(
        [Call(names_itself, {"x": 1}), Call(gives_an_error, {"x": 1}, {"error": "none"}), Call(jobs.square, {"x": 2})]
    )
    with here() as executor, pytest.warns(UserWarning, match="2 of 3 runs are missing"):
        done = sweep.run(tmp_path / "store", executor=executor, attempts=1)
    reasons = sorted(failure.reason for failure in done.failures)
    assert done.missing == 2 and len(reasons) == 2
    assert "names_itself gave a column 'run', which is in every table of a store" in reasons[1]
    assert "gives_an_error gave a column 'error', which is a label of the call" in reasons[0]


def test_an_argument_of_a_call_stays_where_a_plan_has_a_label_of_that_name(tmp_path):
    """A label of another sweep does not."""
    planned = lambda **labels: pl.plan(TASK, pl.MLP(4), seeds=1, steps=10, lanes=2, labels=labels)
    store = Store.create(tmp_path)
    Sweep([planned(x="stale")]).run(store)
    other = pl.plan(TASK, pl.MLP(4), seeds=[7], steps=10, lanes=2, labels={"x": "own"})
    table = Sweep([planned(), other, Call(jobs.square, {"x": 3})]).run(store).table()
    assert table.x.fillna("").tolist() == ["", "own", "3"]


def test_a_run_that_a_sweep_has_twice_has_both_labels_and_is_done_once(tmp_path):
    twice = Sweep(pl.plan(TASK, pl.MLP(4), seeds=2, steps=10, lanes=2, labels={"group": g}) for g in "ab")
    with here() as executor:
        table = twice.run(tmp_path / "store", executor=executor).table()
    assert table.group.tolist() == ["a", "a", "b", "b"] and table.seed.tolist() == [0, 1, 0, 1]
    assert len(Store(tmp_path / "store").table()) == 2


@pytest.mark.parametrize("when", ["before", "while"])
def test_what_is_set_aside_is_done_again_in_the_same_command(tmp_path, monkeypatch, when):
    sweep = Sweep(Call(jobs.square, {"x": x}) for x in range(4))
    with here() as executor:
        first = sweep.run(tmp_path / "store", executor=executor).table()
    path = sorted((tmp_path / "store" / "runs").iterdir())[0]
    heard: list[str] = []
    store = Store(tmp_path / "store", say=heard.append)
    path.write_bytes(path.read_bytes()[:-1])
    if when == "before":  # found when the store is opened; else when its rows are read
        store = Store(tmp_path / "store", say=heard.append)
    with here() as executor:
        again = sweep.run(store, executor=executor)
    assert again.missing == 0 and again.table()["x"].equals(first["x"]) and len(heard) == 1
    assert again.table()["square"].equals(first["square"])


def test_a_sweep_whose_shards_all_turn_out_unreadable_says_that_no_job_failed(tmp_path, monkeypatch):
    torn = lambda draft, content, path: publish(draft, content.to_pybytes()[:-1], path)
    monkeypatch.setattr("paritylab.sweep.store.publish", torn)
    heard: list[str] = []
    store = Store.create(tmp_path / "store", say=heard.append)
    sweep = Sweep(Call(jobs.square, {"x": x}) for x in range(2))
    with here() as executor, pytest.raises(SweepFailed, match="no job failed, but what was written could not") as error:
        sweep.run(store, executor=executor)
    assert str(tmp_path / "store" / "aside") in str(error.value) and "failures" not in str(error.value)
    assert len(heard) >= 2


def test_a_grid_over_any_arguments_is_made_of_a_function_of_them():
    task = pl.Uniform(pl.Parity(8, (0, 1)))
    make = lambda width, batch: pl.plan(task, pl.MLP(width), batch=batch, rate=[0.1, 1.0], seeds=2, steps=10)
    sweep = Sweep.over(make, width=[4, 8], batch=range(1, 3))
    labels = [(part.columns["width"][0], part.columns["batch"][0]) for part in sweep.parts]
    assert labels == [(4, 1), (4, 2), (8, 1), (8, 2)] and len(sweep) == 16
    assert [*sweep.parts[0].columns] == ["width", "batch", "rate", "seed"]
    functions = Sweep.over(lambda loss: pl.plan(task, pl.MLP(4), loss=loss, seeds=1, steps=10), loss=[pl.Hinge()])
    assert functions.parts[0].columns["loss"].tolist() == [brief(pl.Hinge())]
    calls = Sweep.over(lambda n: Call(jobs.square, {"x": n}), n=[1, 2])
    assert len(calls) == 2
    with pytest.raises(ValueError, match=r"An axis has at least one value, got width=\[\]"):
        Sweep.over(make, width=[], batch=[1])
    with pytest.raises(ValueError, match="A column 'error' is in every table"):
        Sweep.over(lambda error: pl.plan(task, pl.MLP(4), seeds=1, steps=10), error=[1])
    with pytest.raises(TypeError, match="A sweep is made of plans and calls"):
        Sweep.over(lambda n: n, n=[1])
