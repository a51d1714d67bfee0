"""The Slurm example, on a queue that starts its jobs at once on this machine."""

import importlib.util
import os
import stat
from pathlib import Path

import pytest

pytest.importorskip("dask_jobqueue", reason="needs the extra `cluster`: pip install 'paritylab[cluster]'")

from paritylab.sweep import Store

EXAMPLE = Path(__file__).parents[2] / "examples" / "slurm.py"
SBATCH = """#!/bin/bash
# What Slurm does with a job script: checks what is asked for, and runs it somewhere.
grep -q '^#SBATCH --cpus-per-task=2' "$1" || exit 1
cp "$1" "{folder}/job-$$"
setsid bash "$1" > "{folder}/log-$$" 2>&1 &
echo $! > "{folder}/pid-$$"
echo "Submitted batch job $$"
"""
SCANCEL = """#!/bin/bash
for job in "$@"; do kill -- -$(cat "{folder}/pid-$job"); echo "$job" >> "{folder}/cancelled"; done
"""


@pytest.fixture
def queue(tmp_path, monkeypatch) -> Path:
    """`sbatch` and `scancel` as programs on the path."""
    folder = tmp_path / "queue"
    folder.mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        program = folder / name
        program.write_text(text.format(folder=folder))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.acceptance
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_the_example_runs_a_sweep_on_slurm_jobs(queue, tmp_path):
    spec = importlib.util.spec_from_file_location("slurm", EXAMPLE)
    slurm = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(slurm)
    sweep = slurm.convergence_times(seeds=3, steps=200)
    # Dask pauses a worker at 80% of its memory, for good: far more than the half gigabyte that JAX takes.
    here = {"scheduler_options": {"host": "127.0.0.1"}, "interface": "lo"}
    results = slurm.on_slurm(sweep, tmp_path / "store", jobs=2, job_cpu=2, memory="4 GB", **here)
    assert results.missing == 0 and results.table().groupby("k").size().to_dict() == {2: 6, 3: 6, 4: 6}
    scripts = [path.read_text() for path in queue.glob("job-*")]
    assert len(scripts) == 2 and all("distributed.cli.dask_worker" in script for script in scripts)
    assert len((queue / "cancelled").read_text().split()) == 2
    workers = {manifest["worker"] for manifest in Store(tmp_path / "store").manifests().values()}
    assert workers and not any(worker.endswith(f":{os.getpid()}") for worker in workers)
