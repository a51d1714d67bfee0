"""A sweep on a Slurm cluster, through dask-jobqueue. Start it on a login node: python slurm.py STORE.

It submits Slurm jobs that are Dask workers, hands them the sweep's jobs as they come up, and ends them
when all is done. Killed or out of time, it is started again and goes on where it stopped. Only this
process touches the store; workers need the package and a network, no shared folder.
"""

import sys
from typing import Any

from dask_jobqueue import SLURMCluster
from distributed import Client

import paritylab as pl
from paritylab.sweep import Results, Sweep
from paritylab.sweep.cluster import ClientExecutor

# One thread per worker: a job of the sweep uses all cores that Slurm gives to it.
WORKER = {"cores": 1, "job_cpu": 4, "processes": 1, "memory": "8 GB", "walltime": "02:00:00"}


def convergence_times(seeds: int, steps: int) -> Sweep:
    """How long a ReLU network needs to learn a random k-parity, by degree."""
    return Sweep(
        pl.plan(
            pl.RandomTask(pl.random_parity, (30, k)),
            pl.MLP(100),
            rate=[0.1, 0.01],
            seeds=seeds,
            steps=steps,
            labels={"k": k},
        )
        for k in (2, 3, 4)
    )


def on_slurm(sweep: Sweep, store: str, jobs: int, **worker: Any) -> Results:
    """Runs a sweep on so many Slurm jobs; `worker` as SLURMCluster takes it (queue, account, job_extra_directives)."""
    with SLURMCluster(**{**WORKER, **worker}) as cluster, Client(cluster) as client:
        cluster.scale(jobs=jobs)
        return sweep.run(store, executor=ClientExecutor(client))


if __name__ == "__main__":
    results = on_slurm(convergence_times(seeds=500, steps=100_000), sys.argv[1], jobs=20)
    for row in results.summary("k", "rate"):  # a mean over `converged_at` would leave out the runs that did not learn
        print(row)
