#!/bin/bash
# enroot has hooks for MPI and PyTorch under Slurm, and leaves it to the site to switch them on.
for hook in /usr/share/enroot/hooks.d/50-slurm-pmi.sh /usr/share/enroot/hooks.d/50-slurm-pytorch.sh; do
    [ ! -x "$hook" ] || "$hook" "$@" || exit
done
