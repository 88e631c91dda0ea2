"""Everything that can be broken by name. Each fault changes the state, and taking it back restores it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from .bandwidth import bus_bandwidth
from .hardware import Hardware, Injected, SimulatedGpu, SimulatedNic, SimulatedShare


@dataclass(frozen=True, slots=True)
class Fault:
    """`of` says what the number with it counts; a fault of the node takes none."""

    name: str
    of: Literal["gpu", "nic", "share", "node"]
    what: str
    apply: Callable[[Hardware, int], Hardware]
    vendor: Literal["", "amd", "nvidia"] = ""
    """Whose GPUs can have it; empty: any."""


class NoSuchPart(ValueError):
    """The node has no GPU, card or parallel file system of this number, or there is no fault of this name."""


_KINDS = {"lustre": "Lustre", "beegfs": "BeeGFS", "cephfs": "CephFS", "weka": "WEKA"}
"""What the names of faults begin with that one kind of parallel file system has."""


def inject(hardware: Hardware, name: str, index: int = 0) -> Hardware:
    """The hardware with one more fault; injecting one twice changes nothing."""
    wanted = Injected(name, index)
    if name not in FAULTS:
        raise NoSuchPart(f"there is no fault {name}; known: {', '.join(FAULTS)}")
    of = FAULTS[name].of
    count = {
        "gpu": len(hardware.gpus), "nic": len(hardware.nics), "share": len(hardware.shares), "node": 1
    }[of]  # fmt: skip
    if not 0 <= index < count:
        raise NoSuchPart(f"the node has no {of} {index}")
    if FAULTS[name].vendor and FAULTS[name].vendor != _vendor(hardware, index):
        raise NoSuchPart(f"{name} is no fault of GPU {index} of the node, {hardware.gpus[index].model}")
    kind = name.partition("-")[0]
    if kind in _KINDS and hardware.shares[index].kind != kind:
        raise NoSuchPart(f"share {index} of the node is no {_KINDS[kind]} file system")
    return with_faults(hardware, (*(fault for fault in hardware.faults if fault != wanted), wanted))


def _vendor(hardware: Hardware, index: int) -> str:
    return "amd" if hardware.gpus[index].model.startswith("AMD") else "nvidia"


def clear(hardware: Hardware, name: str | None = None, index: int | None = None) -> Hardware:
    """The hardware without this fault, without this fault anywhere, or without any."""
    kept = tuple(
        fault
        for fault in hardware.faults
        if (name is not None and fault.fault != name) or (index is not None and fault.index != index)
    )
    return with_faults(hardware, kept)


def with_faults(hardware: Hardware, faults: tuple[Injected, ...]) -> Hardware:
    """Exactly these faults, on what the hardware was before any."""
    healthy = hardware.without_faults()
    if not faults:
        return healthy
    broken = healthy
    for fault in faults:
        broken = FAULTS[fault.fault].apply(broken, fault.index)
    return replace(broken, faults=faults, healthy=healthy)


def _gpu(change: Callable[[SimulatedGpu], SimulatedGpu]) -> Callable[[Hardware, int], Hardware]:
    def apply(hardware: Hardware, index: int) -> Hardware:
        gpus = hardware.gpus
        return replace(hardware, gpus=(*gpus[:index], change(gpus[index]), *gpus[index + 1 :]))

    return apply


def _nic(change: Callable[[SimulatedNic], SimulatedNic]) -> Callable[[Hardware, int], Hardware]:
    def apply(hardware: Hardware, index: int) -> Hardware:
        nics = hardware.nics
        return replace(hardware, nics=(*nics[:index], change(nics[index]), *nics[index + 1 :]))

    return apply


def _share(change: Callable[[SimulatedShare], SimulatedShare]) -> Callable[[Hardware, int], Hardware]:
    def apply(hardware: Hardware, index: int) -> Hardware:
        shares = hardware.shares
        return replace(hardware, shares=(*shares[:index], change(shares[index]), *shares[index + 1 :]))

    return apply


def _xid(gpu: SimulatedGpu, *numbers: int) -> SimulatedGpu:
    return replace(gpu, xids=(*gpu.xids, *numbers))


def _ecc(gpu: SimulatedGpu) -> SimulatedGpu:
    counts = replace(gpu.ecc, uncorrected=2, uncorrected_aggregate=2, remapped_rows=1, remap_pending=True)
    return replace(_xid(gpu, 48, 63), ecc=counts)


def _corrected(gpu: SimulatedGpu) -> SimulatedGpu:
    return replace(gpu, ecc=replace(gpu.ecc, corrected=1200, corrected_aggregate=1200))


def _row_remap_failed(gpu: SimulatedGpu) -> SimulatedGpu:
    counts = replace(gpu.ecc, uncorrected_aggregate=9, remapped_rows=8, remap_failed=True)
    return replace(_xid(gpu, 64), ecc=counts)


def _link_down(gpu: SimulatedGpu) -> SimulatedGpu:
    return replace(_xid(gpu, 74), links_down=(0,))


def _page_waits(gpu: SimulatedGpu) -> SimulatedGpu:
    return replace(gpu, ecc=replace(gpu.ecc, uncorrected_aggregate=1, remap_pending=True))


def _page_stays(gpu: SimulatedGpu) -> SimulatedGpu:
    return replace(gpu, ecc=replace(gpu.ecc, uncorrected_aggregate=9, remapped_rows=8, remap_failed=True))


def _xgmi_down(hardware: Hardware, index: int) -> Hardware:
    """The link to the GPU after it, or before the last."""
    other = hardware.gpus[index + 1 if index + 1 < len(hardware.gpus) else index - 1].minor
    return _gpu(lambda gpu: replace(gpu, links_down=(other,)))(hardware, index)


def _hot(gpu: SimulatedGpu) -> SimulatedGpu:
    return replace(gpu, temperature_c=92, throttle=("hw_slowdown", "hw_thermal_slowdown"))


def _power_brake(gpu: SimulatedGpu) -> SimulatedGpu:
    return replace(gpu, throttle=("hw_slowdown", "hw_power_brake_slowdown"))


def _narrow(gpu: SimulatedGpu) -> SimulatedGpu:
    return replace(gpu, pci_lanes=gpu.pci_lanes // 2)


def _half(path: str) -> Callable[[Hardware, int], Hardware]:
    def apply(hardware: Hardware, _: int) -> Hardware:
        return replace(
            hardware, bandwidth={**hardware.bandwidth, path: round(bus_bandwidth(hardware, path) / 2, 2)}
        )

    return apply


def _slow_nic(nic: SimulatedNic) -> SimulatedNic:
    return replace(nic, rate_gbps=nic.rate_gbps // 4)


def _other_driver(hardware: Hardware, _: int) -> Hardware:
    """The kernel still runs the driver of before an upgrade."""
    return replace(hardware, loaded_driver="535.183.01")


_ALL = (
    Fault("ecc", "gpu", "uncorrectable memory errors, a row waits to be remapped", _gpu(_ecc)),
    Fault("ecc-corrected", "gpu", "many corrected memory errors: worn, and still right", _gpu(_corrected)),
    Fault("row-remap-failed", "gpu", "no spare row is left: to be replaced",
          _gpu(_row_remap_failed), "nvidia"),
    Fault("xid", "gpu", "Xid 79, fallen off the bus: seen, and does not answer",
          _gpu(lambda gpu: replace(_xid(gpu, 79), state="failed")), "nvidia"),
    Fault("gpu-missing", "gpu", "not on the bus", _gpu(lambda gpu: replace(gpu, state="missing"))),
    Fault("nvlink-down", "gpu", "NVLink 0 has no signal", _gpu(_link_down), "nvidia"),
    Fault("bad-page", "gpu", "a page of its memory waits to be retired (AMD)", _gpu(_page_waits), "amd"),
    Fault("bad-page-stays", "gpu", "a bad page cannot be taken out of use: to be replaced (AMD)",
          _gpu(_page_stays), "amd"),
    Fault("xgmi-down", "gpu", "its XGMI link to the next GPU is down (AMD)", _xgmi_down, "amd"),
    Fault("thermal-slowdown", "gpu", "too hot, the hardware slows its clocks", _gpu(_hot)),
    Fault("power-brake", "gpu", "the power supply asks for slower clocks", _gpu(_power_brake)),
    Fault("pci-narrow", "gpu", "its PCI link came up with half of its lanes", _gpu(_narrow)),
    Fault("nic-missing", "nic", "not on the bus", _nic(lambda nic: replace(nic, state="missing"))),
    Fault("nic-down", "nic", "no link: Down, Polling", _nic(lambda nic: replace(nic, state="polling"))),
    Fault("nic-slow", "nic", "the link came up with a quarter of its rate", _nic(_slow_nic)),
    Fault("share-away", "share", "its servers do not answer: nothing new is mounted",
          _share(lambda share: replace(share, state="away"))),
    Fault("share-slow", "share", "reads and writes reach a quarter of what the network allows",
          _share(lambda share: replace(share, slow=True))),
    Fault("lustre-evicted", "share", "its servers evicted this client",
          _share(lambda share: replace(share, state="evicted"))),
    Fault("lustre-target-down", "share", "one of its object storage targets does not answer",
          _share(lambda share: replace(share, targets_down=(1,)))),
    Fault("lustre-over-tcp", "share", "its servers are reached over TCP instead of the fabric",
          _share(lambda share: replace(share, network="tcp"))),
    Fault("beegfs-target-down", "share", "one of its storage targets is offline",
          _share(lambda share: replace(share, targets_down=(1,)))),
    Fault("beegfs-over-tcp", "share", "its servers are reached over a fallback route instead of RDMA",
          _share(lambda share: replace(share, network="tcp"))),
    Fault("cephfs-evicted", "share", "its metadata servers evicted this client and blocklisted it",
          _share(lambda share: replace(share, state="evicted"))),
    Fault("weka-removed", "share", "its cluster removed this client, as it does after an hour without a word",
          _share(lambda share: replace(share, state="evicted"))),
    Fault("driver-mismatch", "node", "another driver is loaded than is installed", _other_driver),
    Fault("fabric-manager", "node", "Fabric Manager does not start",
          lambda hardware, _: replace(hardware, fabric_manager="failed")),
    Fault("key-not-enrolled", "node", "Secure Boot is on, and the firmware does not know who signs modules",
          lambda hardware, _: replace(hardware, secure_boot="stranger")),
    Fault("rxdm", "node", "the receive daemon of GPUDirect-TCPXO ends and does not start",
          lambda hardware, _: replace(hardware, rxdm="failed")),
    Fault("tcpxo-plugin", "node", "the plug-in of GPUDirect-TCPXO is one of another release",
          lambda hardware, _: replace(hardware, tcpxo_plugin="other")),
    Fault("diag-fails", "node", "dcgmi diag finds a GPU with a corrupt InfoROM",
          lambda hardware, _: replace(hardware, diag="failed")),
    Fault("diag-hangs", "node", "dcgmi diag never returns",
          lambda hardware, _: replace(hardware, diag="hangs")),
    Fault("nvlink-slow", "node", "collectives in the node reach half of their rate", _half("nvlink")),
    Fault("network-slow", "node", "collectives between nodes reach half of their rate", _half("network")),
)  # fmt: skip
FAULTS: Mapping[str, Fault] = {fault.name: fault for fault in _ALL}
