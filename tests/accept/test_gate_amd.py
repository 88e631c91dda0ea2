"""AMD's GPUs on a node: what rocm-smi and amd-smi tell, and which gate says no."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gate_node
import pytest
from gate_tree import Tree

from clusterwright.providers.lab.simulators import faults
from clusterwright.providers.lab.simulators.hardware import Ecc

AMD_FAULTS: dict[str, tuple[str, str]] = {
    "bad-page": ("bad-pages", "GPU 1: 1 pages wait to be retired"),
    "bad-page-stays": ("bad-pages", "GPU 1: 1 bad pages that cannot be taken out of use"),
    "xgmi-down": ("xgmi", "GPU 1: 6 up, down: GPU 2"),
    "pci-narrow": ("pci-link", "GPU 1: generation 5, 8 lanes"),
    "thermal-slowdown": ("throttle", "GPU 1: too hot"),
    "power-brake": ("throttle", "GPU 1: the platform asks for slower clocks (PROCHOT)"),
}


@pytest.fixture
def mi300x(tmp_path: Path) -> Tree:
    """A sound node whose vendor's programs are the simulators."""
    tree = gate_node.healthy(tmp_path, "mi300x-8gpu")
    (tree.simulated / "own" / "modules").mkdir()
    (tree.simulated / "own" / "modules" / "amdgpu").write_text("6.12.12\n")
    for name in ("rocm-smi", "amd-smi"):
        tree.simulator(name)
    return tree


@pytest.mark.parametrize("fault", AMD_FAULTS)
def test_a_fault_of_amds_gpus_is_caught_and_clears(fault: str, mi300x: Tree) -> None:
    sound, (gate, seen) = mi300x.hardware, AMD_FAULTS[fault]
    mi300x.inject(fault, 1)
    rows = [row for row in mi300x.run()[2]["gates"] if row["status"] == "fail"]
    assert [(row["name"], row["seen"]) for row in rows] == [(gate, seen)]
    mi300x.show(sound)
    assert mi300x.failed() == []


def test_every_fault_of_amds_gpus_is_tried() -> None:
    assert set(AMD_FAULTS) >= {name for name, fault in faults.FAULTS.items() if fault.vendor == "amd"}


def test_a_busy_or_worn_gpu_of_amds_is_no_fault(mi300x: Tree) -> None:
    gpus = mi300x.hardware.gpus
    worn = replace(gpus[2], throttle=("sw_power_cap",), ecc=Ecc(remapped_rows=2))
    mi300x.show(replace(mi300x.hardware, gpus=(*gpus[:2], worn, *gpus[3:])))
    assert mi300x.failed() == []
    assert mi300x.seen("bad-pages") == "2 pages are retired and out of use"


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ('[{"gpu": 0, "bdf": "x", "link_status": ["U","U","U","U","U","U","U","X"]}]', "7 XGMI links"),
        (
            '[{"gpu": 0, "link_status": ["U","D","U","U","U","U","U","X"]}]',
            "GPU 0: 6 up, down: port 1, port 7",
        ),
        ('{"a": [{"gpu": 4, "link_status": ["SELF","U","U","U","U","U","U","U/D"]}]}', "down: GPU 7"),
        ('[{"gpu": 0, "link_status": ["N/A","N/A"]}, {"gpu": 1, "link_status": "N/A"}]', "tells no state"),
        ("ERROR: unrecognized arguments", "amd-smi does not tell: ERROR"),
    ],
)
def test_xgmi_links_of_every_release_are_read(mi300x: Tree, said: str, seen: str) -> None:
    mi300x.program("amd-smi", f"""[ "$1" = xgmi ] && echo '{said}' || echo '[]'""")
    assert seen in mi300x.seen("xgmi")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ('[{"gpu": 0, "ecc": {"total_correctable_count": 5, "total_uncorrectable_count": 0}}]', "pass"),
        ('{"gpu_data": [{"gpu": 3, "ecc": {"total_uncorrectable_count": 1}}]}', "fail"),
        ('{"gpu_data": [{"gpu": 0, "ecc": {"total_uncorrectable_count": "N/A"}}]}', "pass"),
        ('[{"gpu": 0, "ecc": "N/A"}]', "pass"),
        ("ERROR: AMDSMI_STATUS_DRIVER_NOT_LOADED", "skip"),
    ],
)
def test_amd_smi_of_every_release_is_read(tmp_path: Path, said: str, status: str) -> None:
    """Rows in a list, or below a key: as amd-smi of ROCm 6 and of ROCm 7 print them."""
    tree = gate_node.healthy(tmp_path, "mi300x-8gpu")
    tree.program("amd-smi", f"echo '{said}'")
    assert tree.run()[1]["ecc"] == status


@pytest.mark.parametrize(
    ("pcie", "seen"),
    [
        ('{"width": 16, "speed": {"value": 32, "unit": "GT/s"}}', "PCI generation 5, 16 lanes"),
        ('{"width": 16, "speed": {"value": 16, "unit": "GT/s"}}', "GPU 3: generation 4, 16 lanes"),
        ('{"width": 4, "speed": {"value": 2.5, "unit": "GT/s"}}', "GPU 3: generation 1, 4 lanes"),
        ('{"width": "N/A", "speed": "N/A"}', "amd-smi tells no PCI link"),
        ('"N/A"', "amd-smi tells no PCI link"),
    ],
)
def test_the_pci_link_of_amds_gpus(mi300x: Tree, pcie: str, seen: str) -> None:
    said = f'{{"gpu_data": [{{"gpu": 3, "pcie": {pcie}}}]}}'
    mi300x.program("amd-smi", f"""[ "$2" = --pcie ] && echo '{said}' || echo '[]'""")
    assert mi300x.seen("pci-link") == seen


def test_what_amd_smi_does_not_tell_is_no_pass(mi300x: Tree) -> None:
    nothing = '[{"gpu": 0, "retired": "N/A", "throttle": {"prochot_violation_status": "N/A"}}]'
    mi300x.program("amd-smi", f"echo '{nothing}'")
    gates = mi300x.run()[1]
    assert {gates[name] for name in ("bad-pages", "throttle", "xgmi")} == {"skip"}


def test_amd_gpus_are_counted_by_rocm_smi(tmp_path: Path) -> None:
    tree = gate_node.healthy(tmp_path, "mi300x-8gpu")
    amdgpu = {"version": "30.30.4", "flavour": "", "packages": {}, "services": [], "hold": []}
    tree.expected["stack"] = {"amdgpu": amdgpu}
    tree.plan()
    assert tree.seen("modules") == "not loaded"
    tree.write("/sys/module/amdgpu/initstate", "live")
    tree.simulator("rocm-smi")
    modules = tree.simulated / "own" / "modules"
    modules.mkdir()
    (modules / "amdgpu").write_text("6.12.12\n")
    assert tree.failed() == []
    tree.inject("gpu-missing", 2)
    assert tree.seen("gpus") == "7 GPUs by rocm-smi"
    tree.show(tree.hardware.without_faults())
    tree.simulator("amd-smi")
    assert tree.failed() == []
    tree.inject("ecc", 5)
    assert tree.failed("--quick") == ["ecc"]
    assert tree.seen("ecc") == "GPU 5: 2 since the driver was loaded"
    small = replace(tree.hardware.gpus[0], memory_mib=65520)
    tree.show(replace(tree.hardware.without_faults(), gpus=(small, *tree.hardware.without_faults().gpus[1:])))
    assert tree.failed() == ["gpus"]
    assert tree.seen("gpus") == "card0 has 65520 MiB"
    tree.program("rocm-smi", "echo 'ERROR:root:Driver not initialized (amdgpu not found in modules)'; exit 1")
    assert "Driver not initialized" in tree.seen("gpus")
