"""Stores that are attacked: flipped bits, crafted damage, kills in the midst of writing, writers that fell asleep."""

import itertools
import json
import multiprocessing
import os
import random
import shutil
import signal
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from paritylab.cli import app
from paritylab.sweep import Store
from paritylab.sweep.leases import HeartbeatLeases
from paritylab.sweep.shards import KEY

pytestmark = pytest.mark.acceptance
JOBS, PER_JOB = 20, 10


def rows(job: int) -> pa.Table:
    first = job * PER_JOB
    values = np.random.default_rng(job).standard_normal(PER_JOB)
    return pa.table({
        "run": [f"{first + i:032x}" for i in range(PER_JOB)],
        "outcome": ["learned"] * PER_JOB,
        "steps": list(range(first, first + PER_JOB)),
        "value": values,
        "recorded_step": [[0, 10]] * PER_JOB,
        "loss": [[float(value), 0.0] for value in values],
    })  # fmt: skip


def filled(folder) -> Store:
    store = Store.create(folder)
    for job in range(JOBS):
        store.add(rows(job), {"job": str(job)})
    return store


@pytest.mark.parametrize("merged", [False, True], ids=["as written", "merged"])
def test_of_5000_flipped_bits_none_is_overlooked(tmp_path, merged):
    store = filled(tmp_path / "store")
    if merged:
        store.compact()
        store.add(rows(JOBS), {"job": str(JOBS)})  # whichever of the two files is damaged, rows remain
    whole, chance = store.arrow(), random.Random(merged)
    files = {path: path.read_bytes() for path in (store.folder / "runs").iterdir()}
    for _ in range(5000):
        path = chance.choice([*files])
        place = chance.randrange(8 * len(files[path]))
        flipped = bytearray(files[path])
        flipped[place // 8] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        heard: list[str] = []
        found = Store(store.folder, say=heard.append)
        table = found.arrow()
        assert len(heard) == 1 and str(path) in heard[0] and 0 < len(found) == len(table) < len(whole)
        assert table.equals(whole.filter(pa.array([run in found._holder for run in whole.column("run").to_pylist()])))
        for aside in (store.folder / "aside").iterdir():
            aside.unlink()
        path.write_bytes(files[path])
    assert Store(store.folder).arrow().equals(whole)


def crafted(folder):
    """200 kinds of damage, each a function that does it to a store."""
    first = lambda: sorted((folder / "runs").iterdir())[0]
    for share in np.linspace(0, 0.999, 40):
        yield lambda share=share: first().write_bytes(first().read_bytes()[: int(share * first().stat().st_size)])
    for more in (1, 7, 4096, 10**6):
        yield lambda more=more: first().write_bytes(first().read_bytes() + bytes(more))
    abouts = [None, 0, "", [], {}, {"format": 2}, {"manifests": {}}, {"format": "2", "manifests": {}}]
    abouts += [{"format": version, "manifests": {}, "merged": []} for version in (-1, 0, 2, 3, 99, 1e300, None, [1])]
    abouts += [{"format": 1, "manifests": wrong, "merged": []} for wrong in (None, [], 1, "x")]
    tables = [rows(0), rows(0).drop_columns("run"), rows(0).rename_columns(["RUN", *rows(0).column_names[1:]])]
    tables += [pa.table({"run": [1, 2]}), pa.table({"run": [None]}, pa.schema({"run": pa.string()})), pa.table({})]
    for about, table in itertools.product(abouts, tables):
        yield lambda about=about, table=table: _parquet(folder / "runs" / "crafted.parquet", table, about)
    foreign = [
        b"",
        b"PAR1",
        b"PAR1" * 100,
        b"ARROW1\0\0",
        os.urandom(1000),
        b"{}",
        b"\0" * 4096,
        b"PAR1" + b"\xff" * 64,
    ]
    for content, name in itertools.product(foreign, ("x.parquet", "x.arrow", f"x-sha256-{32 * 'a'}.arrow")):
        yield lambda content=content, name=name: (folder / "runs" / name).write_bytes(content)
    for name in ("pipe.parquet", "pipe.arrow"):
        yield lambda name=name: os.mkfifo(folder / "runs" / name)
    for place in ("runs/a.parquet", "unfinished/a", "aside/a", "failures/a.json", "leases/a"):
        yield lambda place=place: (folder / place).mkdir()
    yield lambda: shutil.copy(first(), folder / "runs" / "a copy.arrow")
    yield lambda: (folder / "runs" / "loop.parquet").symlink_to("loop.parquet")
    yield lambda: (folder / "runs" / f"{'x' * 240}.parquet").write_bytes(b"")
    for wrong in ("", "[]", "nonsense", '{"a": '):
        yield lambda wrong=wrong: (folder / "failures" / "a.json").write_text(wrong)


def _parquet(path, table: pa.Table, about) -> None:
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), path)


def test_of_200_crafted_damages_none_changes_a_value_or_is_a_traceback(tmp_path):
    whole = filled(tmp_path / "model").arrow()
    count = 0
    for place in range(10**6):
        folder = tmp_path / "store"
        shutil.copytree(tmp_path / "model", folder)
        damage = next(itertools.islice(crafted(folder), place, None), None)
        if damage is None:
            break
        count += 1
        damage()
        checked = CliRunner().invoke(app, ["store", "check", str(folder), "--json"])
        assert checked.exit_code in (0, 1) and json.loads(checked.stdout)["runs"] <= JOBS * PER_JOB
        found = Store(folder, say=lambda _: None)
        found.failures()
        table = found.arrow()
        assert len(table) == len(found) in (len(whole), len(whole) - PER_JOB), place
        assert table.equals(whole.filter(pa.array([run in found._holder for run in whole.column("run").to_pylist()])))
        for job in range(JOBS):
            found.add(rows(job), {"job": str(job)})
        assert found.arrow().equals(whole), place
        shutil.rmtree(folder)
    assert count >= 200


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"format": null}', b'{"format": 3}', b"\xff", None])
def test_what_is_no_store_is_one_sentence(tmp_path, content):
    about = filled(tmp_path / "store").folder / "store.json"
    about.unlink()
    if content is None:
        about.mkdir()
    else:
        about.write_bytes(content)
    with pytest.raises(ValueError, match=r"(does not say the version|has format)"):
        Store(tmp_path / "store")


def _write_all(folder, seed: int, heartbeat: bool) -> None:
    leases = {"leases": lambda place: HeartbeatLeases(place, beat=0.05, patience=0.4)} if heartbeat else {}
    store, order = Store.create(folder, say=lambda _: None, **leases), random.Random(seed)
    for job in order.sample(range(JOBS), JOBS):
        store.add(rows(job), {"job": str(job)})
        if order.random() < 0.1:
            store.compact()


def test_writers_that_are_suspended_past_their_leases_double_no_row(tmp_path):
    """Two writers at a time take turns in being stopped at random, for longer than a lease lasts."""
    chance, spawn = random.Random(0), multiprocessing.get_context("spawn")
    for turn in range(10):
        folder = tmp_path / str(turn)
        writers = [spawn.Process(target=_write_all, args=(folder, 2 * turn + i, True)) for i in range(2)]
        for writer in writers:
            writer.start()
        stops = 0
        while any(writer.is_alive() for writer in writers):
            time.sleep(chance.uniform(0, 0.3))
            sleeper = chance.choice(writers)
            if sleeper.is_alive() and folder.exists() and stops < 6:
                os.kill(sleeper.pid, signal.SIGSTOP)
                time.sleep(chance.uniform(0.5, 1.0))
                os.kill(sleeper.pid, signal.SIGCONT)
                stops += 1
        assert all(writer.exitcode == 0 for writer in writers)
        table = Store(folder).table()
        assert len(table) == JOBS * PER_JOB and table.run.is_unique
        assert sorted(table.steps) == list(range(JOBS * PER_JOB))


def test_writers_that_are_killed_while_they_write_or_merge_lose_nothing_that_was_there(tmp_path):
    chance, spawn, folder, seen = random.Random(1), multiprocessing.get_context("spawn"), tmp_path / "store", set()
    filled(folder)
    for turn in range(40):
        writer = spawn.Process(target=_keep_writing, args=(folder, turn))
        writer.start()
        give_up = time.monotonic() + 30
        while not any((folder / "unfinished").iterdir()) and time.monotonic() < give_up:
            pass  # a draft is there: it writes or merges
        time.sleep(chance.uniform(0, 0.01))
        writer.kill()
        writer.join()
        heard: list[str] = []
        found = Store(folder, say=heard.append)
        table = found.table()
        assert not heard and table.run.is_unique and seen <= {*table.run} and len(table) >= JOBS * PER_JOB
        seen = {*table.run}


def _keep_writing(folder, turn: int) -> None:
    store = Store(folder, say=lambda _: None)
    for job in range(10**6):
        noise = np.random.default_rng(job).standard_normal(2000)
        names = [f"{turn} {job} {i}" for i in range(2000)]
        store.add(pa.table({"run": names, "value": noise}), {"job": f"{turn} {job}"})
        store.compact()
