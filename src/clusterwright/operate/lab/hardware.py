"""What a lab node plays of its machine type."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

from clusterwright.bundle.shares import mounted
from clusterwright.catalog.gpu_health import RDMA_KINDS
from clusterwright.catalog.hardware import Hardware, Nic
from clusterwright.catalog.machines import virtual_mtu
from clusterwright.handoff import Handoff, Node
from clusterwright.operate.lab.shares import shares_of
from clusterwright.providers.lab.simulate import Hardware as Simulated
from clusterwright.providers.lab.simulate import SimulatedGpu, SimulatedNic

_DRIVERS = {"amdgpu", "driver"}
_PREINSTALLED = "580.95.05"
"""The driver of a node whose pool has none in its lock."""


def simulated_hardware(node: Node, handoff: Handoff) -> Simulated:
    """What a lab node plays of its machine type."""
    # slurmd reads local_cpulist as processors of the machine that it runs on: with planned ones that are not
    # there, a GPU is near to no core at all, and no job can have GPUs of both sockets.
    here = Path("/sys/devices/system/cpu/online").read_text().strip()
    hardware = handoff.hardware[node.machine]
    gpus = tuple(
        SimulatedGpu(
            minor=gpu.minor,
            model=hardware.gpu_model or "unknown",
            pci=gpu.pci or _pci(gpu.minor),
            uuid=_gpu_uuid(node.name, gpu.minor),
            memory_mib=hardware.gpu_memory_mib or 0,
            cpu_list=here,
            numa=gpu.numa,
        )
        for gpu in hardware.gpus
    )
    mtu = virtual_mtu(node.machine) or 1500
    nics = tuple(
        SimulatedNic(f"{nic.kind[:8]}{nic.index}", nic.gbps, kind=nic.kind, mtu=mtu)
        for nic in _fabric_cards(hardware)
    )
    brought = _DRIVERS & set(handoff.software["stacks"].get(node.pool, {}))
    return Simulated(
        gpus,
        nics,
        driver_version=_PREINSTALLED if gpus and not brought else "",
        nvlink_domain=hardware.nvlink_domain or 0,
        nvlink_cluster=_uuid(f"{handoff.name}/{node.block}") if node.block and _spans_nodes(hardware) else "",
        shares=shares_of(mounted(handoff, node)),
        address=node.address,
        ethernet_gbps=sum(nic.gbps for nic in hardware.nics if nic.kind == "ethernet"),
    )


def _fabric_cards(hardware: Hardware) -> list[Nic]:
    """Beside RDMA cards a virtual one is the host's network; without them it is what GPUs talk over."""
    cards = [nic for nic in hardware.nics if nic.kind != "ethernet"]
    return [nic for nic in cards if nic.kind in RDMA_KINDS] or cards


def _spans_nodes(hardware: Hardware) -> bool:
    return (hardware.nvlink_domain or 0) > len(hardware.gpus)


def _pci(minor: int) -> str:
    """A place for a card whose machine type tells none."""
    return f"0000:{0x10 + 0x10 * minor:02x}:00.0"


def _gpu_uuid(node: str, minor: int) -> str:
    """The same for the life of a node's name, as a serial number is for a card."""
    return f"GPU-{_uuid(f'{node}/{minor}')}"


def _uuid(name: str) -> str:
    return str(uuid.UUID(bytes=hashlib.md5(name.encode(), usedforsecurity=False).digest()))
