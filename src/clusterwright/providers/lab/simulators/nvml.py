"""What the simulated libnvidia-ml.so.1 asks: the GPUs as flat lines, `key value` and `GPU.key value`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .facts import cuda_of
from .node import Answer, Node
from .partitions import memory_of, profile_of
from .reading import Reading, read_gpu

DRIVER_NOT_LOADED, VERSION_MISMATCH = 9, 18
"""Of nvmlReturn_t, as nvml.h numbers them."""


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """Everything at once; `arguments` is the version of the library that asks."""
    library = arguments[0] if arguments else node.library_of_driver
    lines = [f"library {library}"]
    if node.loaded is None:
        return Answer(f"status {DRIVER_NOT_LOADED}\n")
    if library != node.loaded:
        return Answer(f"status {VERSION_MISMATCH}\n")
    major, _, minor = (cuda_of(node.loaded) or "0.0").partition(".")
    lines += [f"driver {node.loaded}", f"cuda {int(major) * 1000 + int(minor) * 10}"]
    lines += [f"count {len(node.gpus)}", f"dcgm {int(node.runs('nv-hostengine'))}"]
    for index, gpu in enumerate(node.gpus):
        lines += [f"{index}.{key} {value}" for key, value in _facts(read_gpu(node, gpu)) if value is not None]
    return Answer("".join(f"{line}\n" for line in ["status 0", *lines]))


def _facts(reading: Reading) -> Iterator[tuple[str, object]]:
    gpu, model, ecc = reading.gpu, reading.model, reading.gpu.ecc
    yield from {
        "lost": int(gpu.state == "failed"),
        "name": gpu.model,
        "uuid": gpu.uuid,
        "serial": reading.serial,
        "minor": gpu.minor,
        "bus_id": reading.bus_id,
        "device_id": reading.pci_device_id,
        "subsystem_id": reading.pci_subsystem_id,
        "vbios": model.vbios,
        "memory": gpu.memory_mib * 2**20,
        "reserved": reading.memory_reserved * 2**20,
        "temperature": reading.temperature,
        "milliwatts": None if reading.watts is None else int(reading.watts * 1000),
        "limit": None if model.power_limit is None else model.power_limit * 1000,
        "clock": reading.clock,
        "memory_clock": model.memory_mhz,
        "max_clock": model.sm_mhz,
        "reasons": int(reading.reasons_mask, 16),
        "persistent": int(reading.persistent),
        "capability": (model.capability or "").replace(".", " ") or None,
        "links": model.links,
        "links_down": sum(1 << link for link in gpu.links_down),
        "numa": gpu.numa,
        "cpus": gpu.cpu_list or None,
        "fabric": {None: 0, "In Progress": 2, "Completed": 3}[reading.fabric],
    }.items()
    if model.ecc:
        yield from {
            "corrected.0": ecc.corrected,
            "corrected.1": ecc.corrected_aggregate,
            "uncorrected.0": ecc.uncorrected,
            "uncorrected.1": ecc.uncorrected_aggregate,
            "remapped": ecc.remapped_rows,
            "remap_pending": int(ecc.remap_pending),
            "remap_failed": int(ecc.remap_failed),
        }.items()
    if gpu.xids:
        yield "xid", gpu.xids[-1]
    if model.mig:
        yield "mig", int(reading.mig_mode)
        yield "mig_count", len(reading.mig_devices)
        for number, device in enumerate(reading.mig_devices):
            profile = profile_of(model.mig, device.profile)
            yield f"mig{number}.name", f"{gpu.model} MIG {profile.name}"
            yield f"mig{number}.uuid", device.uuid
            yield f"mig{number}.instance", device.instance.id
            yield f"mig{number}.slices", profile.compute
            yield f"mig{number}.memory", memory_of(profile, gpu.memory_mib)
            yield f"mig{number}.sm", profile.parts["sm"] or None
