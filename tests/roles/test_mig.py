"""`cut-gpus` as it is, on GPUs that the lab's simulated nvidia-smi cuts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from clusterwright.providers.lab.simulators import capabilities
from clusterwright.providers.lab.simulators.hardware import Hardware, SimulatedGpu

REPOSITORY = Path(__file__).parents[2]
CUT = REPOSITORY / "roles/mig/files/cut-gpus"
H100, A100 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"
SEVEN = [{"profile": "1g.10gb", "id": 19, "start": start} for start in range(7)]
TWO = [{"profile": "3g.40gb", "id": 9, "start": start} for start in (0, 4)]
MINORS = (3, 0)
"""Of the GPUs in the order of the bus, as nvidia-smi counts."""
_SIMULATOR = """#!{python} -S
import os, sys
from pathlib import Path
os.geteuid = lambda: 0
sys.path.insert(0, {package!r})
from simulators.launch import main
folder = Path({folder!r})
sys.exit(main("nvidia-smi", state=folder, own=folder / "own", markers=folder / "markers"))
"""


@dataclass
class Node:
    folder: Path
    model: str = H100

    def __post_init__(self) -> None:
        gpus = tuple(
            SimulatedGpu(minor, self.model, f"0000:{bus}:00.0", f"GPU-{minor}", 81559)
            for minor, bus in zip(MINORS, ("1b", "43"), strict=True)
        )
        hardware = Hardware(gpus, driver_version="580.95.05")
        (self.folder / "own").mkdir()
        (self.folder / "hardware.json").write_text(json.dumps(hardware.as_json()))
        for gpu in gpus:
            place = self.folder / "proc/driver/nvidia/gpus" / gpu.pci
            place.mkdir(parents=True)
            (place / "information").write_text(f"Device Minor: \t {gpu.minor}\n")
        (self.folder / "proc/driver/nvidia-caps").mkdir()
        minors = capabilities.minors(hardware)
        (self.folder / "proc/driver/nvidia-caps/mig-minors").write_text(minors)
        (self.folder / "dev/nvidia-caps").mkdir(parents=True)
        for number in capabilities.in_use(hardware):
            (self.folder / f"dev/nvidia-caps/nvidia-cap{number}").touch()
        package = str(REPOSITORY / "src/clusterwright/providers/lab")
        self.program("nvidia-smi", _SIMULATOR.format(
            python=sys.executable, package=package, folder=str(self.folder)
        ))  # fmt: skip
        self.program("systemctl", f"#!/bin/sh\necho $* >> {self.folder}/systemctl\n")

    def program(self, name: str, text: str) -> None:
        file = self.folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def run(self, *argv: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": f"{self.folder}/bin:/usr/bin:/bin"}
        return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60)

    def cut(self, plan: dict[str, list[dict[str, object]]]) -> str:
        """What it says."""
        (self.folder / "mig.json").write_text(json.dumps(plan))
        done = self.run(
            sys.executable, CUT, "--plan", self.folder / "mig.json",
            "--proc", self.folder / "proc", "--dev", self.folder / "dev",
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return (done.stdout or done.stderr).strip()

    def smi(self, *words: str) -> str:
        return self.run(self.folder / "bin/nvidia-smi", *words).stdout

    @property
    def links(self) -> dict[str, str]:
        return {path.name: path.readlink().name for path in sorted((self.folder / "dev/mig").iterdir())}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_gpus_are_cut_once_and_by_the_number_of_their_device_file(node: Node) -> None:
    # nvidia-smi lists the GPU with the lower minor first, as the simulated bus does.
    assert node.cut({"0": SEVEN, "3": TWO}) == "9 instances, 11 changes"
    shown = node.smi("-L")
    assert shown.index("GPU-0)") < shown.index("1g.10gb") < shown.index("GPU-3)") < shown.index("3g.40gb")
    assert node.cut({"0": SEVEN, "3": TWO}) == "9 instances, 0 changes"


def test_links_lead_to_the_files_of_each_instance(node: Node) -> None:
    node.cut({"0": [], "3": TWO})
    first = 3 + (3 * 15 + 1) * 9  # gpu3/gi1, as NVIDIA's MIG user guide counts
    assert node.links == {
        "3.0-instance": f"nvidia-cap{first}",
        "3.0-compute": f"nvidia-cap{first + 1}",
        "3.4-instance": f"nvidia-cap{first + 9}",
        "3.4-compute": f"nvidia-cap{first + 10}",
    }
    node.cut({"0": [], "3": []})
    assert node.links == {}


def test_only_what_is_missing_is_made_again(node: Node) -> None:
    plan = {"0": SEVEN, "3": TWO}
    node.cut(plan)
    for words in (["-dci"], ["-dgi"]):
        node.smi("mig", "-i", "0", "-gi", "9", *words)
    node.smi("mig", "-i", "1", "-gi", "2", "-dci")
    assert node.cut(plan) == "9 instances, 2 changes"
    assert node.cut(plan) == "9 instances, 0 changes"


def test_another_layout_replaces_what_is_there(node: Node) -> None:
    node.cut({"0": SEVEN, "3": []})
    assert node.cut({"0": TWO, "3": []}) == "2 instances, 9 changes"
    assert node.smi("-L").count("MIG 3g.40gb") == 2
    assert node.cut({"0": [], "3": []}) == "0 instances, 1 changes"
    assert "MIG" not in node.smi("-L")


def test_an_a100_is_reset_without_those_that_hold_it(tmp_path: Path) -> None:
    node = Node(tmp_path, A100)
    small = [{"profile": "1g.5gb", "id": 19, "start": 0}]
    assert node.cut({"0": small, "3": []}) == "1 instances, 2 changes"
    asked = (tmp_path / "systemctl").read_text()
    assert asked.index("stop nvidia-dcgm.service") < asked.index(
        "start --no-block nvidia-persistenced.service"
    )


def test_an_a100_that_cannot_be_reset_waits_for_the_boot(tmp_path: Path) -> None:
    node = Node(tmp_path, A100)
    real = (tmp_path / "bin/nvidia-smi").rename(tmp_path / "bin/simulated")
    node.program("nvidia-smi", f'#!/bin/sh\n[ "$1" != --gpu-reset ] || exit 1\nexec {real} "$@"\n')
    said = node.cut({"0": [{"profile": "1g.5gb", "id": 19, "start": 0}], "3": []})
    assert said == "cut-gpus: MIG mode of the GPU at 0000:43:00.0 becomes Enabled with the next boot: " + (
        "reboot the node"
    )


def test_what_nvidia_smi_refuses_is_told_in_its_words(node: Node) -> None:
    said = node.cut({"0": [*SEVEN, *TWO], "3": []})
    assert "Insufficient Resources" in said
    assert "/dev/nvidia5 is planned" in node.cut({"5": SEVEN})
