"""Stores as the page shows them: counts, curves, times and maps, against what pandas and `summarize` say."""

import hashlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from serving import ask, served

from paritylab.page.results import MOST_CELLS, QUANTILES, Stores, aggregates
from paritylab.sweep.check import check_store
from paritylab.sweep.store import Store
from paritylab.training.summaries import summarize


def table(runs: int, seed: int = 0) -> pa.Table:
    """Runs as a sweep leaves them: times that grow with k, some diverged, some out of steps."""
    random = np.random.default_rng(seed)
    n, k, rate = random.choice([20, 30, 40], runs), random.choice([2, 3, 4], runs), random.choice([1.0, 0.1], runs)
    time = 10 * np.ceil(10.0**k * np.exp(0.5 * random.normal(size=runs)) / 10)
    diverged, learned = random.random(runs) < 0.05, time <= 5000
    outcome = np.where(diverged, "diverged", np.where(learned, "learned", "out_of_steps"))
    steps = np.where(diverged, 500, np.minimum(time, 5000)).astype(np.int32)
    ended = outcome == "learned"
    return pa.table(
        {
            "run": [hashlib.sha256(f"{seed}-{i}".encode()).hexdigest()[:32] for i in range(runs)],
            "n": n,
            "k": k,
            "rate": rate,
            "network": np.where(n == 20, "relu-mlp", "polynet"),
            "seed": np.arange(runs),
            "outcome": outcome,
            "converged_at": pa.array(steps, mask=~ended),
            "steps": steps,
            "error": np.where(ended, 0.0, 0.5),
            "job": [f"job-{seed}"] * runs,
        }
    )


def store_of(folder, *tables) -> Store:
    store = Store.create(folder)
    for place, each in enumerate(tables):
        store.add(each, {"job": f"job-{place}"})
    return store


@pytest.fixture
def folder(tmp_path):
    store_of(tmp_path / "store", table(700), table(500, 1))
    return tmp_path / "store"


def test_what_is_shown_is_what_the_table_says(folder):
    rows = Store(folder).table()
    found = aggregates(Stores().look(folder), {"by": "k", "x": "n", "y": "rate"})
    assert found["rows"] == found["matching"] == len(rows) == 1200
    assert found["outcomes"] == rows.outcome.value_counts().to_dict()
    assert {name: len(values) for name, values in found["axes"].items()} == {"n": 3, "k": 3, "rate": 2, "network": 2}
    for curve, summary in zip(found["survival"], sorted(summarize(rows, ["k"]), key=lambda row: row["k"]), strict=True):
        assert (curve["name"], curve["learned"], curve["runs"]) == (summary["k"], summary["learned"], summary["runs"])
        assert curve["median"] == (summary["median"] if np.isfinite(summary["median"]) else None)
    learned = rows[rows.outcome == "learned"]
    shares = learned.groupby(["rate", "n"]).size() / rows.groupby(["rate", "n"]).size()
    np.testing.assert_allclose(found["map"]["share"], shares.unstack().to_numpy())
    assert (found["map"]["x"], found["map"]["y"]) == ([20, 30, 40], [0.1, 1.0])
    for curve in found["times"]:
        for n, quantiles in zip(curve["x"], curve["quantiles"], strict=True):
            mine = rows[(rows.k == curve["name"]) & (rows.n == n)]
            # Nothing is censored before the step limit: a diverged run never learns.
            times = np.sort(np.where(mine.outcome == "learned", mine.steps, np.inf))
            expected = [times[int(np.ceil(q * len(times))) - 1] for q in QUANTILES]
            assert quantiles == [each if np.isfinite(each) else None for each in expected]


def test_filters_keep_the_runs_that_match(folder):
    rows, looked = Store(folder).table(), Stores().look(folder)
    mine = rows[(rows.k == 3) & (rows.network == "polynet")]
    found = aggregates(looked, {"where": {"k": 3, "network": "polynet"}})
    assert found["matching"] == len(mine) and found["outcomes"] == mine.outcome.value_counts().to_dict()
    assert sum(curve["runs"] for curve in found["survival"]) == len(mine) and found["by"] not in ("k", "network")
    assert len(found["sample"]) == 50 and {row[found["columns"].index("k")] for row in found["sample"]} == {3}
    again = aggregates(looked, {"by": "", "x": "", "y": "n", "where": {"k": 3}})
    assert again["y"] == "n" and {again["by"], again["x"]} == {"rate", "network"} and again["map"] is not None
    for where, words in (({"k": 5}, "k has no value 5"), ({"no": 1}, "A filter is a column"), ("k", "A filter is an")):
        with pytest.raises(ValueError, match=words):
            aggregates(looked, {"where": where})
    with pytest.raises(ValueError, match="by is a column of this store, n, k, rate, network, got 'seed'"):
        aggregates(looked, {"by": "seed"})


def test_a_sweep_in_progress_is_seen_to_grow(folder):
    with served(folder.parent) as server:
        assert ask(server, "/api/results", {"store": "store"}).json["rows"] == 1200
        store_of(folder, table(300, 2))
        assert ask(server, "/api/results", {"store": "store"}).json["rows"] == 1500
        Store(folder).compact()
        assert ask(server, "/api/results", {"store": "store"}).json["rows"] == 1500


def test_stores_of_other_things(tmp_path):
    """Calls have no outcome; a store may be empty, hold lists, or columns of too many values."""
    Store.create(tmp_path / "empty")
    calls = pa.table({"run": ["a", "b"], "x": [1.0, None], "values": [[1, 2], None], "job": ["j", "j"]})
    store_of(tmp_path / "calls", calls)
    wide = table(3000).append_column("id", pa.array(range(3000))).append_column("half", pa.array(np.arange(3000) // 4))
    store_of(tmp_path / "wide", wide)
    with served(tmp_path) as server:
        look = lambda name, **more: ask(server, "/api/results", {"store": name, **more})
        assert look("empty").json["rows"] == 0 and not look("empty").json["trained"]
        found = look("calls").json
        assert (found["trained"], found["axes"], len(found["sample"])) == (False, {"x": [1.0]}, 2)
        assert "id" not in look("wide").json["axes"] and len(look("wide").json["axes"]["half"]) == 750
        assert look("wide", by="half").json["map"] is not None or MOST_CELLS < 750 * 3
        assert len(look("wide", by="half").json["survival"]) == 8
        (tmp_path / "wide" / "store.json").write_text("{}")
        with served(tmp_path) as another:
            answer = ask(another, "/api/results", {"store": "wide"})
            assert answer.status == 422 and "does not say the version" in answer.sentence


def test_only_the_last_tables_stay_in_memory(tmp_path):
    stores = Stores()
    for place in range(6):
        store_of(tmp_path / str(place), table(10, place))
        assert len(stores.look(tmp_path / str(place)).table) == 10
    assert [folder.name for folder in stores._kept] == ["2", "3", "4", "5"]


def test_a_store_that_is_too_large_is_said(folder, monkeypatch):
    monkeypatch.setattr("paritylab.page.results.MOST_RUNS", 1000)
    with pytest.raises(ValueError, match="up to 1,000 runs, and this one has 1,200"):
        Stores().look(folder)


SWEEP = """
[fixed]
n = 8
k = 2
width = 8
batch = 8
validation = 64
steps = 400
seeds = {seeds}
[axes]
rate = [0.1, 0.2, 0.3]
"""


@pytest.mark.acceptance
def test_killing_the_server_in_the_midst_of_a_sweep_loses_nothing(tmp_path):
    """A server that looks all the time is killed while another process fills the store, again and again."""
    (tmp_path / "sweep.toml").write_text(SWEEP.format(seeds=3000) + "\n")
    command = [
        sys.executable,
        "-m",
        "paritylab",
        "sweep",
        str(tmp_path / "sweep.toml"),
        "--store",
        str(tmp_path / "store"),
    ]
    kills = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as sweep:
        while sweep.poll() is None:
            serve = [sys.executable, "-m", "paritylab", "serve", str(tmp_path), "--port", "0"]
            with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
                port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
                until = time.monotonic() + 2
                while time.monotonic() < until and sweep.poll() is None:
                    subprocess.run(
                        ["curl", "-s", "-H", "Content-Type: application/json", "-d", '{"store": "store"}',
                         f"http://127.0.0.1:{port}/api/results"], capture_output=True, check=False,
                    )  # fmt: skip
                os.kill(server.pid, signal.SIGKILL)
                kills += 1
        assert sweep.returncode == 0, sweep.stderr.read()
    found = check_store(tmp_path / "store")
    assert kills >= 2 and found["runs"] == 9000 and found["findings"] == [] and found["aside"] == 0


@pytest.mark.acceptance
def test_a_hundred_thousand_runs(tmp_path):
    """The first view is there in less than two seconds, opening the store included, and each filter after it in one."""
    store_of(tmp_path / "store", *(table(1000, seed) for seed in range(100)))
    with served(tmp_path) as server:
        begun = time.monotonic()
        found = ask(server, "/api/results", {"store": "store"}).json
        assert found["rows"] == 100_000 and time.monotonic() - begun < 2
        for k in (2, 3, 4):
            begun = time.monotonic()
            mine = ask(server, "/api/results", {"store": "store", "where": {"k": k}}).json
            assert 0 < mine["matching"] < 100_000 and time.monotonic() - begun < 1
    assert isinstance(Store(tmp_path / "store").table(), pd.DataFrame)
