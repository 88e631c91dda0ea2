#!/bin/bash
#SBATCH --job-name=pytorch-ddp
#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --exclusive
#SBATCH --time=1:00:00
set -eu
. ../container.sh "${IMAGE:-nvcr.io/nvidia/pytorch:25.04-py3}"
MASTER_ADDR=$(hostname)
export MASTER_ADDR MASTER_PORT=$((10000 + SLURM_JOB_ID % 20000))
srun "${container[@]}" python3 train.py "$@"
