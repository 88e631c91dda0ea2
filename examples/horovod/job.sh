#!/bin/bash
#SBATCH --job-name=horovod
#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --exclusive
#SBATCH --time=1:00:00
set -eu
. ../container.sh "${IMAGE:-horovod/horovod:0.28.1}"
srun --mpi=pmix "${container[@]}" python3 train.py "$@"
