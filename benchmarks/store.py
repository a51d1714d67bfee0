"""A store of 100,000 runs: how long it takes to write, open, read, group and compact. Prints one JSON document.

python benchmarks/store.py [RUNS] [JOBS]
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from paritylab.manifest import manifest
from paritylab.sweep import Store
from paritylab.sweep.canonical import digest


def job(number: int, runs: int) -> pa.Table:
    """Rows as training leaves them, with a curve of twenty points each."""
    chance = np.random.default_rng(number)
    times = chance.integers(1, 10_000, runs) * 10
    table = {
        "run": [digest([number, run]) for run in range(runs)],
        "k": chance.integers(2, 5, runs),
        "batch": 2 ** chance.integers(0, 8, runs),
        "rate": chance.choice([1.0, 0.1, 0.01], runs),
        "seed": np.arange(runs),
        "outcome": chance.choice(["learned", "out_of_steps"], runs),
        "converged_at": times.astype(float),
        "steps": times,
        "error": chance.random(runs),
        "network": ["relu-mlp"] * runs,
        "device": ["cpu"] * runs,
    }
    columns: dict[str, Any] = {name: pa.array(values) for name, values in table.items()}
    columns["recorded_step"] = pa.array([np.arange(20)] * runs)
    columns["fresh_error"] = pa.array(list(chance.random((runs, 20))))
    return pa.table(columns)


def timed(what: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = what()
    return round(time.perf_counter() - begun, 3), result


def main(runs: int, jobs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "store")
        tables = [job(number, runs // jobs) for number in range(jobs)]
        write = lambda: [store.add(table, {"job": str(i), "seconds": 1.0}) for i, table in enumerate(tables)]
        seconds: dict[str, float] = {}
        seconds["write"], _ = timed(write)
        for state in ("", ", compacted"):
            seconds[f"open{state}"], opened = timed(lambda: Store(store.folder))
            seconds[f"table{state}"], table = timed(opened.table)
            median = lambda table=table: table.groupby(["k", "batch"]).converged_at.median()
            seconds[f"median by k and batch{state}"], medians = timed(median)
            expected = pd.concat(each.select(["k", "batch", "converged_at"]).to_pandas() for each in tables)
            pd.testing.assert_series_equal(medians, expected.groupby(["k", "batch"]).converged_at.median())
            if not state:
                seconds["compact"], (file,) = timed(opened.compact)
        size = round(file.stat().st_size / 2**20, 1)
    return {"runs": runs, "jobs": jobs, "seconds": seconds, "mebibytes, compacted": size, "machine": manifest()}


if __name__ == "__main__":
    print(json.dumps(main(*([int(word) for word in sys.argv[1:]] or [100_000, 500])), indent=1))
