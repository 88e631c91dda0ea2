"""One GPU as its sensors and counters read now; every program about GPUs shows some of this."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from . import board
from .facts import Model, model_named
from .hardware import SimulatedGpu
from .node import Node
from .partitions import Instance, Profile, device_uuid, instances

REASONS = {
    "gpu_idle": 0x1,
    "applications_clocks_setting": 0x2,
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake_slowdown": 0x80,
    "display_clock_setting": 0x100,
}
"""Bits of the clocks event reasons, as nvml.h numbers them."""
_MAX_OPERATING_C = 87
"""An H100 at 41 C has a T.Limit of 46 C: at this temperature it reads 0."""
_NO_CLUSTER = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class MigDevice:
    """A compute instance, which programs see as a GPU of its own."""

    profile: str
    uuid: str
    instance: Instance


@dataclass(frozen=True, slots=True)
class Reading:
    """What the driver tells of one GPU. None is what it does not tell, or no source tells of this model."""

    gpu: SimulatedGpu
    model: Model
    driver: str
    index: int
    count: int
    timestamp: str
    persistent: bool
    mig_mode: bool
    mig_pending: bool
    """What it becomes with a reset of the GPU: from Hopper on at once."""
    fabric: str | None
    cluster: str
    """UUID of an NVLink domain that spans nodes; empty for one that does not."""
    """`Completed` or `In Progress` on a GPU that joins an NVLink fabric, None on one that does not."""
    mig_devices: tuple[MigDevice, ...] = ()

    @property
    def serial(self) -> str:
        """Says that the card is simulated, wherever a serial number is shown."""
        digest = hashlib.sha256(self.gpu.uuid.encode()).hexdigest()
        return f"SIMULATED{int(digest, 16) % 10000:04d}"

    @property
    def bus_id(self) -> str:
        """`00000000:1B:00.0`, as NVML writes it."""
        domain, _, rest = self.gpu.pci.partition(":")
        return f"{domain.rjust(8, '0')}:{rest}".upper()

    @property
    def pci_domain(self) -> str:
        return f"0x{self.bus_id[4:8]}"

    @property
    def pci_bus(self) -> str:
        return f"0x{self.bus_id[9:11]}"

    @property
    def pci_device(self) -> str:
        return f"0x{self.bus_id[12:14]}"

    @property
    def pci_device_id(self) -> str | None:
        return self.model.device_id and f"0x{self.model.device_id}10DE"

    @property
    def pci_subsystem_id(self) -> str | None:
        return self.model.subsystem_id and f"0x{self.model.subsystem_id}10DE"

    @property
    def board_id(self) -> str:
        return f"0x{int(self.pci_bus, 16) * 256:x}"

    @property
    def link_width(self) -> str:
        return f"{self.gpu.pci_lanes}x"

    @property
    def module_id(self) -> int:
        return self.gpu.minor + 1

    @property
    def pdi(self) -> str:
        return f"0x{hashlib.sha256(self.gpu.uuid.encode()).hexdigest()[:16]}"

    @property
    def board(self) -> board.Board:
        return board.board_of(self.model, self.gpu.minor, self.serial)

    @property
    def memory_reserved(self) -> int:
        return min(self.model.reserved_mib, self.gpu.memory_mib)

    @property
    def memory_free(self) -> int:
        return self.gpu.memory_mib - self.memory_reserved

    @property
    def bar1_used(self) -> int | None:
        return None if self.model.bar1_mib is None else 1

    @property
    def bar1_free(self) -> int | None:
        return None if self.model.bar1_mib is None else self.model.bar1_mib - 1

    @property
    def temperature(self) -> int:
        return self.model.idle_c if self.gpu.temperature_c is None else self.gpu.temperature_c

    @property
    def temperature_limit(self) -> int | None:
        """Degrees to the highest operating temperature; negative above it."""
        return _MAX_OPERATING_C - self.temperature if self.board.distances.slowdown else None

    @property
    def memory_temperature(self) -> int | None:
        """Of HBM, which stands on the same board and is a little warmer."""
        return self.temperature + 7 if self.model.links else None

    @property
    def watts(self) -> float | None:
        return self.model.idle_watts

    @property
    def watts_average(self) -> float | None:
        return None if self.model.architecture == "Ampere" else self.model.idle_watts

    @property
    def power_limit(self) -> float | None:
        return None if self.model.power_limit is None else float(self.model.power_limit)

    @property
    def power_min(self) -> float | None:
        return None if self.model.power_min is None else float(self.model.power_min)

    @property
    def clock(self) -> int | None:
        """No job runs on a simulated GPU: it idles."""
        return self.model.idle_mhz

    @property
    def video_clock(self) -> int | None:
        return self.model.video_idle or self.model.video_mhz

    @property
    def graphics_clocks(self) -> tuple[int, ...]:
        """Those that the GPU can be locked to: in steps of 15 MHz, of 7.5 MHz on Blackwell."""
        if self.model.sm_mhz is None or self.model.idle_mhz is None:
            return ()
        halves = 15 if self.model.architecture == "Blackwell" else 30
        return tuple(
            clock // 2 for clock in range(2 * self.model.sm_mhz, 2 * self.model.idle_mhz - 1, -halves)
        )

    def mig_bar1(self, profile: Profile) -> int | None:
        """The part of the window that the GPU's own memory leaves."""
        whole = self.model.bar1_mib
        return None if whole is None else (whole - self.gpu.memory_mib) * profile.slices // 8

    @property
    def performance_state(self) -> str:
        return "P0" if self.model.ecc else "P8"

    @property
    def reasons(self) -> frozenset[str]:
        return frozenset(self.gpu.throttle) or frozenset({"gpu_idle"})

    @property
    def reasons_mask(self) -> str:
        return f"0x{sum(REASONS[reason] for reason in self.reasons):016X}"

    @property
    def last_xid(self) -> int:
        return self.gpu.xids[-1] if self.gpu.xids else 0

    @property
    def recovery_action(self) -> str:
        """What the driver recommends; a row that waits to be remapped wants a reset."""
        if self.gpu.state == "failed":
            return "Node Reboot"
        return "GPU Reset" if self.gpu.ecc.remap_pending else "None"

    @property
    def banks_max(self) -> int | None:
        """Banks of memory that have all of their spare rows."""
        return None if self.model.banks is None else self.model.banks - min(self.gpu.ecc.remapped_rows, 1)

    @property
    def banks_high(self) -> int | None:
        used = bool(self.gpu.ecc.remapped_rows) and not self.gpu.ecc.remap_failed
        return None if self.model.banks is None else int(used)

    @property
    def banks_partial(self) -> int | None:
        return None if self.model.banks is None else 0

    @property
    def banks_low(self) -> int | None:
        return None if self.model.banks is None else 0

    @property
    def banks_none(self) -> int | None:
        return None if self.model.banks is None else int(self.gpu.ecc.remap_failed)

    @property
    def fabric_status(self) -> str | None:
        return "Success" if self.fabric == "Completed" else None

    @property
    def fabric_clique(self) -> int | None:
        return None if self.fabric is None else 0

    @property
    def fabric_cluster(self) -> str | None:
        return None if self.fabric is None else self.cluster or _NO_CLUSTER


def read_gpu(node: Node, gpu: SimulatedGpu) -> Reading:
    """The GPU's values now."""
    model = model_named(gpu.model)
    mig = node.setting("mig_mode") or {}
    on = bool(mig.get(gpu.uuid)) and model.mig is not None
    return Reading(
        gpu=gpu,
        model=model,
        driver=node.loaded or "",
        index=node.gpus.index(gpu),
        count=len(node.gpus),
        timestamp=node.now.strftime("%Y/%m/%d %H:%M:%S.%f")[:-3],
        persistent=bool(node.setting("persistence_mode") or node.runs("nvidia-persistenced")),
        mig_mode=on,
        mig_pending=bool((node.setting("mig_pending") or mig).get(gpu.uuid)) and model.mig is not None,
        fabric=_fabric(node, model),
        cluster=node.hardware.nvlink_cluster,
        mig_devices=_mig_devices(node, gpu) if on else (),
    )


def _mig_devices(node: Node, gpu: SimulatedGpu) -> tuple[MigDevice, ...]:
    """In the order of their instances, as the driver numbers them."""
    made = sorted((each for each in instances(node, gpu.uuid) if each.compute), key=lambda each: each.id)
    return tuple(MigDevice(each.profile, device_uuid(gpu.uuid, each), each) for each in made)


def _fabric(node: Node, model: Model) -> str | None:
    """NVSwitch systems from Hopper on: a GPU joins the fabric when Fabric Manager has set it up. On NVL72
    that runs on the switch trays; with a driver that no package brought, it runs out of sight too."""
    if node.hardware.nvlink_domain < 8 or model.architecture not in ("Hopper", "Blackwell"):
        return None
    here = node.hardware.nvlink_domain < 36 and node.module("nvidia") is not None
    up = node.hardware.fabric_manager == "ok" and (not here or node.runs("nv-fabricmanager"))
    return "Completed" if up else "In Progress"
