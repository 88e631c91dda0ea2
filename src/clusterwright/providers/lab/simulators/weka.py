"""WEKA's stateless client: mount.wekafs binds the host's folder, weka tells of its container."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from . import shares
from .hardware import SimulatedShare
from .node import Answer, Node

_READY = ("READY", "Ready")
_STATES = {"ok": _READY, "away": ("CLUSTERIZING", "Joining cluster"), "evicted": ("STEM", "STEM mode")}
"""internalStatus of a container, after the examples in github.com/weka/weka-operator."""


def mount(node: Node, arguments: Sequence[str]) -> Answer:
    """`mount.wekafs BACKEND[,BACKEND]/NAME DIRECTORY [-o OPTIONS]`, as mount(8) calls it."""
    words = list(arguments)
    options = words[words.index("-o") + 1].split(",") if "-o" in words else []
    told = dict(option.split("=", 1) for option in options if "=" in option)
    backends, _, name = words[0].rpartition("/")

    def failed(what: str) -> Answer:
        return Answer(error=f"mount.wekafs: {what}\n", status=32)

    if not (node.own / "services" / "weka-agent").exists():
        return failed("the weka agent is not running")
    if "net" not in told:
        return failed("net= is required")
    try:
        Path(told.get("auth_token_path", "/dev/null")).read_bytes()
    except OSError as error:
        return failed(f"{error.filename}: {error.strerror}")
    share = next((one for one in shares.of_kind(node, "weka") if one.name == name), None)
    if (
        share is None
        or not set(backends.rstrip(":").split(",")) & set(share.servers)
        or share.state == "away"
    ):
        return failed(f"failed to join the cluster through {backends}")
    complaint = shares.bind(share, "", words[1], options)
    return failed(complaint) if complaint else Answer()


def weka(node: Node, arguments: Sequence[str]) -> Answer:
    """`version`, and `local ps --json`: the client's container, once something is mounted."""
    match [word for word in arguments if not word.startswith("-")]:
        case ["version"]:
            return Answer("simulated\n")
        case ["local", "ps"]:
            mounted = [share for share in shares.of_kind(node, "weka") if shares.mount_points(node, share)]
            return Answer(json.dumps([_container(share) for share in mounted[:1]], indent=4) + "\n")
    return Answer(error=f"the simulated weka does not know: {' '.join(arguments)}\n", status=1)


def _container(share: SimulatedShare) -> dict[str, object]:
    shown, message = _STATES[share.state]
    status = {"action": "NONE", "display_status": shown, "message": message, "state": "READY"}
    return {
        "name": "client",
        "type": "client",
        "isRunning": True,
        "runStatus": "Running",
        "lastFailure": "",
        "internalStatus": status,
    }
