"""AMD's own node-scraper, which nobody here wrote, reads the simulated amd-smi and sees what is broken.

Its collector runs amd-smi and validates the JSON; its analyzer holds that against what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from nodescraper.connection.inband import CommandArtifact
from nodescraper.connection.inband.inbandlocal import LocalShell
from nodescraper.enums import EventPriority, ExecutionStatus, OSFamily
from nodescraper.models import SystemInfo
from nodescraper.plugins.inband.amdsmi.amdsmi_analyzer import AmdSmiAnalyzer
from nodescraper.plugins.inband.amdsmi.amdsmi_collector import AmdSmiCollector
from nodescraper.plugins.inband.amdsmi.amdsmidata import AmdSmiDataModel
from nodescraper.plugins.inband.amdsmi.analyzer_args import AmdSmiAnalyzerArgs
from simulated_machines import MACHINES, World

from clusterwright.providers.lab.simulators.faults import FAULTS, inject
from clusterwright.providers.lab.simulators.hardware import Hardware

MI300X = MACHINES["mi300x"]
EXPECTED = AmdSmiAnalyzerArgs(
    check_static_data=True,
    expected_gpu_processes=1,
    expected_max_power=750,
    expected_power_management="ENABLED",
    expected_driver_version="6.16.6",
    expected_firmware_versions={"PM": "85.110.0", "TA_XGMI": "20.00.01.13"},
    vendorid_ep="0x1002",
    devid_ep="0x74a1",
    sku_name="AMD Instinct MI300X",
    expected_xgmi_speed=[32.0],
)
ITS_FOLDER = "/tmp/amd_smi_cper"


class Shell(LocalShell):
    """This machine's shell; what the collector keeps in a fixed folder goes into another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run_command(
        self, command: str, sudo: bool = False, timeout: int = 300, strip: bool = True
    ) -> CommandArtifact:
        return super().run_command(
            command.replace(ITS_FOLDER, str(self.folder / "cper")), sudo, timeout, strip
        )


class Scraped:
    """What it collected, and the events of both of its steps from a warning on."""

    def __init__(self, folder: Path) -> None:
        system = SystemInfo(name="n1", os_family=OSFamily.LINUX)
        collected, data = AmdSmiCollector(system_info=system, connection=Shell(folder)).collect_data()
        assert collected.status is not ExecutionStatus.EXECUTION_FAILURE
        assert data is not None
        self.data: AmdSmiDataModel = data
        analyzed = AmdSmiAnalyzer(system_info=system).analyze_data(data, EXPECTED)
        self.events = [
            (EventPriority(event.priority).name, event.description)
            for event in (*collected.events, *analyzed.events)
            if event.priority >= EventPriority.WARNING
        ]


Scrape = Callable[[Hardware], Scraped]
Events = list[tuple[str, str]]


@pytest.fixture
def scrape(world: World, monkeypatch: pytest.MonkeyPatch) -> Scrape:
    program = world.launcher("amd-smi", "7.2.4")
    sudo = program.with_name("sudo")
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    world.load("amdgpu", "6.16.6")

    def now(hardware: Hardware) -> Scraped:
        world.show(hardware)
        return Scraped(world.folder)

    return now


def test_a_sound_node_is_collected_whole_and_nothing_is_reported(scrape: Scrape) -> None:
    scraped = scrape(MI300X)
    assert scraped.events == []
    data = scraped.data
    assert data.version is not None and data.version.rocm_version == "7.2.4"
    lists = (
        data.gpu_list, data.process, data.firmware, data.static, data.metric, data.bad_pages, data.topology,
        data.xgmi_metric, data.xgmi_link,
    )  # fmt: skip
    assert [len(each or ()) for each in lists] == [8] * 9
    static = data.get_static(5)
    assert static is not None and static.limit is not None and static.clock is not None
    power = static.limit.resolved_max_power()
    assert (static.asic.num_compute_units, power and (power.value, power.unit)) == (304, (750, "W"))
    assert (static.board.product_name, static.bus.slot_type) == ("Instinct MI300X", "OAM")
    assert data.analysis_ref is not None and data.analysis_ref.xgmi_rates == [32.0]


# Of a page that is retired it wants a list and a member `value`, which the real amd-smi does not print.
REJECTED = ("WARNING", "Failed to build BadPages entry; skipping")
NOT_READ: Events = []
"""It collects what tells of the fault, and its analyzer asks nothing of it."""
REPORTED: dict[str, Events] = {
    "ecc": [
        REJECTED,
        ("ERROR", "GPU 2: Total uncorrectable ECC errors count=2"),
        ("ERROR", "GPU: 2 has uncorrectable ECC errors in block UMC"),
    ],
    "ecc-corrected": [
        ("WARNING", "GPU 2: Total correctable ECC errors count=1200"),
        ("WARNING", "GPU: 2 has correctable ECC errors in block UMC"),
    ],
    "bad-page-stays": [REJECTED],
    "pci-narrow": [("ERROR", "GPU: 2 PCIe width is not x16")],
    "bad-page": NOT_READ,
    "gpu-missing": NOT_READ,
    "xgmi-down": NOT_READ,
    "thermal-slowdown": NOT_READ,
    "power-brake": NOT_READ,
}


@pytest.mark.parametrize("fault", REPORTED)
def test_what_is_broken_is_reported_and_no_more(fault: str, scrape: Scrape) -> None:
    assert scrape(inject(MI300X, fault, 2)).events == REPORTED[fault]


def test_every_fault_that_a_gpu_of_amds_can_have_is_tried() -> None:
    assert set(REPORTED) == {
        name for name, fault in FAULTS.items() if fault.of == "gpu" and fault.vendor != "nvidia"
    }


def test_another_driver_than_expected_is_reported(scrape: Scrape, world: World) -> None:
    world.load("amdgpu", "6.12.12")
    per_gpu = ", ".join(f"GPU {number}=6.12.12" for number in range(8))
    mismatch = f"GPU driver version mismatch (expected 6.16.6): {per_gpu}"
    assert scrape(MI300X).events == [("ERROR", mismatch)]


def _numbers(data: AmdSmiDataModel) -> object:
    return [gpu.gpu for gpu in data.gpu_list or ()], len(data.xgmi_link or ())


def _links(data: AmdSmiDataModel) -> object:
    return [
        (gpu.gpu, other)
        for gpu in data.xgmi_link or ()
        for other, state in enumerate(gpu.link_status)
        if state.name == "DOWN"
    ]


def _hot(data: AmdSmiDataModel) -> object:
    return [
        (metric.gpu, metric.temperature.hotspot and metric.temperature.hotspot.value)
        for metric in data.metric or ()
        if metric.power.throttle_status == "THROTTLED"
    ]


def _violations(name: str) -> Callable[[AmdSmiDataModel], object]:
    def active(data: AmdSmiDataModel) -> object:
        states = {
            metric.gpu: getattr(metric.throttle, f"{name}_violation_status") for metric in data.metric or ()
        }
        return [gpu for gpu, state in states.items() if state.value == "ACTIVE"]

    return active


@pytest.mark.parametrize(
    ("fault", "look", "well", "broken"),
    [
        ("gpu-missing", _numbers, (list(range(8)), 8), (list(range(7)), 7)),
        ("xgmi-down", _links, [], [(2, 3), (3, 2)]),
        ("thermal-slowdown", _hot, [], [(2, 92)]),
        ("thermal-slowdown", _violations("socket_thermal"), [], [2]),
        ("power-brake", _violations("prochot"), [], [2]),
    ],
)
def test_what_it_collects_tells_what_its_analyzer_does_not_ask(
    fault: str, look: Callable[[AmdSmiDataModel], object], well: object, broken: object, scrape: Scrape
) -> None:
    assert look(scrape(MI300X).data) == well
    assert look(scrape(inject(MI300X, fault, 2)).data) == broken
