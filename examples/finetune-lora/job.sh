#!/bin/bash
#SBATCH --job-name=finetune-lora
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=8 --exclusive
#SBATCH --time=4:00:00
set -eu
. ../container.sh "${IMAGE:?build it first: see README.md}"
srun "${container[@]}" torchrun --nnodes="$SLURM_NNODES" --nproc-per-node="${SLURM_GPUS_PER_NODE:-auto}" \
    --rdzv-id="$SLURM_JOB_ID" --rdzv-backend=c10d \
    --rdzv-endpoint="$(hostname):$((10000 + SLURM_JOB_ID % 20000))" \
    train.py "$@"
