"""The node as a simulator finds it: the host's state file, what the node itself has set, what is loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from .hardware import Hardware, SimulatedGpu

STATE_FOLDER = Path("/run/simulated-hardware")
"""The host's: this lab node's hardware, read only here. Nothing works without it."""
NODE_FOLDER = Path("/run/simulated-node")
"""The node's own, gone with its power: loaded modules, persistence and MIG mode, running services."""
MARKER_FOLDER = Path("/usr/lib/simulated-hardware/markers")
"""What simulated packages leave: `library` and `modules/NAME`, each with a version."""


MOUNTS = Path("/proc/self/mountinfo")


class NoLabNode(Exception):
    """There is no state file: this is not a node of a lab, and no simulator answers here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program prints and how it exits."""

    text: str = ""
    status: int = 0
    error: str = ""
    hangs: bool = False
    """Printed, and then never returns."""


@dataclass(frozen=True, slots=True)
class Node:
    """All that an answer depends on."""

    hardware: Hardware
    state: Path = STATE_FOLDER
    own: Path = NODE_FOLDER
    markers: Path = MARKER_FOLDER
    mounts: Path = MOUNTS
    installed: str = ""
    """Version of the package that the running program came with; empty for one that came with the node."""
    now: datetime = field(default_factory=datetime.now)
    name: str = field(default_factory=lambda: os.uname().nodename)

    @property
    def loaded(self) -> str | None:
        """Version of the loaded kernel driver; None when none is loaded."""
        return self.hardware.loaded_driver or self.module("nvidia") or self.hardware.driver_version or None

    @property
    def library(self) -> str | None:
        """Version of the driver's user space, which the running program belongs to."""
        return self.installed or self.library_of_driver

    @property
    def library_of_driver(self) -> str | None:
        """Version of the NVML that is installed, for programs of another package than the driver's."""
        return self._marked("library") or self.hardware.driver_version or self.loaded

    @property
    def gpus(self) -> tuple[SimulatedGpu, ...]:
        """The GPUs on the bus, in the order of their minors."""
        return tuple(sorted(self.hardware.present, key=lambda gpu: gpu.minor))

    def module(self, name: str) -> str | None:
        """Version of a loaded simulated kernel module."""
        return _first_word(self.own / "modules" / name)

    def runs(self, service: str) -> bool:
        """Whether a simulated daemon runs: the process whose id it wrote still goes by its name."""
        try:
            pid = int((self.own / "services" / service).read_text(encoding="utf-8"))
            return service.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return False

    def setting(self, name: str) -> Any:
        """What the node was told since it booted, by `nvidia-smi` and its like; None when nothing."""
        return self._settings().get(name)

    def remember(self, name: str, value: object) -> None:
        settings = {**self._settings(), name: value}
        self.own.mkdir(parents=True, exist_ok=True)
        partial = self.own / f".settings.{os.getpid()}"
        partial.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        partial.rename(self.own / "settings.json")

    def _marked(self, name: str) -> str | None:
        return _first_word(self.markers / name)

    def _settings(self) -> Mapping[str, Any]:
        try:
            document = json.loads((self.own / "settings.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}


def _first_word(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError):
        return None


def find_node(
    installed: str = "",
    state: Path = STATE_FOLDER,
    own: Path = NODE_FOLDER,
    markers: Path = MARKER_FOLDER,
    mounts: Path = MOUNTS,
) -> Node:
    """This lab node; refuses anywhere else."""
    try:
        document = json.loads((state / "hardware.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoLabNode from None
    if document.get("simulated") is not True:
        raise NoLabNode
    return Node(Hardware.from_json(document), state, own, markers, mounts, installed)
