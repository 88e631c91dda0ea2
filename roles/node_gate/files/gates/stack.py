"""The locked software: installed at exactly its versions, loaded and running."""

from __future__ import annotations

import re
import time

from gates import packages
from gates.node import Node, Unmet

LOADED = re.compile(r"NVIDIA UNIX (Open )?.*?Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s")
SAME_AS_DRIVER = ("fabric_manager", "imex", "nscq", "nvsdm")
RESTART_SECONDS = 1.0  # a daemon that is just started anew is no fault
APPLY = "Run `clusterwright up`: it installs what the lock says"
ANEW = "Load the driver that the lock was solved for, or say in `versions` that the site's is"


def stack(node: Node) -> str:
    """Every locked package is installed at its version and held there."""
    wanted = {name: version for row in node.stack.values() for name, version in row["packages"].items()}
    held = {name for row in node.stack.values() for name in row["hold"]}
    seen, kept = packages.look(node, sorted(wanted))
    for name, version in sorted(wanted.items()):
        if name not in seen:
            raise Unmet(f"{name} {version or ''}".strip(), "not installed", APPLY)
        if version and version not in seen[name]:
            raise Unmet(f"{name} {version}", seen[name][0], APPLY)
    for name in sorted((held & set(seen)) - kept):
        raise Unmet(f"{name} held", "an upgrade may move it", packages.how_to_hold(node, name))
    return f"{len(wanted)} packages as locked"


def driver_loaded(node: Node) -> str:
    """The kernel runs the locked driver, of the locked flavour, or the site's; all else is made for it."""
    locked = node.stack.get("driver")
    expected = f"driver {locked['version']}" if locked else "the site's own driver"
    found = LOADED.search(node.read("/proc/driver/nvidia/version"))
    if not found:
        remedy = "Run `modprobe nvidia` and look at `dmesg`: Secure Boot loads only modules with a known key"
        raise Unmet(expected, "no NVIDIA driver is loaded", remedy)
    if locked:
        _as_locked(locked, "open" if found[1] else "proprietary", found[2])
    for name in same_as_driver(node):
        version = node.stack[name]["version"]
        if version != found[2]:
            remedy = f"{ANEW} {found[2]}" if not locked else "Run `clusterwright lock`, then `up`"
            raise Unmet(f"{name} {found[2]}, as the driver that is loaded", version, remedy)
    return f"driver {found[2]}"


def same_as_driver(node: Node) -> list[str]:
    """Components of this node that refuse another driver than their own."""
    return [name for name in SAME_AS_DRIVER if name in node.stack]


def _as_locked(locked: dict, flavour: str, version: str) -> None:
    if version != locked["version"]:
        remedy = "Drain and reboot the node: a module stays loaded until then"
        raise Unmet(f"driver {locked['version']}", f"driver {version}", remedy)
    if locked["flavour"] in ("open", "proprietary") and flavour != locked["flavour"]:
        raise Unmet(f"the {locked['flavour']} kernel modules", f"the {flavour} ones", APPLY)


def gpu_services(node: Node) -> str:
    """The daemons of the stack run: Fabric Manager, IMEX, DCGM, the persistence daemon."""
    names = services(node)
    stopped = _stopped(node, names)
    if stopped:
        time.sleep(RESTART_SECONDS)
        stopped = _stopped(node, names)
    for name, state in sorted(stopped.items()):
        command = ["journalctl", "--unit", name, "--lines=1", "--output=cat", "--quiet", "--no-pager"]
        _, said = node.run(*command)
        last = f": {said.splitlines()[-1]}" if said else ""
        remedy = f"Look at `journalctl -u {name}`; its version must equal the driver's"
        raise Unmet(f"{name} active", state + last, remedy)
    return ", ".join(name.rpartition(".")[0] for name in names)


def _stopped(node: Node, names: list[str]) -> dict[str, str]:
    """State and result of those that are not active."""
    _, output = node.run("systemctl", "show", "--property=Id,ActiveState,Result", *names)
    states = dict.fromkeys(names, "unknown")
    for block in output.split("\n\n"):
        fields = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        state = fields.get("ActiveState", "")
        states[fields.get("Id", "")] = state if state == "active" else f"{state} ({fields.get('Result', '')})"
    return {name: states[name] for name in names if states[name] != "active"}


def services(node: Node) -> list[str]:
    """The stack's units that run here. Slurm's own come after this gate."""
    brought = {_unit(name) for part, row in node.stack.items() if part != "slurm" for name in row["services"]}
    return sorted(brought & {_unit(name) for name in node.planned["units"]})


def _unit(name: str) -> str:
    return name if "." in name else f"{name}.service"
