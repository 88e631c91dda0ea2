"""Software that nobody here wrote reads the simulators and sees each fault.

nvsmi and GPUtil parse nvidia-smi's tables, pynvml (NVIDIA's own bindings) calls the simulated libnvidia-ml,
and Python itself reads XML, CSV and JSON.
"""

from __future__ import annotations

import csv
import ctypes
import io
import json
import subprocess
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import nvsmi
import pytest
from simulated_machines import DRIVER, MACHINES, World

from clusterwright.providers.lab.simulators.faults import FAULTS, clear, inject
from clusterwright.providers.lab.simulators.hardware import Hardware
from clusterwright.providers.lab.simulators.launch import simulator_of

HGX = MACHINES["hgx-h100"]


def test_nvsmi_finds_every_gpu(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.show(HGX)
    monkeypatch.setattr(nvsmi, "NVIDIA_SMI_GET_GPUS", nvsmi.NVIDIA_SMI_GET_GPUS, raising=False)
    program = world.launcher("nvidia-smi")
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    found = list(nvsmi.get_gpus())
    assert len(found) == 8
    assert {gpu.name for gpu in found} == {"NVIDIA H100 80GB HBM3"}
    assert found[3].mem_total == 81559.0
    assert found[3].driver == DRIVER
    assert list(nvsmi.get_gpu_processes()) == []

    world.show(inject(HGX, "gpu-missing", 3))
    assert len(list(nvsmi.get_gpus())) == 7
    world.show(inject(HGX, "thermal-slowdown", 0))
    assert next(iter(nvsmi.get_gpus())).temperature == 92.0


def test_gputil_finds_every_gpu_and_who_is_free(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    program = world.launcher("nvidia-smi")
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    world.show(HGX)
    found = gputil().getGPUs()
    assert [gpu.id for gpu in found] == list(range(8))
    assert {(gpu.name, gpu.memoryTotal, gpu.driver) for gpu in found} == {
        ("NVIDIA H100 80GB HBM3", 81559.0, DRIVER)
    }
    assert gputil().getAvailable(limit=8) == list(range(8))
    world.show(inject(HGX, "gpu-missing", 3))
    assert [gpu.id for gpu in gputil().getGPUs()] == [0, 1, 2, 3, 4, 5, 6]
    world.show(inject(HGX, "thermal-slowdown", 0))
    assert gputil().getGPUs()[0].temperature == 92.0


def gputil() -> ModuleType:
    """It asks distutils for the way to nvidia-smi on Windows, and Python has that no more from 3.12 on."""
    with warnings.catch_warnings(action="ignore"):
        return import_module("GPUtil")


def test_pynvml_reads_a_healthy_node(nvml: ModuleType) -> None:
    nvml.nvmlInit()
    assert nvml.nvmlSystemGetDriverVersion() == DRIVER
    assert nvml.nvmlSystemGetCudaDriverVersion() == 13000
    assert nvml.nvmlDeviceGetCount() == 8
    gpu = nvml.nvmlDeviceGetHandleByIndex(4)
    assert nvml.nvmlDeviceGetName(gpu) == "NVIDIA H100 80GB HBM3"
    assert nvml.nvmlDeviceGetUUID(gpu) == HGX.gpus[4].uuid
    assert nvml.nvmlDeviceGetMinorNumber(gpu) == 4
    assert nvml.nvmlDeviceGetMemoryInfo(gpu).total == 81559 * 2**20
    assert nvml.nvmlDeviceGetPciInfo(gpu).busId == "00000000:9D:00.0"
    assert nvml.nvmlDeviceGetCudaComputeCapability(gpu) == (9, 0)
    assert nvml.nvmlDeviceGetSerial(gpu).startswith("SIMULATED")
    assert nvml.nvmlDeviceGetMigMode(gpu) == [0, 0]
    assert nvml.nvmlDeviceGetCpuAffinity(gpu, 2)[0] == 0xFFFF000000000000
    again = nvml.nvmlDeviceGetHandleByPciBusId("0000:9D:00.0")
    assert nvml.nvmlDeviceGetIndex(again) == 4


Check = Callable[[Any], object]


def _handle(nvml: Any, index: int = 2) -> Any:
    nvml.nvmlInit()
    return nvml.nvmlDeviceGetHandleByIndex(index)


def _uncorrected(nvml: Any) -> object:
    gpu = _handle(nvml)
    total = nvml.nvmlDeviceGetTotalEccErrors(
        gpu, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
    )
    return total, list(nvml.nvmlDeviceGetRemappedRows(gpu)[1:])


def _corrected(nvml: Any) -> object:
    return nvml.nvmlDeviceGetTotalEccErrors(
        _handle(nvml), nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, nvml.NVML_AGGREGATE_ECC
    )


def _xid(nvml: Any) -> object:
    nvml.nvmlInit()
    found = nvml.nvmlEventSetCreate()
    # A GPU that fell off the bus gives no handle: who watches has it from before.
    for index in range(8):
        try:
            gpu = nvml.nvmlDeviceGetHandleByIndex(index)
        except nvml.NVMLError_GpuIsLost:
            return "lost"
        nvml.nvmlDeviceRegisterEvents(gpu, nvml.nvmlEventTypeXidCriticalError, found)
    try:
        return nvml.nvmlEventSetWait_v2(found, 0).eventData
    except nvml.NVMLError_Timeout:
        return None


def _links(nvml: Any) -> object:
    gpu = _handle(nvml)
    return [link for link in range(18) if not nvml.nvmlDeviceGetNvLinkState(gpu, link)]


def _reasons(nvml: Any) -> object:
    return nvml.nvmlDeviceGetCurrentClocksThrottleReasons(_handle(nvml))


def _start(nvml: Any) -> object:
    try:
        nvml.nvmlInit()
    except nvml.NVMLError_LibRmVersionMismatch as mismatch:
        return str(mismatch)
    return "started"


SEEN_BY_NVML: dict[str, tuple[Check, object, object]] = {
    "ecc": (_uncorrected, (0, [0, 0, 0]), (2, [1, 1, 0])),
    "ecc-corrected": (_corrected, 0, 1200),
    "row-remap-failed": (_uncorrected, (0, [0, 0, 0]), (0, [8, 0, 1])),
    "xid": (_xid, None, "lost"),
    "gpu-missing": (lambda nvml: nvml.nvmlInit() or nvml.nvmlDeviceGetCount(), 8, 7),
    "nvlink-down": (_links, [], [0]),
    "thermal-slowdown": (_reasons, 0x1, 0x48),
    "power-brake": (_reasons, 0x1, 0x88),
    "driver-mismatch": (_start, "started", "RM has detected an NVML/RM version mismatch."),
}


@pytest.mark.parametrize("fault", SEEN_BY_NVML)
def test_pynvml_sees_a_fault_come_and_go(fault: str, world: World, library: Path, nvml: ModuleType) -> None:
    look, well, broken = SEEN_BY_NVML[fault]
    index = 2 if FAULTS[fault].of == "gpu" else 0

    def now(hardware: Hardware) -> object:
        world.show(hardware)
        ctypes.CDLL(str(library)).forget()
        return look(nvml)

    hurt = inject(HGX, fault, index)
    assert now(HGX) == well
    assert now(hurt) == broken
    assert now(clear(hurt)) == well


def test_an_xid_comes_as_an_event(world: World, nvml: ModuleType) -> None:
    world.show(inject(HGX, "nvlink-down", 2))
    assert _xid(nvml) == 74


def test_pynvml_lists_the_clocks_that_a_job_may_ask_for(nvml: ModuleType) -> None:
    gpu = _handle(nvml)
    assert nvml.nvmlDeviceGetSupportedMemoryClocks(gpu) == [2619]
    clocks = nvml.nvmlDeviceGetSupportedGraphicsClocks(gpu, 2619)
    assert (clocks[0], clocks[1], clocks[-1]) == (1980, 1965, 345)
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetSupportedGraphicsClocks(gpu, 1)
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceSetApplicationsClocks(gpu, 2619, 1980)


def test_pynvml_sees_mig_devices(world: World, nvml: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    smi = simulator_of("nvidia-smi")
    for words in (["-i", "2", "-mig", "1"], ["mig", "-cgi", "3g.40gb,1g.10gb", "-C"]):
        assert smi(world.node(), words).status == 0
    gpu = _handle(nvml)
    assert nvml.nvmlDeviceGetMigMode(gpu) == [1, 1]
    devices = [nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, index) for index in range(2)]
    assert [nvml.nvmlDeviceGetName(device) for device in devices] == [
        "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
    ]
    assert [nvml.nvmlDeviceGetUUID(device)[:4] for device in devices] == ["MIG-", "MIG-"]
    assert nvml.nvmlDeviceGetAttributes(devices[0]).multiprocessorCount == 60
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, 2)


def test_the_xml_says_what_the_text_says(world: World) -> None:
    node = world.machine("hgx-h100", ("ecc", 6))
    smi = simulator_of("nvidia-smi")
    found = ElementTree.fromstring(smi(node, ["-q", "-x"]).text)
    assert found.findtext("driver_version") == DRIVER
    assert found.find("gpu[@id='00000000:1B:00.0']") is not None
    assert [gpu.findtext("ecc_errors/volatile/dram_uncorrectable") for gpu in found.findall("gpu")] == (
        ["0"] * 6 + ["2", "0"]
    )
    assert found.findall("gpu")[6].findtext("remapped_rows/remapped_row_pending") == "Yes"
    assert found.findall("gpu")[0].findtext("fabric/state") == "Completed"


def test_every_field_can_be_queried_and_read_as_csv(world: World) -> None:
    from clusterwright.providers.lab.simulators.nvidia_smi.query import fields

    node = world.machine("hgx-h100")
    names = list(fields("gpu", DRIVER))
    assert len(names) > 200
    text = simulator_of("nvidia-smi")(node, [f"--query-gpu={','.join(names)}", "--format=csv,nounits"]).text
    rows = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
    assert len(rows) == 8
    assert all(set(row) and None not in row and None not in row.values() for row in rows)


def test_a_hung_diagnostic_is_seen_by_a_timeout(world: World) -> None:
    world.show(inject(HGX, "diag-hangs"))
    world.run("nv-hostengine")
    program = world.launcher("dcgmi", "4.4.2")
    done = subprocess.run(["timeout", "1", str(program), "diag", "-r", "1"], capture_output=True, check=False)
    assert done.returncode == 124
    assert subprocess.run([str(program), "discovery", "-l"], capture_output=True, check=False).returncode == 0


def test_the_json_of_a_diagnostic_names_the_gpu(world: World) -> None:
    node = world.machine("hgx-h100", ("ecc", 5))
    world.run("nv-hostengine")
    world.run("nvidia-persistenced")
    given = simulator_of("dcgmi")(node, ["diag", "-r", "2", "-j"])
    tests = json.loads(given.text)["DCGM Diagnostic"]["test_categories"]
    failed = {
        (test["name"], result["entity_id"])
        for category in tests
        for test in category["tests"]
        for result in test["results"]
        if result["status"] == "Fail"
    }
    assert failed == {("software", 5), ("memory", 5)}
    assert given.status == 226
