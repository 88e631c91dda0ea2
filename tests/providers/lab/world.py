"""What a test asks of the world: nodes to boot, commands on them, and what a lab has left behind."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from clusterwright.providers.lab import cgroup
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import LabNode
from clusterwright.providers.lab.model import Share
from clusterwright.providers.lab.process import running_machines
from clusterwright.providers.lab.simulate import Hardware, SimulatedGpu, SimulatedNic
from clusterwright.providers.lab.ssh import Target

HOME = Share("home", "/home")


def silent(subject: str, text: str) -> None:
    """Nobody watches a test."""


def eight_gpus() -> Hardware:
    gpus = tuple(
        SimulatedGpu(minor, "NVIDIA H100 80GB HBM3", f"0000:{minor:x}7:00.0", f"GPU-{minor}", 81559, "0-1")
        for minor in range(8)
    )
    return Hardware(gpus, (SimulatedNic("rdma0", 400), SimulatedNic("rdma1", 400)), "580.95.05")


def nodes(lab: Lab, *names: str, hardware: Hardware | None = None) -> list[LabNode]:
    subnet = lab.reserve().subnet
    return [LabNode(name, subnet[10 + n], hardware or Hardware()) for n, name in enumerate(names)]


def up(lab: Lab, wanted: Iterable[LabNode]) -> list[Target]:
    return lab.ensure(list(wanted), silent, shares=[HOME])


def on(target: Target, command: str) -> str:
    """What the command prints on the node, reached as a user would: over SSH, with the host key pinned."""
    done = subprocess.run(target.ssh_command(command), capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}[exit {done.returncode}]"


def traces(lab: Lab) -> list[str]:
    """Everything on this machine that carries the lab's key or lies in its folder."""
    found = [f"process {name}" for name in running_machines(f"cw-{lab.key}")]
    found += [f"group {path}" for path in cgroup.NodeGroups(lab.key).left()]
    for what, argv in {
        "interface": ["ip", "-oneline", "link", "show"],
        "table": ["nft", "list", "tables"],
    }.items():
        lines = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
        found += [f"{what} {line}" for line in lines if lab.key in line]
    found += [
        f"mount {line}"
        for line in Path("/proc/self/mountinfo").read_text().splitlines()
        if str(lab.home.state) in line or lab.key in line
    ]
    found += [f"run {path}" for path in Path("/run/systemd/nspawn").glob(f"*/*{lab.key}*")]
    found += [f"file {path}" for path in lab.home.state.rglob("*") if path.is_file() and _is_content(path)]
    return found


def _is_content(path: Path) -> bool:
    """The empty files that all labs lock for a moment are not a lab's."""
    return not (path.parent.name == "locks" and path.name.startswith("."))
