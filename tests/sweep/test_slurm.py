"""The Slurm example, on a queue that starts its jobs at once on this machine."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pages import LONGEST, ROOT, as_reader, read, run, smaller

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


def test_tasks_of_an_array_share_a_store(tmp_path, compiled):
    """Two at once: each run is done once, and the second submission is a no-op."""
    (tmp_path / "sweep.toml").write_text(smaller("examples/parities.toml", read("examples/parities.toml")))
    command = ["bash", str(ROOT / "examples" / "slurm-array.sh"), "sweep.toml", "store"]
    environment = as_reader(compiled) | {"SLURM_CPUS_PER_TASK": "1"}
    tasks = [subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    said = [task.communicate(timeout=LONGEST)[0].decode() for task in tasks]
    assert [task.returncode for task in tasks] == [0, 0] and all("12 of 12 runs" in each for each in said)
    store = Store(tmp_path / "store")
    assert len(store.table()) == len(store) == 12
    assert "12 of 12 runs" in run(command, tmp_path, environment)
