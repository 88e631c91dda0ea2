"""What a lab node pretends to have: the one truth that device files, trees and simulators derive from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

GpuState = Literal["ok", "failed", "missing"]
NicState = Literal["active", "down", "polling", "missing"]


@dataclass(frozen=True, slots=True)
class Ecc:
    """Memory errors of one GPU: since the driver was loaded (volatile) and in its life (aggregate).

    What are rows that are remapped of NVIDIA's memory are pages that are retired of AMD's.
    """

    corrected: int = 0
    uncorrected: int = 0
    corrected_aggregate: int = 0
    uncorrected_aggregate: int = 0
    remapped_rows: int = 0
    remap_pending: bool = False
    remap_failed: bool = False


@dataclass(frozen=True, slots=True)
class SimulatedGpu:
    """One GPU as the vendor's driver would show it. `failed` is visible but unusable, `missing` is gone."""

    minor: int
    model: str
    pci: str
    uuid: str
    memory_mib: int = 0
    cpu_list: str = ""
    state: GpuState = "ok"
    numa: int = 0
    ecc: Ecc = field(default_factory=Ecc)
    xids: tuple[int, ...] = ()
    """What the driver wrote to the kernel's log about this GPU, oldest first."""
    temperature_c: int | None = None
    """None: as cool as an idle GPU of this model."""
    throttle: tuple[str, ...] = ()
    """Why its clocks are held down: `hw_thermal_slowdown`, `hw_power_brake_slowdown`, `sw_power_cap`, …"""
    links_down: tuple[int, ...] = ()
    """NVLink numbers without a signal; of AMD's, the minors of the GPUs that it has no link to."""
    pci_lanes: int = 16
    """What its link to the host came up with."""


@dataclass(frozen=True, slots=True)
class SimulatedNic:
    """One network card of the compute fabric; the interface exists, its rate and PCI address are words."""

    name: str
    rate_gbps: int = 0
    pci: str = ""
    kind: str = "infiniband"
    guid: str = ""
    state: NicState = "active"
    numa: int = 0
    mtu: int = 1500


@dataclass(frozen=True, slots=True)
class SimulatedShare:
    """A parallel file system outside, as its servers are to this node; its files lie on the host."""

    kind: Literal["lustre", "beegfs", "cephfs", "weka", "s3", "gcs"]
    name: str
    """Its name; of BeeGFS, the management host."""
    servers: tuple[str, ...]
    """NIDs of the management server, monitors, the management host, or backends."""
    folder: str
    """Where the node sees the host's folder, for a mount to bind."""
    state: Literal["ok", "away", "evicted"] = "ok"
    slow: bool = False
    """Reads and writes reach a quarter of what the network allows."""
    network: str = ""
    """What the servers are reached over (an LNet network, or `tcp`), where it is not what was asked for."""
    fsid: str = ""
    """Of CephFS."""
    targets: int = 4
    """Object storage targets, beside one metadata target."""
    targets_down: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault as a person asked for it: its name, and the GPU or card (by number) that has it."""

    fault: str
    index: int = 0


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a node pretends to have, with the faults injected into it."""

    gpus: tuple[SimulatedGpu, ...] = ()
    nics: tuple[SimulatedNic, ...] = ()
    driver_version: str = ""
    """The driver that is there without a package having been installed; empty when a package brings it."""
    nvlink_domain: int = 0
    """GPUs that share one NVLink domain: 8 for HGX, 72 for NVL72, 0 or 1 for none."""
    nvlink_cluster: str = ""
    """UUID of the NVLink domain where it spans nodes; their GPUs talk to each other over NVLink."""
    loaded_driver: str = ""
    """A loaded kernel driver that is not the installed one: the state after an upgrade without a reboot."""
    fabric_manager: Literal["ok", "failed"] = "ok"
    diag: Literal["ok", "failed", "hangs"] = "ok"
    secure_boot: Literal["off", "enrolled", "stranger"] = "off"
    """Whether the firmware asks for signed modules, and knows the certificate or does not."""
    rxdm: Literal["ok", "failed"] = "ok"
    """The receive daemon of GPUDirect-TCPXO."""
    tcpxo_plugin: Literal["ok", "other"] = "ok"
    """Its plug-in for NCCL: as its image placed it, or of another release."""
    shares: tuple[SimulatedShare, ...] = ()
    address: str = ""
    """Of the node in its plain network."""
    ethernet_gbps: int = 0
    """Of the plain network: NCCL's own where there are no fabric cards."""
    bandwidth: Mapping[str, float] = field(default_factory=dict)
    """GB/s that a collective reaches, by path: `nvlink` in a node, `network` between nodes. Where none is
    told, what the links and cards below it allow."""
    faults: tuple[Injected, ...] = ()
    """Already applied to the fields above; `healthy` is what they were applied to."""
    healthy: Hardware | None = None

    @property
    def present(self) -> tuple[SimulatedGpu, ...]:
        """The GPUs that the driver finds on the bus."""
        return tuple(gpu for gpu in self.gpus if gpu.state != "missing")

    def without_faults(self) -> Hardware:
        return self.healthy or self

    def as_json(self) -> dict[str, object]:
        return {"simulated": True, **_plain(asdict(self))}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Hardware:
        """Unknown keys are left out: a node may run simulators that are older than its host."""
        known = _known(cls, document)
        for name in ("gpus", "nics", "shares", "faults"):
            if not isinstance(known.get(name, []), (list, tuple)):
                raise TypeError(f"{name} is a list")
        known["gpus"] = tuple(_gpu(gpu) for gpu in known.get("gpus", ()))
        known["nics"] = tuple(SimulatedNic(**_known(SimulatedNic, nic)) for nic in known.get("nics", ()))
        known["shares"] = tuple(_share(share) for share in known.get("shares", ()))
        known["faults"] = tuple(Injected(**fault) for fault in known.get("faults", ()))
        healthy = known.get("healthy")
        known["healthy"] = None if healthy is None else cls.from_json(healthy)
        return cls(**known)


def _gpu(document: Mapping[str, Any]) -> SimulatedGpu:
    known = _known(SimulatedGpu, document)
    known["ecc"] = Ecc(**_known(Ecc, known.get("ecc", {})))
    for name in ("xids", "throttle", "links_down"):
        known[name] = tuple(known.get(name, ()))
    return SimulatedGpu(**known)


def _share(document: Mapping[str, Any]) -> SimulatedShare:
    known = _known(SimulatedShare, document)
    for name in ("servers", "targets_down"):
        known[name] = tuple(known.get(name, ()))
    return SimulatedShare(**known)


def _known(kind: type[Any], document: Mapping[str, Any]) -> dict[str, Any]:
    names = {known.name for known in fields(kind)}
    return {name: value for name, value in document.items() if name in names}


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """Without the second copy of healthy hardware, where nothing is wrong with it."""
    if document["healthy"] is None:
        del document["healthy"]
    return document
