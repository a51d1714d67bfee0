#!/bin/bash
# A sweep by a Slurm array whose tasks share a store: sbatch slurm-array.sh SWEEP.toml /shared/folder/store
# Each task takes jobs that no other has in hand, and ends when nothing is left. Submit it again to resume.
#SBATCH --array=1-20
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@60
# TERM comes a minute before the time is up, to this process: finished jobs are kept, the others given back.
exec paritylab sweep "$1" --store "$2" --workers "${SLURM_CPUS_PER_TASK:-1}"
