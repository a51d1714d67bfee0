"""Ten million runs of figure 2 (left), the sinusoid neuron, in one sweep: seconds until their table is there, and its
size. Prints one JSON document.

python benchmarks/many_runs.py [RUNS] [STORE]

The clock starts before Python loads anything; what is compiled is compiled within it unless the cache has it. Running
it again with the same store does what is missing.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BEGUN = time.perf_counter()

import paritylab as pl  # noqa: E402
from paritylab.experiments.hidden_progress.figure2_left import BATCH, PANELS, K, N  # noqa: E402
from paritylab.runtime import leave_devices_to_workers  # noqa: E402
from paritylab.sweep import Store, Sweep  # noqa: E402

SECONDS: dict[str, float] = {}


def note(what: str) -> None:
    """Says how long it took until something was there; a command that is stopped later has said so much."""
    SECONDS[what] = time.perf_counter() - BEGUN
    print(f"{what}: {SECONDS[what]:.1f} s", file=sys.stderr, flush=True)


def measured(runs: int, folder: Path) -> dict[str, Any]:
    note("imports")
    panel = PANELS[0]
    task, how = pl.Uniform(pl.Parity(N, support=range(K))), {"rate": panel.rate, "every": panel.every}
    planned = pl.plan(task, panel.network, batch=BATCH, seeds=runs, steps=10_000, labels={"panel": panel.name}, **how)
    store = Store.create(folder)
    results = Sweep([planned]).run(store, watch=False)
    note("trained, stored and read")
    table = results.table()
    note("as a table")
    files = store.compact()
    note("merged into one file")
    learned = table.converged_at.dropna().to_numpy(float)
    manifests = store.manifests().values()
    origin = next(iter(manifests))
    return {
        "machine": {name: origin[name] for name in ("version", "commit", "python", "jax", "device")},
        "way": planned.way,
        "runs": len(table),
        "missing": results.missing,
        "seconds_since_start": SECONDS,
        "training_seconds_of_all_workers": sum(each["training_seconds"] for each in manifests),
        "steps": int(table.steps.sum()),
        "bytes_of_the_file": sum(path.stat().st_size for path in files),
        "learned": len(learned),
        "median": float(table.converged_at.median()),
        "slowest": float(learned.max()),
    }


def main() -> None:
    leave_devices_to_workers()
    runs = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    if len(sys.argv) > 2:
        print(json.dumps(measured(runs, Path(sys.argv[2])), indent=1))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(runs, Path(folder)), indent=1))


if __name__ == "__main__":
    main()
