"""WEKA: the container of its stateless client runs and has joined the cluster (`weka local ps`)."""

from __future__ import annotations

import json

from gates.node import Node, Unmet, Unseen


def weka(node: Node) -> str:
    """Each planned file system is mounted, and every client container is ready."""
    paths = node.file_systems("weka")
    for path in paths:
        if not node.mounted(path):
            raise Unseen(f"{path} is not mounted, see mounts")
    status, output = node.run("weka", "local", "ps", "--json")
    try:
        containers = json.loads(output) if not status else None
    except ValueError:
        containers = None
    expected = f"the client of {', '.join(paths)} joined to its cluster"
    if not isinstance(containers, list):
        remedy = "Look at `systemctl status weka-agent` and `weka local status`"
        raise Unmet(expected, output.splitlines()[-1] if output else f"exit status {status}", remedy)
    bad = [f"{row['name']}: {_state(row)}" for row in containers if _state(row) != "Ready"]
    if bad or not containers:
        remedy = (
            "Look at `weka local status` and at the way to the backends; a client that its cluster removed "
            "is unmounted and mounted again"
        )
        raise Unmet(expected, ", ".join(bad) or "no container", remedy)
    return f"{', '.join(row['name'] for row in containers)} joined to the cluster of {', '.join(paths)}"


def _state(row: dict) -> str:
    """A container that cannot join is `READY` in itself, and tells that it is joining."""
    inside = row.get("internalStatus") or {}
    if not row.get("isRunning"):
        return row.get("lastFailure") or row.get("runStatus") or "not running"
    if inside.get("display_status") == inside.get("state") == "READY":
        return "Ready"
    return inside.get("message") or inside.get("display_status") or "no status"
