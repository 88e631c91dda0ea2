"""What `diagnose` asks a node, by the name of the file that the answer goes to."""

from __future__ import annotations

from collections.abc import Mapping

_LOGS = "slurmctld.log slurmd.log slurmdbd.log slurmrestd.log"
_PACKAGES = "'slurm*' 'munge*' 'mariadb*' 'openmpi*' '*nvidia*'"
_UNITS = "'slurm*' 'munge*' mariadb clusterwright-gate chrony chronyd"

EVERYWHERE: Mapping[str, str] = {
    "versions.txt": "uname -a; cat /etc/os-release; "
    f"{{ dpkg-query --show {_PACKAGES}; rpm --query --all {_PACKAGES}; }} 2>/dev/null",
    "units.txt": f"systemctl list-units --failed --no-pager; systemctl status --no-pager --lines=0 {_UNITS}",
    "gate.json": "cat /run/clusterwright/gate.json",
    "node.json": "cat /etc/clusterwright/node.json",
    "slurm.conf": "cat /etc/slurm/slurm.conf /run/slurm/conf/slurm.conf 2>/dev/null",
    "slurm.log": f"for log in {_LOGS}; do tail -n4000 -v /var/log/slurm/$log /var/log/$log; done 2>/dev/null",
    "resources.txt": "df --human-readable; df --inodes; free --mebi; uptime; ip -brief address",
    "kernel.txt": "dmesg 2>/dev/null | tail --lines=200",
}
ON_GPU_NODES: Mapping[str, Mapping[str, str]] = {
    "nvidia": {"devices.txt": "nvidia-smi -L; ls -l /dev/nvidia*"},
    "amd": {"devices.txt": "rocm-smi --showid; ls -l /dev/kfd /dev/dri"},
}
"""By the GPUs' vendor. An image may hold the programs also where a node has none."""
ON_CONTROLLERS: Mapping[str, str] = {
    "slurm.txt": "sinfo --list-reasons; sinfo --Node --long; squeue; scontrol show nodes; sdiag",
    "accounting.txt": "sacctmgr --parsable2 show associations; "
    "sacct --allusers --starttime=now-1days | tail --lines=200",
}
