# ROCm, for login shells and the jobs that they submit. A user's own choice stays.
if [ -d /opt/rocm ] && [ -z "${ROCM_PATH-}" ]; then
    export ROCM_PATH=/opt/rocm
    export PATH="/opt/rocm/bin:$PATH"
fi
