#!/bin/bash
#SBATCH --job-name=analytics
#SBATCH --nodes=2 --ntasks-per-node=8 --cpus-per-task=4
#SBATCH --time=1:00:00
set -eu
. ../container.sh "${IMAGE:-ghcr.io/dask/dask:latest}"
export SCHEDULER_FILE=$PWD/scheduler.$SLURM_JOB_ID.json DASK_LOGGING__DISTRIBUTED=error
trap 'rm -f "$SCHEDULER_FILE"' EXIT
# The first task is scheduler and program, the others work.
srun --kill-on-bad-exit=1 "${container[@]}" python3 analyse.py "$@"
