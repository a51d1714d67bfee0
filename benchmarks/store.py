"""A store of 100,000 runs: how long it takes to write, open, read, group and compact. Prints one JSON document.

python benchmarks/store.py [RUNS] [JOBS] [FOLDER]

FOLDER is another checkout, whose code does the same on a store of its own, in a process of its own.
"""

import hashlib
import json
import os
import subprocess
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

OURS = Path(__file__).parents[1]


def job(number: int, runs: int) -> pa.Table:
    """Rows as training leaves them, with a curve of twenty points each."""
    chance = np.random.default_rng(number)
    times = chance.integers(1, 10_000, runs) * 10
    table = {
        "run": [hashlib.sha256(f"{number} {run}".encode()).hexdigest()[:32] for run in range(runs)],
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


class Clock:
    """What each step takes, on the wall and of all cores; others may use the machine."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}

    def __call__(self, step: str, what: Callable[[], Any]) -> Any:
        begun, used = time.perf_counter(), time.process_time()
        result = what()
        self.seconds[step] = round(time.perf_counter() - begun, 3)
        self.cpu_seconds[step] = round(time.process_time() - used, 3)
        return result


def measured(runs: int, jobs: int) -> dict[str, Any]:
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        store = getattr(Store, "create", Store)(Path(folder) / "store")  # older code has no `create`
        tables = [job(number, runs // jobs) for number in range(jobs)]
        clock("write", lambda: [store.add(table, {"job": str(i), "seconds": 1.0}) for i, table in enumerate(tables)])
        expected = pd.concat(each.select(["k", "batch", "converged_at"]).to_pandas() for each in tables)
        for state in ("", ", compacted"):
            opened = clock(f"open{state}", lambda: Store(store.folder))
            table = clock(f"table{state}", opened.table)
            median = lambda table=table: table.groupby(["k", "batch"]).converged_at.median()
            medians = clock(f"median by k and batch{state}", median)
            pd.testing.assert_series_equal(
                medians, expected.groupby(["k", "batch"]).converged_at.median(), check_dtype=False
            )
            if not state:
                clock("compact", opened.compact)
        size = sum(path.stat().st_size for path in (store.folder / "runs").iterdir())
    return {
        "seconds": clock.seconds,
        "CPU seconds": clock.cpu_seconds,
        "mebibytes, compacted": round(size / 2**20, 1),
        "machine": manifest(),
    }


def elsewhere(code: Path, runs: int, jobs: int) -> dict[str, Any]:
    """The same, measured in a process that imports the code of a checkout."""
    command = [sys.executable, __file__, str(runs), str(jobs)]
    environment = {**os.environ, "PYTHONPATH": str(code.resolve())}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def main(runs: int, jobs: int, other: Path | None = None) -> dict[str, Any]:
    if other is None:
        return {"runs": runs, "jobs": jobs, **measured(runs, jobs)}
    theirs, ours = (elsewhere(code, runs, jobs) for code in (other, OURS))
    faster = {
        kind: {step: round(theirs[kind][step] / max(taken, 0.001), 2) for step, taken in ours[kind].items()}
        for kind in ("seconds", "CPU seconds")
    }
    return {**ours, "other code": theirs, "times faster than the other code": faster}


if __name__ == "__main__":
    runs, jobs = map(int, sys.argv[1:3] or ("100_000", "500"))
    print(json.dumps(main(runs, jobs, *map(Path, sys.argv[3:])), indent=1))
