#!/bin/bash
#SBATCH --job-name=pytorch-elastic
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=8 --exclusive
#SBATCH --time=4:00:00 --signal=B:USR1@300
#SBATCH --requeue --no-kill --open-mode=append
set -eu
. ../container.sh "${IMAGE:-nvcr.io/nvidia/pytorch:25.04-py3}"
stop=$PWD/stop.$SLURM_JOB_ID
rm -f "$stop" # of an earlier start that was killed
trap 'touch "$stop"' USR1
trap 'rm -f "$stop"' EXIT
srun --no-kill "${container[@]}" torchrun --nnodes="1:$SLURM_NNODES" --nproc-per-node=auto \
    --max-restarts=3 --rdzv-id="$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}" --rdzv-backend=c10d \
    --rdzv-endpoint="$(hostname):$((10000 + SLURM_JOB_ID % 20000))" \
    train.py --stop-file="$stop" "$@" &
wait $! || true # a signal ends it early; the second one is told how srun ended in any case
code=0
wait $! || code=$?
[ ! -e "$stop" ] || [ "$code" != 0 ] || scontrol requeue "$SLURM_JOB_ID"
exit "$code"
