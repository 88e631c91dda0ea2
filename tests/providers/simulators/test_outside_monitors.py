"""Monitors that nobody here wrote show the simulated GPUs: gpustat and nvitop, over libnvidia-ml."""

from __future__ import annotations

import ctypes
from pathlib import Path

import gpustat
import pytest
from nvitop import Device
from simulated_machines import DRIVER, MACHINES, World

from clusterwright.providers.lab.simulators.faults import inject

HGX = MACHINES["hgx-h100"]


@pytest.mark.usefixtures("nvml")
def test_gpustat_shows_every_gpu_and_which_is_hot(world: World, library: Path) -> None:
    found = gpustat.new_query()
    assert found.driver_version == DRIVER
    assert [(gpu.index, gpu.name, gpu.memory_total) for gpu in found] == [
        (index, "NVIDIA H100 80GB HBM3", 81559) for index in range(8)
    ]
    assert {(gpu.temperature, gpu.power_limit, gpu.utilization) for gpu in found} == {(41, 700, 0)}
    world.show(inject(HGX, "thermal-slowdown", 5))
    ctypes.CDLL(str(library)).forget()
    assert [gpu.temperature for gpu in gpustat.new_query()] == [41] * 5 + [92] + [41] * 2


@pytest.mark.usefixtures("nvml")
def test_nvitop_reads_a_gpu_and_its_memory_errors(world: World, library: Path) -> None:
    assert (Device.driver_version(), Device.count()) == (DRIVER, 8)
    gpu = Device(3)
    assert (gpu.name(), gpu.uuid(), gpu.bus_id()) == (
        "NVIDIA H100 80GB HBM3", HGX.gpus[3].uuid, "00000000:61:00.0"
    )  # fmt: skip
    assert (gpu.memory_total_human(), gpu.performance_state(), gpu.cuda_compute_capability()) == (
        "79.65GiB", "P0", (9, 0)
    )  # fmt: skip
    assert (gpu.max_clock_infos().sm, gpu.power_status(), gpu.mig_mode()) == (1980, "70W / 700W", "Disabled")
    assert gpu.processes() == {}
    assert gpu.total_volatile_uncorrected_ecc_errors() == 0
    world.show(inject(HGX, "ecc", 3))
    ctypes.CDLL(str(library)).forget()
    assert gpu.total_volatile_uncorrected_ecc_errors() == 2
