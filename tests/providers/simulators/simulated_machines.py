"""The machines that the simulators play in tests, and the folders of one node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from clusterwright.providers.lab import simulate
from clusterwright.providers.lab.files import write_json
from clusterwright.providers.lab.simulators.faults import inject
from clusterwright.providers.lab.simulators.hardware import (
    Hardware,
    SimulatedGpu,
    SimulatedNic,
    SimulatedShare,
)
from clusterwright.providers.lab.simulators.node import Node, find_node

DRIVER = "580.95.05"
NOW = datetime(2026, 11, 21, 10, 30, 0, 250000)
SHARE = "/run/simulated-shares/lustre-scratch"
_BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")


def gpus(model: str, memory_mib: int, count: int) -> tuple[SimulatedGpu, ...]:
    return tuple(
        SimulatedGpu(
            minor,
            model,
            f"0000:{_BUSES[minor]}:00.0",
            f"GPU-00000000-0000-4000-8000-00000000000{minor}",
            memory_mib,
            "0-47" if minor < count / 2 else "48-95",
            numa=int(minor >= count / 2),
        )
        for minor in range(count)
    )


def cards(kind: str, gbps: int, count: int) -> tuple[SimulatedNic, ...]:
    return tuple(
        SimulatedNic(f"{kind[:8]}{number}", gbps, kind=kind, numa=int(number >= count / 2))
        for number in range(count)
    )


MACHINES = {
    "hgx-h100": Hardware(
        gpus("NVIDIA H100 80GB HBM3", 81559, 8),
        cards("infiniband", 400, 8),
        DRIVER,
        nvlink_domain=8,
        shares=(SimulatedShare("lustre", "scratch", ("10.0.0.5@o2ib", "10.0.1.5@tcp"), SHARE),),
        address="10.0.0.11",
        ethernet_gbps=100,
    ),
    "p5": Hardware(gpus("NVIDIA H100 80GB HBM3", 81559, 8), cards("efa", 100, 32), DRIVER, nvlink_domain=8),
    "p5-lustre": Hardware(
        nics=cards("efa", 100, 4),
        shares=(SimulatedShare("lustre", "scratch", ("10.0.1.5@tcp",), SHARE),),
        address="10.0.0.11",
    ),
    "b200": Hardware(gpus("NVIDIA B200", 183359, 8), cards("infiniband", 400, 8), DRIVER, nvlink_domain=8),
    "gb200": Hardware(gpus("NVIDIA GB200", 189471, 4), cards("infiniband", 400, 4), DRIVER, nvlink_domain=72),
    "h200": Hardware(gpus("NVIDIA H200", 143771, 8), cards("infiniband", 400, 8), DRIVER, nvlink_domain=8),
    "a100": Hardware(
        gpus("NVIDIA A100-SXM4-40GB", 40960, 8), cards("infiniband", 200, 8), DRIVER, nvlink_domain=8
    ),
    "l40s": Hardware(gpus("NVIDIA L40S", 46068, 4), cards("roce", 100, 2), DRIVER),
    "rtx-4080-super": Hardware(gpus("NVIDIA GeForce RTX 4080 SUPER", 16376, 1), (), DRIVER),
    "l4": Hardware(gpus("NVIDIA L4", 23034, 1), (), DRIVER),
    "rtx-4090": Hardware(gpus("NVIDIA GeForce RTX 4090", 24564, 2), (), DRIVER),
    "mi300x": Hardware(gpus("AMD Instinct MI300X", 196592, 8), cards("infiniband", 400, 8)),
    "cpu": Hardware(),
    "weka": Hardware(shares=(SimulatedShare("weka", "turbo", ("weka1", "weka2"), SHARE),)),
    "buckets": Hardware(
        shares=(SimulatedShare("s3", "example-data", (), SHARE), SimulatedShare("gcs", "runs", (), SHARE))
    ),
    "ceph": Hardware(shares=(SimulatedShare("cephfs", "store", ("mon1",), SHARE, fsid="7a3c0e9e"),)),
}


@dataclass(frozen=True)
class World:
    """One node: its state as a host writes it, and what runs in it."""

    folder: Path
    run: Callable[[str], None]

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def own(self) -> Path:
        return self.folder / "own"

    @property
    def markers(self) -> Path:
        return self.folder / "markers"

    @property
    def mounts(self) -> Path:
        return self.folder / "mountinfo"

    def show(self, hardware: Hardware) -> None:
        """Write the state as the lab does, without the device nodes, which need root."""
        self.state.mkdir(parents=True, exist_ok=True)
        write_json(self.state / "hardware.json", hardware.as_json())

    def machine(self, name: str, *faults: tuple[str, int]) -> Node:
        hardware = MACHINES[name]
        for fault, index in faults:
            hardware = inject(hardware, fault, index)
        self.show(hardware)
        return self.node()

    def load(self, module: str, version: str) -> None:
        """As `attach` does at boot for a module that a package brought."""
        folder = self.own / "modules"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / module).write_text(f"{version} simulated\n")

    def mount(self, *points: str) -> None:
        """As the kernel shows the host's folder that plays the share, and its mounts."""
        rows = (f"1 2 8:1 /shares/scratch {point} rw - ext4 /dev/sda rw\n" for point in (SHARE, *points))
        self.mounts.write_text("".join(rows))

    def node(self, installed: str = "") -> Node:
        found = find_node(installed, self.state, self.own, self.markers, self.mounts)
        return replace(found, now=NOW, name="n1")

    def launcher(self, program: str, installed: str = "") -> Path:
        """The program as an executable file, as it lies in a node."""
        path = self.folder / "bin" / program
        path.parent.mkdir(exist_ok=True)
        folders = {"state": self.state, "own": self.own, "markers": self.markers}
        arguments = ", ".join(f"{name}=Path({str(folder)!r})" for name, folder in folders.items())
        lab = Path(simulate.__file__).parent
        path.write_text(
            "#!/usr/bin/env -S python3 -I\nimport sys\nfrom pathlib import Path\n"
            f"sys.path.insert(0, {str(lab)!r})\nfrom simulators.launch import main\n"
            f"sys.exit(main({program!r}, {installed!r}, {arguments}))\n"
        )
        path.chmod(0o755)
        return path
