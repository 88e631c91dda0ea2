#!/bin/bash
#SBATCH --job-name=tensorflow
#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --exclusive
#SBATCH --time=1:00:00
set -eu
. ../container.sh "${IMAGE:-nvcr.io/nvidia/tensorflow:25.02-tf2-py3}"
srun "${container[@]}" python3 train.py "$@"
