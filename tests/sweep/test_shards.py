"""Shards are read as they were written or not at all, and every run counts once."""

import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paritylab.sweep import Store
from paritylab.sweep.check import check_store
from paritylab.sweep.leases import HeartbeatLeases
from paritylab.sweep.shards import ARROW, FORMAT, KEY, PARQUET, encode, inspect, read


def rows(*names: str, **columns) -> pa.Table:
    return pa.table({"run": pa.array(names, pa.string()), **columns})


def training(first: int, count: int = 5) -> pa.Table:
    names = [f"run {i}" for i in range(first, first + count)]
    return rows(*names, outcome=pa.array(["learned"] * count), steps=pa.array(range(first, first + count)))


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path, heard) -> Store:
    made = Store.create(tmp_path / "store", say=heard.append)
    for first in (0, 5, 10):
        made.add(training(first), {"job": f"job {first}"})
    return made


def files(store: Store) -> list:
    return sorted((store.folder / "runs").iterdir())


@pytest.mark.parametrize("merged", [False, True], ids=["small", "merged"])
def test_a_shard_comes_back_with_what_is_inside(tmp_path, merged):
    table = training(0).append_column("recorded_step", pa.array([[0, 10]] * 5))
    name, content, shard = encode(table, {"one": {"job": "one"}}, merged)
    path = tmp_path / name
    path.write_bytes(content)
    assert path.suffix == (PARQUET if merged else ARROW)
    assert inspect(path) == shard and shard.hashed and shard.manifests == {"one": {"job": "one"}}
    assert read(path).equals(table) and read(path, plain=True).equals(training(0))
    assert json.loads(shard.about)["format"] == FORMAT


@pytest.mark.parametrize("merged", [False, True], ids=["small", "merged"])
def test_no_flipped_bit_is_overlooked(store, heard, merged):
    """A few hundred here, evenly spread; ten thousand in the acceptance tests."""
    if merged:
        store.compact()
    path = files(store)[0]
    content, lost = path.read_bytes(), len(inspect(path).runs)
    for place in np.linspace(0, 8 * len(content) - 1, 150).astype(int):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        heard.clear()
        again = Store(store.folder, say=heard.append)
        assert len(again) == len(again.table()) == 15 - lost and len(heard) == 1 and str(path) in heard[0]
        for aside in (store.folder / "aside").iterdir():
            aside.unlink()
    path.write_bytes(content)
    assert len(Store(store.folder).table()) == 15


def test_what_is_found_to_be_damaged_when_read_is_missing_from_then_on(store, heard):
    path = files(store)[1]
    path.write_bytes(path.read_bytes()[:-1])
    assert len(store) == 15 and len(store.table()) == 10 and len(store) == 10 and len(heard) == 1
    assert len(store.missing([f"run {i}" for i in range(15)])) == 5


def test_a_compaction_finds_a_damaged_file_and_merges_the_others(store, heard):
    files(store)[1].write_bytes(b"")
    (merged,) = store.compact()
    assert files(store) == [merged] and len(heard) == 1 and len(store) == 10
    assert len(Store(store.folder).table()) == 10


def test_a_run_in_several_shards_counts_once(store, heard):
    shutil.copy(files(store)[0], store.folder / "runs" / "a copy.parquet")  # a name without a hash
    name, content, _ = encode(training(3, 4), {"other": {"job": "other"}})
    (store.folder / "runs" / name).write_bytes(content)
    again = Store(store.folder, say=heard.append)
    table = again.table()
    assert len(again) == len(table) == 15 and table.run.is_unique and len(heard) == 1 and "a copy" in heard[0]
    found = check_store(store.folder)["findings"]
    assert sum(int(each["finding"].split()[0]) for each in found) == 4  # runs 3 to 6, wherever they stand second
    (merged,) = again.compact()
    assert files(store) == [merged] and len(read(merged)) == 15
    assert check_store(store.folder)["findings"] == []


def test_a_run_that_was_trained_is_added_once(store):
    assert store.add(rows("x", "x", outcome=pa.array(["learned"] * 2)), {"job": "twice"}) == 1
    assert len(store.table()) == 16


def as_format_1(table: pa.Table, about: object) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), sink, write_page_checksum=True)
    return sink.getvalue().to_pybytes()


def test_a_store_of_format_1_is_read_and_merged_into_one_of_today(tmp_path, heard):
    folder = tmp_path / "store"
    (folder / "runs").mkdir(parents=True)
    (folder / "store.json").write_text('{"format": 1}')
    about = {"format": 1, "manifests": {"one": {"job": "one"}}, "merged": ["gone.parquet"]}
    (folder / "runs" / "0123.parquet").write_bytes(as_format_1(training(0), about))
    (folder / "runs" / "4567-merged.parquet").write_bytes(
        as_format_1(training(5), {**about, "merged": ["0123.parquet"]})
    )
    old = Store(folder, say=heard.append)
    assert len(old) == len(old.table()) == 10 and not heard  # what claims to replace others hides none of them
    assert check_store(folder)["without_hash"] == 2
    old.add(training(10), {"job": "two"})
    (path,) = old.compact()
    assert files(old) == [path] and inspect(path).hashed and len(Store(folder).table()) == 15


ABOUTS = [
    None,
    [],
    {},
    {"manifests": {}},
    {"format": 1, "manifests": []},
    {"format": 99, "manifests": {}, "merged": []},
    7,
]


@pytest.mark.parametrize("about", ABOUTS, ids=str)
def test_a_file_that_says_something_else_of_itself_is_set_aside(store, heard, about):
    (store.folder / "runs" / "foreign.parquet").write_bytes(as_format_1(training(20), about))
    assert len(Store(store.folder, say=heard.append).table()) == 15
    assert len(heard) == 1 and "was set aside" in heard[0]


@pytest.mark.parametrize("columns", [{"a": [1]}, {"run": [1]}, {"run": [None, "a"]}], ids=str)
def test_a_file_without_names_of_runs_is_set_aside(store, heard, columns):
    about = {"format": 1, "manifests": {}, "merged": []}
    (store.folder / "runs" / "foreign.parquet").write_bytes(as_format_1(pa.table(columns), about))
    assert len(Store(store.folder, say=heard.append)) == 15 and len(heard) == 1


def test_a_shard_of_a_later_version_is_not_touched(store, monkeypatch):
    monkeypatch.setattr("paritylab.sweep.shards.FORMAT", 99)
    name, content, _ = encode(training(20), {})
    monkeypatch.undo()
    (store.folder / "runs" / name).write_bytes(content)
    with pytest.raises(ValueError, match="has format 99, and this paritylab reads formats up to 2"):
        Store(store.folder)
    assert (store.folder / "runs" / name).exists()


def test_what_is_no_file_is_passed_over(store, heard):
    os.mkfifo(store.folder / "runs" / "pipe.parquet")
    (store.folder / "runs" / "folder.arrow").mkdir()
    (store.folder / "runs" / "loop.arrow").symlink_to("loop.arrow")
    (store.folder / "unfinished" / "folder").mkdir()
    again = Store(store.folder, say=heard.append)
    assert again.add(training(15), {"job": "more"}) == 5 and len(again.table()) == 20 and not heard
    assert len(check_store(store.folder)["findings"]) == 3


def test_a_damaged_name_that_is_too_long_stays_where_it_is(store, heard):
    long = store.folder / "runs" / f"{'x' * 247}.parquet"
    for _ in range(2):
        long.write_bytes(b"")
        Store(store.folder, say=heard.append)
    assert len(heard) == 2 and "was set aside" in heard[0] and "left where it is" in heard[1]


def test_columns_of_several_kinds_are_named_with_their_files(store, heard):
    store.add(rows("x", width=pa.array(["k"])), {"job": "texts"})
    store.add(rows("y", width=pa.array([3])), {"job": "numbers"})
    store.add(rows("z", width=pa.array(["m"], pa.large_string())), {"job": "texts of pandas"})
    assert sorted(store.table().width.dropna()) == ["3", "k", "m"]
    (said,) = check_store(store.folder)["mixed"]
    assert "The column 'width' has " in said and said.count("texts in ") == said.count("numbers in ") == 1
    assert said.count(ARROW) == 2 and check_store(store.folder)["findings"] == []
    store.add(rows("l", width=pa.array([[1, 2]])), {"job": "lists"})
    with pytest.raises(ValueError, match=r"The column 'width' has .*lists in .*: no table holds both"):
        store.table()


def test_a_compaction_changes_no_value_of_columns_of_several_kinds(store):
    store.add(rows("x", width=pa.array(["k"])), {"job": "texts"})
    store.add(rows("y", width=pa.array([3])), {"job": "numbers"})
    store.add(rows("z", width=pa.array([[3]])), {"job": "lists"})
    merged, names = store.compact(), [["x"], ["y"], ["z"]]
    assert len(merged) == 3 and files(store) == merged and store.compact() == merged
    assert [store.arrow(each).column("width").to_pylist() for each in names] == [["k"], [3], [[3]]]
    assert len(store) == 18 and len(store.manifests()) == 6 and len(check_store(store.folder)["mixed"]) == 1


def test_lists_of_calls_are_in_the_table_and_curves_are_not(store):
    store.add(
        rows("x", outcome=pa.array(["learned"]), recorded_step=pa.array([[0, 1]]), loss=pa.array([[2, 1]])),
        {"job": "a"},
    )
    store.add(rows("y", roots=pa.array([[1.5, 2.5, 3.5]]), about=pa.array([{"a": 1}])), {"job": "b"})
    table = store.table()
    assert "loss" not in table and "recorded_step" not in table
    assert list(table.roots.dropna().iloc[0]) == [1.5, 2.5, 3.5] and table.about.dropna().iloc[0] == {"a": 1}
    assert store.curves()[["run", "step", "loss"]].values.tolist() == [["x", 0, 2], ["x", 1, 1]]


def test_a_writer_that_slept_past_its_lease_adds_nothing_twice(tmp_path, monkeypatch):
    """It wakes at each point of writing in turn, after another has taken the lease and written the same runs."""
    for moment in ("touch", "refresh", "encode", "replace"):
        folder = tmp_path / moment
        leases = lambda place: HeartbeatLeases(place, beat=100.0, patience=0.05)
        sleeper, other = Store.create(folder, leases=leases), Store.create(folder, leases=leases)
        slept: list[int] = []

        def overtaken(real, slept=slept, other=other):
            def then(*args, **kwargs):
                if not slept:
                    slept.append(1)
                    assert other.add(training(0), {"job": "one"}) == 5
                return real(*args, **kwargs)

            return then

        with monkeypatch.context() as patch:
            if moment == "encode":
                patch.setattr("paritylab.sweep.store.encode", overtaken(encode))
            elif moment == "refresh":
                patch.setattr(sleeper, "refresh", overtaken(sleeper.refresh))
            else:
                patch.setattr(f"pathlib.Path.{moment}", overtaken(getattr(type(folder), moment)))
            assert sleeper.add(training(0), {"job": "one"}) == 0
        assert slept and len(files(other)) == 1 and len(Store(folder).table()) == 5
        assert not list((folder / "unfinished").iterdir())


def test_the_check_of_a_store_changes_nothing(store, heard):
    path = files(store)[0]
    path.write_bytes(path.read_bytes()[::-1])
    before = {each: each.read_bytes() for each in store.folder.rglob("*") if each.is_file()}
    found = check_store(store.folder)
    assert {each: each.read_bytes() for each in store.folder.rglob("*") if each.is_file()} == before
    assert (found["files"], found["runs"], found["rows"], len(found["findings"])) == (2, 10, 10, 1)
    assert found["findings"][0]["file"] == path.name


def test_runs_of_merged_shards_are_read_without_the_columns_of_others(store):
    store.add(rows("a", updates=pa.array([[1, 2]])), {"job": "lists"})
    store.add(rows("b", other=pa.array([1])), {"job": "numbers"})
    store.compact()
    store.add(rows("c", updates=pa.array([3])), {"job": "updates as numbers"})
    found = store.arrow(["b", "c"])
    assert found.column("run").to_pylist() == ["b", "c"] and found.column("updates").to_pylist() == [None, 3]
