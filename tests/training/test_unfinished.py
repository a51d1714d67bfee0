"""Runs that did not end count for as long as they were watched, and those that never began are named."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import paritylab as pl
from paritylab.cli.printing import print_summary
from paritylab.sweep import Store, Sweep
from paritylab.training.summaries import summarize

TASK = pl.Uniform(pl.Parity(20, (0, 1, 2)))
SETTINGS = {"rate": 0.1, "batch": 8, "steps": 20_000, "validation": 512, "lanes": 4}


@pytest.fixture(scope="module")
def whole():
    return pl.train(TASK, pl.MLP(20), seeds=200, **SETTINGS)


@pytest.fixture(scope="module")
def part():
    """The same, interrupted when some have learned: on two workers of four lanes few others have begun by then."""

    def stop(status):
        if status.learned >= 10:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PARITYLAB_CORES", "2")
            return pl.train(TASK, pl.MLP(20), seeds=200, watch=stop, **SETTINGS)
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_summary_of_an_interrupted_training_is_about_all_runs(whole, part):
    (truth,), (row,) = whole.summary(), part.summary()
    assert part.interrupted and row["runs"] == 200
    assert row["learned"] + row["unfinished"] + row["not_started"] == 200
    assert row["unfinished"] > 0 and row["not_started"] > 0
    low, high = row["interval"]
    assert low <= truth["median"] <= high
    outcome = part.table().outcome
    assert (outcome == "not_started").sum() == row["not_started"] and (outcome == "running").sum() == row["unfinished"]


def test_what_ended_is_as_in_the_whole(whole, part):
    learned = part.outcome == pl.Outcome.LEARNED
    assert np.array_equal(part.steps[learned], whole.steps[learned])
    stopped = part.outcome == pl.Outcome.RUNNING
    assert np.all(part.steps[stopped] < whole.steps[stopped]), "a run that is said to go on had not learned"


def test_the_table_for_people_names_what_is_missing(part, capsys):
    print_summary(part.summary())
    names, _, row = capsys.readouterr().out.splitlines()
    assert "unfinished" in names and "not started" in names and "of 200" in row


def test_a_figure_of_unfinished_runs_says_that_it_is_an_estimate(whole, part):
    assert whole.plot().axes[0].get_ylabel() == "fraction of runs that learned\nshaded: 95% band"
    axis = part.plot().axes[0]
    assert axis.get_ylabel() == "fraction of runs that learned, estimated\nshaded: 95% band"
    (curve,) = [line for line in axis.get_lines() if line.get_linestyle() == "-"]
    (row,) = part.summary()
    reached = curve.get_xdata()[np.flatnonzero(curve.get_ydata() >= 0.5)[0]]
    assert reached == row["median"]


def test_nothing_is_trained_after_an_interruption(interruptible):
    """Of several batches, the later ones were not started."""
    stop = lambda status: os.kill(os.getpid(), signal.SIGINT)
    runs = pl.train(TASK, pl.MLP(20), seeds=4, **{**SETTINGS, "rate": 0.0, "batch": [8, 16]}, watch=stop)
    assert runs.interrupted and (runs.table().groupby("batch").outcome.unique()[16] == ["not_started"]).all()
    assert [row["not_started"] for row in runs.summary()] == [0, 4]


def sweep(seeds=6, **more):
    settings = {**SETTINGS, "steps": 400, **more}
    return Sweep([pl.plan(TASK, pl.MLP(20), seeds=seeds, labels={"kind": "small"}, **settings)])


def test_runs_that_a_store_does_not_have_are_rows_that_were_not_started(tmp_path):
    store = Store.create(tmp_path)
    with ThreadPoolExecutor(1) as executor:
        sweep(seeds=2).run(store, executor=executor, watch=False)
    results = sweep().results(store)
    table = results.table()
    assert results.missing == 4 and table.outcome.tolist()[2:] == ["not_started"] * 4 and len(table) == 6
    (row,) = results.summary()
    assert row["kind"] == "small" and row["runs"] == 6 and row["not_started"] == 4


def test_runs_of_a_race_that_a_store_does_not_have_are_rows_too(tmp_path):
    results = sweep(rate=[0.1, 1.0], race=0.5).results(Store.create(tmp_path))
    assert results.missing == 12 and results.table().outcome.tolist() == ["not_started"] * 12


def test_tables_have_the_same_types_on_every_path(tmp_path):
    store = Store.create(tmp_path)
    for steps in (400, 10):  # some learn; none does
        plan = sweep(steps=steps).parts[0]
        with ThreadPoolExecutor(1) as executor:
            trained, stored = plan.run().table(), Sweep([plan]).run(store, executor=executor, watch=False).table()
        columns = ["outcome", "converged_at", "steps", "error"]
        assert trained[columns].dtypes.to_dict() == stored[columns].dtypes.to_dict()
        assert str(trained.converged_at.dtype) == "Int64" and str(trained.steps.dtype) == "int64"
        assert trained.steps.tolist() == stored.steps.tolist()
    kept = store.table()
    assert str(kept.converged_at.dtype) == "Int64" and str(kept.steps.dtype) == "int64"


def test_a_group_without_a_label_is_one_group():
    table = pl.train(TASK, pl.MLP(4), seeds=4, **{**SETTINGS, "steps": 10}).table()
    (row,) = summarize(table.assign(k=np.nan), ["k"])
    assert row["k"] is None and row["runs"] == 4
