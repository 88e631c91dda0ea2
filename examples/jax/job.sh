#!/bin/bash
#SBATCH --job-name=jax
#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --exclusive
#SBATCH --time=1:00:00
set -eu
. ../container.sh "${IMAGE:-ghcr.io/nvidia/jax:jax}"
srun "${container[@]}" python3 train.py "$@"
