"""The vendors' daemons: each checks what the real one checks, and then waits until it is stopped."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from . import shares
from .facts import model_named
from .node import Answer, Node

UPDATE = "Please update with matching NVIDIA driver package."
_NOTHING_TO_DO = (
    "request to query NVSwitch device information from NVSwitch driver failed with error:"
    "WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]"
)
_NO_DEVICES = (
    "Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist, "
    "and that user 0 has read and write permissions for those files."
)
_MOUNTS_OF_BEEGFS = Path("/etc/beegfs/beegfs-mounts.conf")
_IMEX_NODES = "/etc/nvidia-imex/nodes_config.cfg"


def fabric_manager(node: Node) -> str:
    """Why Fabric Manager does not start here; empty when it does."""
    if node.loaded is None:
        return "failed to load/open the NVIDIA driver"
    if node.library != node.loaded:
        mine = f"fabric manager NVIDIA GPU driver interface version {node.library}"
        return f"{mine} don't match with driver version {node.loaded}. {UPDATE}"
    if node.hardware.nvlink_domain < 8 or not any(model_named(gpu.model).links for gpu in node.gpus):
        return _NOTHING_TO_DO
    if node.hardware.fabric_manager == "failed":
        return "detected NVSwitch fatal error (simulated fault of this lab node)"
    return ""


def imex(node: Node) -> str:
    """Why IMEX does not start here; empty when it does."""
    if node.loaded is None:
        return "IMEX: the NVIDIA driver is not loaded"
    if node.library != node.loaded:
        return f"IMEX version {node.library} does not match with driver version {node.loaded}. {UPDATE}"
    if not os.path.exists(_IMEX_NODES):  # noqa: PTH110  (a start of pathlib that is not needed)
        return f"IMEX: {_IMEX_NODES} is not there"
    return ""


def persistenced(node: Node) -> str:
    """Why the persistence daemon does not start here; empty when it does."""
    if node.loaded is None or not node.gpus:
        return _NO_DEVICES
    if node.library != node.loaded:
        return "Failed to initialize NVML: Driver/library version mismatch"
    return ""


def host_engine(node: Node) -> str:
    """DCGM starts without a GPU and without a driver, and has nothing to tell then."""
    if node.loaded is not None and node.module("nvidia") not in (None, node.loaded):
        return "Failed to initialize NVML: Driver/library version mismatch"
    return ""


def beegfs_client(node: Node) -> str:
    """Mounts what beegfs-mounts.conf names, as the real service does; why it does not, or nothing."""
    try:
        lines = _MOUNTS_OF_BEEGFS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"beegfs-client: {_MOUNTS_OF_BEEGFS} is not there"
    for target, file in (line.split()[:2] for line in lines if line.strip()):
        told = dict(re.findall(r"^(\w+)\s*=\s*(\S+)", Path(file).read_text(encoding="utf-8"), re.MULTILINE))
        host = told.get("sysMgmtdHost", "")
        share = next((one for one in shares.of_kind(node, "beegfs") if one.name == host), None)
        if share is None or share.state != "ok":
            return f"mount: {target}: beegfs: management service {host} does not answer"
        if "connAuthFile" not in told and told.get("connDisableAuthentication") != "true":
            return "beegfs: No connAuthFile configured"
        if target not in shares.mount_points(node, share):
            Path(target).mkdir(parents=True, exist_ok=True)
            if complaint := shares.bind(share, "", target, ()):
                return f"mount: {target}: {complaint}"
    return ""


def weka_agent(_: Node) -> str:
    """It needs nothing: the mount asks it for everything."""
    return ""


_DAEMONS: dict[str, Callable[[Node], str]] = {
    "beegfs-client": beegfs_client,
    "nv-fabricmanager": fabric_manager,
    "nv-hostengine": host_engine,
    "nvidia-imex": imex,
    "nvidia-persistenced": persistenced,
    "weka-agent": weka_agent,
}
_SAID = {
    "nv-fabricmanager": "Successfully configured all the available NVSwitches to route GPU NVLink traffic.",
    "nv-hostengine": "Host Engine Listener Started",
}


def start(node: Node, program: str, arguments: Sequence[str]) -> Answer:
    """Refuse as the real daemon does, or become a process of its name that waits."""
    if {"--version", "-v", "--help", "-h"} & set(arguments):
        return Answer(f"{program} version {node.installed or node.library}, simulated by clusterwright\n")
    refusal = _DAEMONS[program](node)
    if refusal:
        return Answer(error=f"{refusal}\n", status=1)
    return _wait_as(node, program)


def _wait_as(node: Node, program: str) -> NoReturn:
    folder = node.own / "services"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / program).write_text(f"{os.getpid()}\n", encoding="utf-8")
    said = _SAID.get(program, "Started")
    os.write(2, f"{said} (simulated)\n".encode())
    tell_systemd()
    # The same process id, and half a megabyte instead of an interpreter: a lab runs many of these.
    os.execvp("sleep", [program, "infinity"])


def tell_systemd() -> None:
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.connect(address.replace("@", "\0", 1) if address.startswith("@") else address)
            channel.sendall(b"READY=1")
