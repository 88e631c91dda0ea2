"""How much of a machine's software is clusterwright's to keep."""

from __future__ import annotations

from typing import Literal

AnsibleRole = Literal[
    "amd_gpu",
    "beegfs_client",
    "bucket_client",
    "cephfs_client",
    "container_images",
    "cuda",
    "dcgm",
    "efa",
    "firewall",
    "gdrcopy",
    "gds",
    "gib",
    "gpu_containers",
    "gpu_tuning",
    "gpudirect_tcpxo",
    "kernel",
    "lldp",
    "lustre_client",
    "mig",
    "monitoring",
    "nccl",
    "nccl_tests",
    "network_boot",
    "nvidia_driver",
    "nvidia_fabric",
    "nvidia_imex",
    "podman",
    "rdma",
    "shared_home",
    "sssd",
    "users",
    "weka_client",
]
"""Roles that a site may keep for itself: all but those that make a machine a node of this Slurm."""

Treatment = Literal["manage", "observe", "skip"]
"""`manage` installs and repairs, `observe` looks and says what differs, `skip` does neither."""
