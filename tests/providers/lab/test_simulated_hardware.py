"""Simulated GPUs and cards as programs in a node meet them, and the files they come from."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
import world

from clusterwright.finding import Refused
from clusterwright.providers.lab import damage, simulate
from clusterwright.providers.lab.cards import write_cards
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.simulate import SimulatedNic
from clusterwright.providers.lab.simulators.faults import inject

QUERY = "nvidia-smi --query-gpu=index,name,memory.total,driver_version --format=csv,noheader,nounits"


@pytest.mark.lab
def test_a_node_shows_its_gpus_and_their_faults(lab: Lab) -> None:
    plan = world.nodes(lab, "n1", hardware=world.eight_gpus())
    [target] = world.up(lab, plan)
    assert world.on(target, "nvidia-smi -L | wc -l; ls /dev/nvidia[0-7] | wc -l").split() == ["8", "8"]
    assert world.on(target, QUERY).splitlines()[3] == "3, NVIDIA H100 80GB HBM3, 81559, 580.95.05"
    assert "No such device or address" in world.on(target, "cat /dev/nvidia0")
    assert world.on(target, "cat /sys/class/net/rdma0/operstate /sys/class/net/rdma1/operstate") == "up\nup\n"
    assert "simulated" in world.on(target, "nvidia-smi --version")
    assert "Simulated hardware" in world.on(target, "nvidia-smi")

    damage.inject(lab, "n1", "gpu-missing", 3)
    assert world.on(target, "nvidia-smi -L | wc -l; ls /dev/nvidia[0-7] | wc -l").split() == ["7", "7"]
    assert "0000:37:00.0" not in world.on(target, "ls /proc/driver/nvidia/gpus /sys/bus/pci/drivers/nvidia")
    world.up(lab, plan)
    assert world.on(target, "test -e /dev/nvidia3") == "[exit 1]"

    damage.repair(lab, "n1")
    damage.inject(lab, "n1", "xid", 3)
    assert "Unable to determine the device handle" in world.on(target, "nvidia-smi -L")
    damage.repair(lab, "n1")
    assert world.on(target, "nvidia-smi -L | wc -l; ls /dev/nvidia[0-7] | wc -l").split() == ["8", "8"]
    with pytest.raises(Refused, match="CW7012"):
        damage.inject(lab, "n1", "gpu-missing", 8)


CARDS = "/sys/bus/pci/drivers/mlx5_core/*/infiniband/mlx5_*/ports/1"


@pytest.mark.lab
def test_a_node_shows_its_cards_below_their_driver(lab: Lab) -> None:
    [target] = world.up(lab, world.nodes(lab, "n1", hardware=world.eight_gpus()))
    assert world.on(target, f"cat {CARDS}/state {CARDS}/rate").splitlines() == [
        *["4: ACTIVE"] * 2,
        *["400 Gb/sec (4X NDR)"] * 2,
    ]


def test_cards_follow_the_state(tmp_path: Path) -> None:
    nics = (SimulatedNic("a", 400), SimulatedNic("b", 100, kind="efa"), SimulatedNic("c", 200, kind="gvnic"))
    write_cards(tmp_path, simulate.Hardware(nics=nics))
    shown = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.glob("*/*/*/*/ports/1/*")}
    assert shown["mlx5_core/0000:e0:00.0/infiniband/mlx5_0/ports/1/link_layer"] == "InfiniBand\n"
    assert shown["efa/0000:e0:01.0/infiniband/efa_1/ports/1/state"] == "4: ACTIVE\n"
    assert len({path.split("/")[1] for path in shown}) == 2
    broken = (replace(nics[0], state="polling"), replace(nics[1], state="missing"))
    write_cards(tmp_path, simulate.Hardware(nics=broken))
    [port] = tmp_path.glob("*/*/infiniband/*/ports/1")
    assert [(port / file).read_text() for file in ("state", "phys_state", "rate")] == [
        "1: DOWN\n",
        "2: Polling\n",
        "10 Gb/sec (4X SDR)\n",
    ]


@pytest.mark.lab
def test_the_devices_are_of_a_local_major_number(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("making device nodes needs root")
    simulate.write_hardware(tmp_path, world.eight_gpus())
    device = (tmp_path / "dev" / "nvidia0").stat()
    assert stat.S_ISCHR(device.st_mode)
    assert 120 <= os.major(device.st_rdev) <= 127


def test_a_major_number_that_a_driver_has_taken_is_left_to_it() -> None:
    devices = "Character devices:\n  1 mem\n120 mine\n\nBlock devices:\n121 b\n"
    assert simulate.local_majors(devices) == (121, 122)
    taken = "".join(f"{major} d\n" for major in range(120, 127))
    with pytest.raises(Refused, match="CW7050"):
        simulate.local_majors(f"Character devices:\n{taken}Block devices:\n")


def test_hardware_survives_its_file() -> None:
    hardware = inject(world.eight_gpus(), "xid", 2)
    assert simulate.Hardware.from_json(hardware.as_json()) == hardware
    assert hardware.without_faults() == world.eight_gpus()
