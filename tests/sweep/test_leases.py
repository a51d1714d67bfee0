"""Leases: one owner at a time, and none that outlives it."""

import multiprocessing
import time

import pytest

from paritylab.sweep.leases import HeartbeatLeases, LockLeases, file_system, leases_in

KINDS = {
    "lock": LockLeases,
    "heartbeat": lambda folder: HeartbeatLeases(folder, beat=0.05, patience=0.5),
}


def _hold(kind, folder, ready):
    assert KINDS[kind](folder).take("job")
    ready.set()
    time.sleep(60)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lease_has_one_owner(kind, tmp_path):
    one, other = KINDS[kind](tmp_path), KINDS[kind](tmp_path)
    assert one.take("job") and not other.take("job") and other.take("another job")
    one.give_back("job")
    assert other.take("job") and not one.take("job")
    other.give_back("job")
    assert [path.name for path in tmp_path.iterdir()] == ["another job"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_lease_ends_with_its_owner_and_not_before(kind, tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    owner = context.Process(target=_hold, args=(kind, tmp_path, ready))
    owner.start()
    assert ready.wait(30)
    leases = KINDS[kind](tmp_path)
    until = time.monotonic() + 1.5  # three times the patience: a living heart is not taken for a dead one
    while time.monotonic() < until:
        assert not leases.take("job")
        time.sleep(0.05)
    owner.kill()
    owner.join()
    until = time.monotonic() + 5
    while not leases.take("job"):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_of_many_who_wait_for_a_dead_owner_one_gets_the_lease(tmp_path):
    (tmp_path / "job").write_text("nobody 17")
    waiting = [HeartbeatLeases(tmp_path, beat=0.05, patience=0.3) for _ in range(5)]
    owners = []
    until = time.monotonic() + 2
    while time.monotonic() < until:
        owners += [each for each in waiting if each.take("job")]
        time.sleep(0.02)
    assert len(owners) == 1


def test_an_owner_that_slept_for_too_long_does_not_take_its_lease_back(tmp_path):
    sleeper = HeartbeatLeases(tmp_path, beat=0.05, patience=0.3)
    assert sleeper.take("job")
    (tmp_path / "job").write_text("another 0")
    time.sleep(0.2)
    sleeper.give_back("job")
    assert (tmp_path / "job").read_text() == "another 0"


def test_no_clock_on_a_wall_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: pytest.fail("the wall clock was asked"))
    for kind in KINDS.values():
        leases = kind(tmp_path)
        assert leases.take("job") and not kind(tmp_path).take("job")
        leases.give_back("job")


def test_waiting_for_a_lease(tmp_path):
    one = LockLeases(tmp_path)
    with one.waiting_for("commit"):
        assert not LockLeases(tmp_path).take("commit")
    assert LockLeases(tmp_path).take("commit")


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/home/me/store", "ext4"), ("/data/big/store", "nfs4"), ("/data/my disk/x", "lustre"), ("/data2/x", "ext4")],
)
def test_the_file_system_of_a_folder(folder, kind, tmp_path):
    from pathlib import Path

    mounts = tmp_path / "mounts"
    mounts.write_text("/dev/a / ext4 rw 0 0\nserver:/x /data/big nfs4 rw 0 0\nother /data/my\\040disk lustre rw 0 0\n")
    assert file_system(Path(folder), mounts) == kind
    assert file_system(Path(folder), tmp_path / "none") == ""


def test_the_kind_of_lease_follows_the_file_system(tmp_path, monkeypatch):
    assert isinstance(leases_in(tmp_path), LockLeases)
    monkeypatch.setattr("paritylab.sweep.leases.file_system", lambda folder: "nfs4")
    assert isinstance(leases_in(tmp_path), HeartbeatLeases)
