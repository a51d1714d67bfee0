"""The store: every run once, whole or not at all, and kind to whatever is found in its folder."""

import errno
import json
import multiprocessing
import os
import resource
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paritylab.sweep import Store
from paritylab.sweep.rows import curves_of, joined
from paritylab.sweep.shards import FORMAT, DamagedShard
from paritylab.sweep.store import PROBED, _looks, write_whole


def rows(*names: str, **columns) -> pa.Table:
    return pa.table({"run": pa.array(names, pa.string()), **columns})


def add(store: Store, job: str, *names: str, **columns) -> int:
    return store.add(rows(*names, **columns), {"job": job})


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path, heard) -> Store:
    return Store.create(tmp_path / "store", say=heard.append)


def test_what_is_added_is_there_for_this_and_other_processes(store):
    assert add(store, "one", "b", "a", value=pa.array([2, 1])) == 2
    again = Store(store.folder)
    assert again.missing(["a", "c", "b"]) == [1] and len(again) == 2
    assert again.table().to_dict("list") == {"run": ["a", "b"], "value": [1, 2]}
    assert again.manifests() == {"one": {"job": "one"}}


def test_a_run_is_there_once_whoever_adds_it(store):
    other = Store(store.folder)
    add(store, "one", "a", "b", value=pa.array([1, 2]))
    assert add(other, "two", "b", "c", value=pa.array([20, 3])) == 1
    assert add(other, "three", "a", "b", value=pa.array([10, 20])) == 0
    store.refresh()
    assert store.table().value.tolist() == [1, 2, 3]
    assert set(store.manifests()) == {"one", "two"}


def test_one_call_may_give_several_rows(store):
    add(store, "one", "a", "a", "b", value=pa.array([1, 2, 3]))
    assert len(store) == 2 and store.table().value.tolist() == [1, 2, 3]


def test_jobs_of_different_kinds_share_a_store(store):
    add(store, "one", "a", width=pa.array([3]))
    add(store, "two", "b", width=pa.array(["k"]), margin=pa.array([0.5]))
    add(store, "three", "c", width=pa.array([None], pa.null()), margin=pa.array([1]))
    found = store.table()
    assert found.width.tolist()[:2] == ["3", "k"] and pd.isna(found.width[2])
    assert np.array_equal(found.margin, [np.nan, 0.5, 1.0], equal_nan=True)


def test_compacting_changes_nothing_but_the_files(store):
    for i in range(5):
        add(store, f"job {i}", f"run {i}", value=pa.array([i]), curve=pa.array([[i, i + 1]]))
    before, manifests = store.arrow(), store.manifests()
    (path,) = store.compact()
    assert [path] == list((store.folder / "runs").glob("*.parquet"))
    for seen in (store, Store(store.folder)):
        assert seen.arrow().equals(before) and seen.manifests() == manifests and len(seen) == 5
    assert store.compact() == [path]
    add(store, "more", "run 5", value=pa.array([5]))
    assert len(Store(store.folder).table()) == 6
    assert len(pq.read_table(store.compact()[0])) == 6


def test_a_compaction_killed_before_its_end_shows_no_run_twice(store, monkeypatch):
    for i in range(3):
        add(store, f"job {i}", f"run {i}", value=pa.array([i]))
    old = {path: path.read_bytes() for path in (store.folder / "runs").iterdir()}
    store.compact()
    for path, content in old.items():
        path.write_bytes(content)
    again = Store(store.folder)
    assert again.table().value.tolist() == [0, 1, 2]
    assert len(again.table()) == len(again) == 3
    again.compact()
    add(again, "more", "run 3", value=pa.array([3]))
    assert Store(store.folder).table().value.tolist() == [0, 1, 2, 3]


def test_a_reader_does_not_mind_a_compaction_beside_it(store):
    for i in range(3):
        add(store, f"job {i}", f"run {i}", value=pa.array([i]))
    other = Store(store.folder)
    store.compact()
    other.refresh()
    assert other.table().value.tolist() == [0, 1, 2] and len(other) == 3


def damage(path, how: str) -> None:
    content = path.read_bytes()
    if how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "foreign":
        pq.write_table(pa.table({"a": [1]}), path)
    else:
        flipped = bytearray(content)
        flipped[20] ^= 255  # inside the first page, which the footer says nothing about
        path.write_bytes(flipped)


@pytest.mark.parametrize("how", ["truncated", "empty", "foreign", "flipped"])
def test_a_damaged_file_is_named_and_set_aside_and_its_runs_are_missing(store, heard, how):
    add(store, "one", "a", value=pa.array([1]))
    add(store, "two", "b", value=pa.array([2]))
    (path,) = [path for path in (store.folder / "runs").iterdir() if b"two" in path.read_bytes()]
    damage(path, how)
    again = Store(store.folder, say=heard.append)
    assert again.table().value.tolist() == [1]
    assert again.missing(["a", "b"]) == [1]
    assert len(heard) == 1
    assert str(path) in heard[0] and "was set aside as" in heard[0] and "count as missing" in heard[0]
    assert [each.name for each in (store.folder / "aside").iterdir()] == [path.name]
    assert add(again, "two", "b", value=pa.array([2])) == 1
    assert Store(store.folder).table().value.tolist() == [1, 2]
    damage(path, how)
    Store(store.folder, say=heard.append).table()
    assert len(list((store.folder / "aside").iterdir())) == 2


def test_a_store_of_another_version_is_not_touched(tmp_path):
    (tmp_path / "store.json").write_text(json.dumps({"format": FORMAT + 1}))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=f"has format {FORMAT + 1}, and this paritylab reads formats 1 to {FORMAT}"):
        Store.create(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("notes.txt", "is not empty and no store"), ("store.json", "does not say the version of a store's format")],
)
def test_a_folder_of_something_else_is_not_touched(tmp_path, name, sentence):
    (tmp_path / name).write_text("{}")
    with pytest.raises(ValueError, match=sentence):
        Store.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["typo", "empty", "notes", "notes/notes.txt"])
def test_opening_a_store_makes_none(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"There is no store in .* Check the path; a sweep") as error:
        Store(tmp_path / name)
    assert f" {tmp_path / name} " in str(error.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_store_is_made_once(store):
    add(store, "one", "a", value=pa.array([1]))
    assert len(Store.create(store.folder)) == len(Store(store.folder)) == 1


def test_a_copy_without_empty_folders_is_a_store(store):
    add(store, "one", "a", value=pa.array([1]))
    for path in store.folder.iterdir():
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    again = Store(store.folder)
    assert add(again, "two", "b", value=pa.array([2])) == 1 and again.table().value.tolist() == [1, 2]


def test_a_store_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot be made"):
        Store.create(tmp_path / "file" / "store")


def test_a_disk_that_is_full_loses_nothing(store, monkeypatch, heard):
    add(store, "one", "a", value=pa.array([1]))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", raise_full)
        with pytest.raises(OSError, match="No space left"):
            add(store, "two", "b", value=pa.array([2]))
        store.note_failure("two", {})
    assert heard == ["The failure of job two could not be written down (No space left on device)."]
    assert list((store.folder / "unfinished").iterdir()) == []
    assert Store(store.folder).table().value.tolist() == [1]
    assert add(store, "two", "b", value=pa.array([2])) == 1


def raise_full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write_too_much(folder):
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    store = Store.create(folder)
    add(store, "small", "a", value=pa.array([1]))
    try:
        noise = np.random.default_rng(0).integers(0, 2**62, 100_000)
        store.add(rows(*map(str, range(100_000)), value=pa.array(noise)), {"job": "large"})
    except OSError as error:
        os._exit(error.errno)
    os._exit(0)


def test_a_limit_on_files_sizes_loses_nothing(tmp_path):
    process = multiprocessing.get_context("spawn").Process(target=_write_too_much, args=(tmp_path / "store",))
    process.start()
    process.join()
    assert process.exitcode == errno.EFBIG
    again = Store(tmp_path / "store")
    assert again.table().value.tolist() == [1] and not list((tmp_path / "store" / "unfinished").iterdir())


def _write_for_ever(folder):
    store = Store.create(folder)
    for i in range(10**6):
        noise = np.random.default_rng(i).integers(0, 2**62, 1000)
        store.add(rows(*(f"{i} {j}" for j in range(1000)), value=pa.array(noise)), {"job": str(i)})


def test_a_writer_killed_in_the_midst_leaves_whole_files(tmp_path):
    for _ in range(3):
        process = multiprocessing.get_context("spawn").Process(target=_write_for_ever, args=(tmp_path / "store",))
        process.start()
        while not list((tmp_path / "store").glob("runs/*-sha256-*")):
            time.sleep(0.01)
        time.sleep(0.2)
        process.kill()
        process.join()
        heard: list[str] = []
        again = Store(tmp_path / "store", say=heard.append)
        found = again.table()
        assert not heard and len(found) % 1000 == 0 and found.run.is_unique
    assert add(again, "next", "x", value=pa.array([1])) == 1
    assert not list((tmp_path / "store" / "unfinished").iterdir())


def test_write_whole_writes_all_or_nothing(tmp_path, monkeypatch):
    write_whole(tmp_path / "a", b"one", tmp_path)
    monkeypatch.setattr(os, "fsync", raise_full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a", b"two", tmp_path)
    assert (tmp_path / "a").read_bytes() == b"one" and len(list(tmp_path.iterdir())) == 1


def test_curves_in_long_form():
    table = pa.table(
        {
            "run": ["a", "b", "c"],
            "recorded_step": pa.array([[0, 10], None, [0]]),
            "error": pa.array([[0.5, 0.1], None, [0.4]]),
            "weights": pa.array([[[1, 2], [3, 4]], None, [[5, 6]]]),
            "step": [None, 7, None],  # of a call
        }
    )
    curves = curves_of(table)
    assert curves.run.tolist() == ["a", "a", "c"] and curves.step.tolist() == [0, 10, 0]
    assert curves.error.tolist() == [0.5, 0.1, 0.4] and curves.weights.tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ValueError, match="Nothing was recorded"):
        curves_of(table.select(["run"]))


def test_tables_that_fit_stay_as_they_are():
    tables = {"x": pa.table({"a": [1]}), "y": pa.table({"a": [1.5]}), "z": pa.table({"b": ["t"]})}
    assert joined(tables).to_pylist() == [{"a": 1.0, "b": None}, {"a": 1.5, "b": None}, {"a": None, "b": "t"}]


def test_failures_are_kept_until_they_are_forgotten(store):
    store.note_failure("one", {"traceback": "x"})
    assert Store(store.folder).failures() == {"one": {"traceback": "x"}}
    store.forget_failure("one")
    store.forget_failure("never was")
    assert store.failures() == {}


def test_only_where_the_disk_keeps_us_waiting_do_threads_look(tmp_path):
    def waits(path):
        time.sleep(0.002)
        if path.name == "70":
            raise DamagedShard("torn")
        return int(path.name), threading.get_ident()

    found = [*_looks(waits, [tmp_path / str(number) for number in range(80)])]
    assert str(found.pop(70)) == "torn"
    assert [number for number, _ in found] == [number for number in range(80) if number != 70]
    assert len({thread for _, thread in found[:PROBED]}) == 1 < len({thread for _, thread in found})
