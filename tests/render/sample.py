"""Hand-offs made by hand, small enough to read."""

from __future__ import annotations

from typing import Any

from clusterwright.catalog.hardware import Gpu, Hardware, Nic
from clusterwright.handoff import Handoff, Node

SMALL = Hardware(
    machine="small",
    provider="lab",
    architecture="x86_64",
    sockets=1,
    cores_per_socket=2,
    threads_per_core=1,
    memory_mib=2048,
    gpu_type=None,
    gpu_model=None,
    gpu_vendor=None,
    gpu_generation=None,
    gpu_memory_mib=None,
    gpus=(),
    nics=(Nic(0, "ethernet", 10),),
    power_watts=None,
    nvlink_domain=None,
    source="tests",
    date="2026-01-01",
)
H100 = Hardware(
    machine="h100",
    provider="onprem",
    architecture="x86_64",
    sockets=2,
    cores_per_socket=48,
    threads_per_core=2,
    memory_mib=2 * 1024 * 1024,
    gpu_type="h100",
    gpu_model="NVIDIA H100 80GB HBM3",
    gpu_vendor="nvidia",
    gpu_generation="hopper",
    gpu_memory_mib=81559,
    gpus=tuple(
        Gpu(minor, f"0000:{16 + minor:02x}:00.0", minor // 4, "0-47" if minor < 4 else "48-95")
        for minor in range(8)
    ),
    nics=tuple(Nic(index, "infiniband", 400) for index in range(8)),
    power_watts=10200,
    nvlink_domain=8,
    source="tests",
    date="2026-01-01",
)


def node(name: str, role: str, address: str, machine: str, **place: Any) -> Node:
    compute = role == "compute"
    return Node(
        name=name,
        pool=name.rpartition("-")[0] or name,
        roles=(role,),
        site="main",
        machine=machine,
        address=address,
        gpus=8 if machine == "h100" else 0,
        features=(),
        partitions=("gpu",) if compute else (),
        rack=place.get("rack"),
        block=place.get("block"),
        switches=place.get("switches", ()),
    )


def handoff(release: str = "24.11", count: int = 2, **scheduler: Any) -> Handoff:
    """One controller, one login node and `count` nodes with eight GPUs each."""
    width = max(3, len(str(count)))
    compute = tuple(
        node(f"gpu-{i:0{width}d}", "compute", f"10.66.{(i + 9) // 256}.{(i + 9) % 256}", "h100")
        for i in range(1, count + 1)
    )
    return Handoff(
        cluster={
            "name": "tiny",
            "domain": "internal",
            "users": {},
            "surroundings": {},
            "hooks": [],
            "converge": "push",
        },
        site={"main": {"provider": "lab", "network": "10.66.0.0/16", "place": "", "simulated": True}},
        hardware={"small": SMALL, "h100": H100},
        nodes=(
            node("controller", "controller", "10.66.0.2", "small"),
            node("login", "login", "10.66.0.3", "small"),
            *compute,
        ),
        fabric={"topology": "flat", "nodes_per_leaf": None, "block_size": None},
        storage={"shares": {}},
        scheduler={
            "release": release,
            "partitions": {
                "gpu": {
                    "name": "gpu",
                    "nodes": f"gpu-[{1:0{width}d}-{count:0{width}d}]" if count > 1 else "gpu-001",
                    "default": True,
                    "max_time": None,
                    "default_time": 3600,
                    "priority": 1,
                    "exclusive": False,
                }
            },
            "accounts": {},
            "options": {},
            "accounting": True,
            "rest": False,
            "cgroup": {"plugin": "autodetect", "mountpoint": None},
            "config_overrides": False,
            "mig": {},
            **scheduler,
        },
        software={
            "distribution": "debian-13",
            "packages": [],
            "slurm_source": "distribution",
            "slurm_repository": None,
            "containers": False,
            "monitoring": True,
            "stacks": {},
            "repositories": {},
        },
    )
