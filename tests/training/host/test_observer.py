"""Whoever looks on sees what the runs record, changes no number, and can pause and stop."""

import threading
import time

import numpy as np
import pytest

import paritylab as pl
from paritylab.training.host.observer import Observer
from paritylab.training.rules.outcomes import Outcome

TASK = pl.Uniform(pl.Parity(8, (1, 5)))
RECORDS = pl.training.Recording((pl.FreshError(256), pl.training.Weights((0, 2))), 20)
SETTINGS = {"rate": [0.1, 0.3], "batch": 8, "seeds": 5, "steps": 2000, "validation": 256}


def plan(**settings):
    return pl.plan(TASK, pl.MLP(12), records=RECORDS, **{**SETTINGS, **settings})


class Notes(Observer):
    """Keeps all that it is shown; with a lock that would be found out if two threads called at once."""

    def __init__(self):
        super().__init__()
        self.rows, self.ends, self.alone = [], {}, threading.Lock()

    def recorded(self, runs, steps, values):
        assert self.alone.acquire(blocking=False)
        self.rows += zip(runs.tolist(), steps.tolist(), values["fresh_error"].tolist(), strict=True)
        self.alone.release()

    def ended(self, runs, outcome, step):
        assert self.alone.acquire(blocking=False)
        self.ends |= dict(zip(runs.tolist(), zip(outcome.tolist(), step.tolist(), strict=True), strict=True))
        self.alone.release()


def test_an_observer_sees_what_is_recorded_and_changes_no_number():
    notes, alone = Notes(), plan().run()
    seen = plan().run(observer=notes)
    curves = alone.curves()
    assert sorted(notes.rows) == sorted(zip(curves.run, curves.step, curves.fresh_error.astype(float), strict=True))
    assert notes.ends == dict(enumerate(zip(alone.outcome.tolist(), alone.steps.tolist(), strict=True)))
    assert seen.table().equals(alone.table()) and not seen.recorded and not seen.interrupted
    unrecorded = pl.plan(TASK, pl.MLP(12), **SETTINGS).run()
    assert unrecorded.table().equals(alone.table())


def test_an_observer_pauses_and_stops():
    class Paused(Notes):
        def recorded(self, runs, steps, values):
            super().recorded(runs, steps, values)
            self.going.clear()

    notes, done = Paused(), []
    endless = plan(steps=2_000_000, rate=1e-6, seeds=4)
    thread = threading.Thread(target=lambda: done.append(endless.run(observer=notes)))
    thread.start()
    deadline = time.monotonic() + 60
    while notes.going.is_set() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)  # calls that were under way end
    before = len(notes.rows)
    time.sleep(1.0)
    assert len(notes.rows) == before > 0
    notes.going.set()
    while len(notes.rows) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(notes.rows) > before
    notes.stopped.set()  # also while it is paused
    thread.join(20)
    (runs,) = done
    assert runs.interrupted and not notes.ends
    assert all(outcome in (Outcome.RUNNING, Outcome.NOT_STARTED) for outcome in runs.outcome)


def test_an_error_of_an_observer_ends_the_work():
    class Broken(Observer):
        def recorded(self, runs, steps, values):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        plan(steps=100).run(observer=Broken())
    assert np.isfinite(plan(steps=100).run().steps).all()
