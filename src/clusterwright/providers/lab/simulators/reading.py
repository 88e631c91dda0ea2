"""One GPU as its sensors and counters read now; every program about GPUs shows some of this."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .facts import Model, model_named
from .hardware import SimulatedGpu
from .node import Node
from .partitions import Instance, device_uuid, instances

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
"""41 C and a T.Limit of 46 C on an H100: the temperature at which T.Limit reads 0."""


@dataclass(frozen=True, slots=True)
class MigDevice:
    """A compute instance, which programs see as a GPU of its own."""

    profile: str
    uuid: str
    instance: Instance


@dataclass(frozen=True, slots=True)
class Reading:
    """What the driver tells of one GPU."""

    gpu: SimulatedGpu
    model: Model
    driver: str
    persistent: bool
    mig_mode: bool
    mig_pending: bool
    fabric: str | None
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
    def memory_reserved(self) -> int:
        return min(self.model.reserved_mib, self.gpu.memory_mib)

    @property
    def memory_free(self) -> int:
        return self.gpu.memory_mib - self.memory_reserved

    @property
    def temperature(self) -> int:
        return self.model.idle_c if self.gpu.temperature_c is None else self.gpu.temperature_c

    @property
    def temperature_limit(self) -> int:
        """Degrees to the highest operating temperature; negative above it."""
        return _MAX_OPERATING_C - self.temperature

    @property
    def watts(self) -> float | None:
        return self.model.idle_watts

    @property
    def slowed(self) -> bool:
        return bool(self.gpu.throttle)

    @property
    def clock(self) -> int | None:
        """The graphics clock: an idle GPU is slow by itself, one that is held down no slower than that."""
        return self.model.idle_mhz

    @property
    def performance_state(self) -> str:
        return "P0" if self.model.ecc else "P8"

    @property
    def reasons(self) -> frozenset[str]:
        return frozenset(self.gpu.throttle) or frozenset({"gpu_idle"})

    @property
    def reasons_mask(self) -> int:
        return sum(REASONS[reason] for reason in self.reasons)

    @property
    def recovery_action(self) -> str:
        """What the driver recommends; a row that waits to be remapped wants a reset."""
        if self.gpu.state == "failed":
            return "Node Reboot"
        return "GPU Reset" if self.gpu.ecc.remap_pending else "None"

    @property
    def row_banks(self) -> tuple[int, int, int, int, int] | None:
        """Banks by how many spare rows they have left: all, most, some, few, none."""
        if self.model.banks is None:
            return None
        used, spent = min(self.gpu.ecc.remapped_rows, 1), int(self.gpu.ecc.remap_failed)
        return (self.model.banks - max(used, spent), used - spent, 0, 0, spent)


def read_gpu(node: Node, gpu: SimulatedGpu) -> Reading:
    """The GPU's values now."""
    model = model_named(gpu.model)
    mig = node.setting("mig_mode") or {}
    on = bool(mig.get(gpu.uuid)) and model.mig is not None
    return Reading(
        gpu=gpu,
        model=model,
        driver=node.loaded or "",
        persistent=bool(node.setting("persistence_mode") or node.runs("nvidia-persistenced")),
        mig_mode=on,
        mig_pending=on,
        fabric=_fabric(node, model),
        mig_devices=_mig_devices(node, gpu) if on else (),
    )


def _mig_devices(node: Node, gpu: SimulatedGpu) -> tuple[MigDevice, ...]:
    made = (each for each in instances(node, gpu.uuid) if each.compute)
    return tuple(MigDevice(each.profile, device_uuid(gpu.uuid, each), each) for each in made)


def _fabric(node: Node, model: Model) -> str | None:
    """NVSwitch systems from Hopper on: a GPU joins the fabric when Fabric Manager has set it up."""
    if node.hardware.nvlink_domain < 8 or model.architecture in (None, "Ampere", "Ada Lovelace"):
        return None
    packaged = node.module("nvidia") is not None and node.hardware.nvlink_domain < 36
    up = node.hardware.fabric_manager == "ok" and (not packaged or node.runs("nvidia-fabricmanager"))
    return "Completed" if up else "In Progress"
