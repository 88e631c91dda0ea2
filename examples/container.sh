# shellcheck shell=bash
# `. container.sh IMAGE`: what stands between srun and a program that runs in this image, in `container`.
# Nothing of the fabric is here: each node's own files tell it to every task and every container.
image=${1:?name an image}
if srun --help | grep -q -- --container-image; then # pyxis
    [[ $image =~ ^[^/]+\.[^/]+/ ]] && image=${image/\//#}
    container=("--container-image=$image" "--container-mounts=$PWD:$PWD" "--container-workdir=$PWD")
elif command -v apptainer >/dev/null; then
    [ -e "$image" ] || image=docker://$image
    container=(apptainer exec --bind "$PWD" --pwd "$PWD")
    [ ! -e /dev/nvidiactl ] || container+=(--nv)
    [ ! -e /dev/kfd ] || container+=(--rocm)
    container+=("$image")
else
    container=(podman --log-level=error run --rm --env-host --network=host --ipc=host
        --volume="$HOME:$HOME" --volume="$PWD:$PWD" --workdir="$PWD")
    [ ! -e /run/cdi/nvidia.yaml ] || container+=(--device=nvidia.com/gpu=all)
    [ ! -e /dev/kfd ] || container+=(--device=/dev/kfd --device=/dev/dri)
    [ ! -e /dev/infiniband ] || container+=(--device=/dev/infiniband)
    [ ! -d "$image" ] || container+=(--rootfs)
    container+=("$image")
fi
