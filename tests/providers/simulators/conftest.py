"""Nodes that the simulators answer for, in a folder of the test's own."""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pynvml
import pytest
from simulated_machines import DRIVER, MACHINES, World

from clusterwright.providers.lab.vendor import deb

SOURCE = Path(deb.__file__).with_name("nvml.c")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A node's folders; what was started in it ends with the test."""
    running: list[subprocess.Popen[bytes]] = []

    def run(daemon: str) -> None:
        process = subprocess.Popen([daemon, "60"], executable="/bin/sleep")
        running.append(process)
        while daemon.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            time.sleep(0.001)
        services = tmp_path / "own" / "services"
        services.mkdir(parents=True, exist_ok=True)
        (services / daemon).write_text(f"{process.pid}\n")

    yield World(tmp_path, run)
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, compiled to ask a program in the folder from which the test runs."""
    path = tmp_path_factory.mktemp("nvml") / f"libnvidia-ml.so.{DRIVER}"
    deb.compile_library(SOURCE.read_text(), DRIVER, path, '-DDUMP="./bin/nvml"')
    return path


@pytest.fixture
def nvml(library: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """pynvml on the simulated library of this test's node."""
    world.launcher("nvml")
    world.show(MACHINES["hgx-h100"])
    monkeypatch.chdir(world.folder)
    monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(library)))
    monkeypatch.setattr(pynvml, "_nvmlLib_refcount", 0)
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    ctypes.CDLL(str(library)).forget()
    yield pynvml
    while ctypes.CDLL(str(library)).nvmlShutdown() == 0:
        pass
