"""Ctrl-C is heard once: what follows it while work is wound down changes nothing."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

import paritylab as pl
from paritylab import cli, interruptions
from paritylab.interruptions import hears_once
from paritylab.sweep import Call, Store, Sweep


@pytest.fixture(autouse=True)
def answered_by_python(interruptible):
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def press(times: int = 1) -> None:
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)


def test_the_first_is_raised_and_the_others_are_ignored():
    with hears_once() as interruption:
        with pytest.raises(KeyboardInterrupt):
            press()
        press(5)
        assert interruption.heard
    with pytest.raises(KeyboardInterrupt):
        press()


@pytest.fixture
def to_the_end():
    """As on the command line: whoever is interrupted goes on to its own end."""
    made = interruptions.hear_once_to_the_end()
    yield made
    made.remove()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_sigterm_is_heard_in_the_same_way(to_the_end):
    with hears_once(), pytest.raises(interruptions.Terminated):
        signal.raise_signal(signal.SIGTERM)
    press(3)
    signal.raise_signal(signal.SIGTERM)
    assert to_the_end.terminated


def test_sigterm_while_training_is_noted(to_the_end):
    with hears_once(raising=False) as interruption:
        signal.raise_signal(signal.SIGTERM)
    assert interruption is to_the_end and interruption.terminated


def test_sigterm_is_heard_where_ctrl_c_is_ignored(monkeypatch):
    """As in the background of a shell; once work is wound down, the process ends with the signal."""
    sent = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(interruptions.Terminated), hears_once():
            press()
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10)
            finally:
                monkeypatch.setattr(signal, "raise_signal", sent.append)
        assert sent == [signal.SIGTERM] and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Presses:
    def __del__(self):
        press()


def test_one_that_comes_where_nothing_can_be_raised_is_raised_a_moment_later(capsys):
    """Python itself would print a traceback and go on."""
    with hears_once(), pytest.raises(KeyboardInterrupt):
        Presses()
        time.sleep(10)
    assert capsys.readouterr().err == ""


def test_what_else_cannot_be_raised_is_said_as_before(monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)

    class Fails:
        def __del__(self):
            raise ZeroDivisionError

    with hears_once():
        Fails()
    assert [each.exc_type for each in said] == [ZeroDivisionError] and sys.unraisablehook == said.append


def test_one_that_comes_late_is_raised_again(monkeypatch):
    """The first may have been lost."""
    now = [100.0]
    monkeypatch.setattr(interruptions.time, "monotonic", lambda: now[0])
    with hears_once():
        for moment, raised in ((100, True), (120, False), (149, False), (180, True), (181, False)):
            now[0] = float(moment)
            with pytest.raises(KeyboardInterrupt) if raised else nullcontext():
                press()


def test_what_is_only_noted_is_heard_outside_too():
    with hears_once() as outer:
        with hears_once(raising=False) as inner:
            press(3)
            assert inner.heard
        assert outer.heard
        press(3)


def test_other_threads_and_other_answers_are_left_alone():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: hears_once().__enter__().heard).result() is False
    pressed = []
    signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        with hears_once() as interruption:
            press(2)
        assert pressed == [1, 1] and not interruption.heard
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_pressed_many_times_training_gives_back_what_is_finished():
    """All of them come while threads train: those are who presses."""
    pressed = []

    def watch(status):
        for _ in range(5):
            pressed.append(status.finished)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)

    task, never = pl.Uniform(pl.Parity(20, range(9))), {"rate": 1e-6, "steps": 2_000_000}
    try:
        runs = pl.train(task, pl.MLP(4), seeds=2, validation=64, watch=watch, **never)
    except KeyboardInterrupt:
        pytest.fail("one of them got through")
    assert len(pressed) >= 5 and runs.interrupted and len(runs) == 2
    assert set(runs.table().outcome) == {"running"}


def test_pressed_many_times_a_sweep_gives_all_leases_back(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(Path(__file__).parent / "sweep")
    import jobs

    store, first = Store.create(tmp_path), threading.Event()
    give_back = store.leases.give_back

    def pressed_again(name):
        if first.is_set():
            press(3)
        give_back(name)

    def watch(progress):
        if progress.runs_done >= 2:
            first.set()
            press()

    monkeypatch.setattr(store.leases, "give_back", pressed_again)
    sweep = Sweep(Call(jobs.sleeps, {"seconds": 0.05, "x": x}) for x in range(10))
    with ThreadPoolExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        sweep.run(store, executor=executor, watch=watch)
    assert 2 <= len(Store(tmp_path)) < 10 and not list((tmp_path / "leases").iterdir())


@pytest.mark.parametrize(
    ("number", "end", "code"),
    [
        (signal.SIGINT, SystemExit(130), 130),
        (signal.SIGTERM, SystemExit(130), 143),
        (signal.SIGINT, ImportError("numpy was interrupted while it loaded"), 130),
        (None, SystemExit(2), 2),
    ],
)
def test_the_exit_code_of_the_command_line_says_what_ended_it(monkeypatch, number, end, code):
    def app():
        try:
            if number:
                signal.raise_signal(number)
        finally:
            raise end

    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    try:
        with pytest.raises(SystemExit) as ended:
            cli.main()
    finally:
        for each, nobody in interruptions.UNANSWERED.items():
            signal.signal(each, nobody)
    assert ended.value.code == code


def test_the_command_line_ignores_it_in_its_last_moments():
    """Python itself would answer no longer, and the system would end the process."""
    program = (
        "import atexit, os, signal, sys\n"
        "from paritylab.cli import main\n"
        "sys.argv = ['paritylab', '--version']\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{pl.__version__}\n", "")
