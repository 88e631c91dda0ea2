"""What a healthy GPU shows, what each Xid asks for, and how fast a healthy collective is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machines import gpu_models
from clusterwright.catalog.table import rows, whole

Action = Literal["ISOLATE", "REBOOT", "RESET", "MONITOR", "TEXT"]
"""TEXT: the line in the kernel's log says what is needed."""
Scope = Literal["node", "fabric"]
RDMA_KINDS = ("efa", "infiniband", "mrdma", "roce")
_HGX = 8


@dataclass(frozen=True, slots=True)
class GpuLinks:
    """How a GPU model is joined to others and to its host. None: no source tells, or the host decides."""

    nvlinks: int | None
    xgmi_links: int | None
    pcie_generation: int | None
    pcie_width: int | None
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class XidAction:
    """What an Xid in the kernel's log asks for, on GPUs of one generation or, when empty, of any."""

    xid: int
    generation: str
    action: Action
    what: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Threshold:
    """Bus bandwidth of NCCL's all_reduce in GB/s: a healthy system is never below `fail`."""

    gpu: str
    scope: Scope
    """Within one node, or between nodes over the fabric."""
    least_gbps: int | None
    """Of all RDMA cards of a node together: a smaller network cannot reach it."""
    fail: float
    expect: float | None
    """Below it, something is worth a look; above `fail` it is no fault."""
    source: str
    date: str


@cache
def gpu_links() -> Mapping[str, GpuLinks]:
    """By the GPU's name in the catalog."""
    return {
        row["gpu"]: GpuLinks(
            whole(row["nvlinks"]),
            whole(row["xgmi_links"]),
            whole(row["pcie_generation"]),
            whole(row["pcie_width"]),
            row["source"],
            row["date"],
        )
        for row in rows("gpu_links")
    }


@cache
def xid_actions() -> tuple[XidAction, ...]:
    return tuple(
        XidAction(
            int(row["xid"]),
            row["generation"],
            _action(row["action"]),
            row["what"],
            row["source"],
            row["date"],
        )
        for row in rows("xid_actions")
    )


@cache
def thresholds() -> tuple[Threshold, ...]:
    return tuple(
        Threshold(
            row["gpu"],
            "node" if row["scope"] == "node" else "fabric",
            whole(row["least_gbps"]),
            float(row["fail_gb_s"]),
            float(row["expect_gb_s"]) if row["expect_gb_s"] else None,
            row["source"],
            row["date"],
        )
        for row in rows("thresholds")
    )


def threshold(hardware: Hardware, scope: Scope) -> Threshold | None:
    """The bound for a machine type; None where no source has one."""
    if scope == "node" and len(hardware.gpus) < _HGX:
        return None
    names = _names(hardware)
    network = sum(nic.gbps for nic in hardware.nics if nic.kind in RDMA_KINDS)
    fitting = (
        row
        for row in thresholds()
        if row.gpu in names and row.scope == scope and (row.least_gbps is None or network >= row.least_gbps)
    )
    return next(fitting, None)


def expected(hardware: Hardware) -> Mapping[str, Any]:
    """What the gates of a node with these GPUs hold them against; empty without GPUs."""
    if not hardware.gpus:
        return {}
    links = next((gpu_links()[name] for name in _names(hardware) if name in gpu_links()), None)
    joined = (hardware.nvlink_domain or 1) > 1
    bus = {
        "pcie_generation": links.pcie_generation if links else None,
        "pcie_width": links.pcie_width if links else None,
    }
    if hardware.gpu_vendor == "amd":
        return {"xgmi_links": links.xgmi_links if links and joined else None, **bus}
    return {
        "nvlinks": links.nvlinks if links and joined else None,
        **bus,
        "xids": _xids(hardware.gpu_generation or ""),
    }


def _xids(generation: str) -> Mapping[str, list[int]]:
    """Numbers by action; a row of this generation goes before the general one."""
    chosen: dict[int, Action] = {}
    for row in sorted(xid_actions(), key=lambda row: row.generation):
        if row.generation in ("", generation):
            chosen[row.xid] = row.action
    return {action: sorted(xid for xid in chosen if chosen[xid] == action) for action in set(chosen.values())}


def _names(hardware: Hardware) -> list[str]:
    return [name for name, model in gpu_models().items() if model.model == hardware.gpu_model]


def _action(text: str) -> Action:
    known: Mapping[str, Action] = {
        "ISOLATE": "ISOLATE", "REBOOT": "REBOOT", "RESET": "RESET", "MONITOR": "MONITOR", "TEXT": "TEXT"
    }  # fmt: skip
    return known[text]
