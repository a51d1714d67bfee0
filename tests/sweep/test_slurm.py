"""The Slurm example, on a queue that starts its jobs at once on this machine."""

import stat
import sys
from pathlib import Path

import pytest
from pages import as_reader, read, run, smaller

pytest.importorskip("dask_jobqueue", reason="needs the extra `cluster`: pip install 'paritylab[cluster]'")

from paritylab.sweep import Store

EXAMPLE = "examples/slurm.py"
SBATCH = """#!/bin/bash
# What Slurm does with a job script: checks what is asked for, keeps a copy (who submits it deletes it), and runs that.
grep -q '^#SBATCH --cpus-per-task=4' "$1" || exit 1
cp "$1" "{folder}/job-$$"
setsid bash "{folder}/job-$$" > "{folder}/log-$$" 2>&1 &
echo $! > "{folder}/pid-$$"
echo "Submitted batch job $$"
"""
SCANCEL = """#!/bin/bash
# Notes the processes of each job before it ends them.
for job in "$@"; do
    leader=$(cat "{folder}/pid-$job")
    for stat in /proc/[0-9]*/stat; do
        read -r pid _ _ _ group _ < "$stat" && [ "$group" = "$leader" ] && echo "$pid" >> "{folder}/processes"
    done 2> /dev/null
    kill -- -$leader
    echo "$job" >> "{folder}/cancelled"
done
"""


@pytest.fixture
def queue(tmp_path) -> Path:
    """A folder with `sbatch` and `scancel`."""
    folder = tmp_path / "queue"
    folder.mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        program = folder / name
        program.write_text(text.format(folder=folder))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


def test_the_example_runs_a_sweep_on_slurm_jobs(queue, tmp_path, compiled):
    (tmp_path / "slurm.py").write_text(smaller(EXAMPLE, read(EXAMPLE)))
    environment = as_reader(compiled)
    environment["PATH"] = f"{queue}:{environment['PATH']}"
    environment["DASK_JOBQUEUE__SLURM__INTERFACE"] = "lo"  # as the configuration of a cluster says where machines meet
    # Another cluster on this machine may have the dashboard's port, which is said in a warning.
    environment["DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS"] = "{'dashboard_address': ':0'}"
    run([sys.executable, "slurm.py", "store"], tmp_path, environment)
    table = Store(tmp_path / "store").table()
    assert table.groupby("k").size().to_dict() == {2: 6, 3: 6}
    scripts = [path.read_text() for path in queue.glob("job-*")]
    assert len(scripts) == 2 and all("distributed.cli.dask_worker" in script for script in scripts)
    assert len((queue / "cancelled").read_text().split()) == 2
    workers = {worker.split(":")[1] for worker in table.worker}
    assert workers <= set((queue / "processes").read_text().split())
