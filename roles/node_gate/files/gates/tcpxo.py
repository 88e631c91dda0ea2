"""GPUDirect-TCPXO: the plug-in that the lock names is what its image placed, and the receive daemon runs."""

from __future__ import annotations

import hashlib

from gates.node import Node, Unmet

LIBRARIES = "/var/lib/tcpxo/lib64"
RECORD = "/var/lib/tcpxo/clusterwright"  # written by /usr/lib/clusterwright/tcpxo: the image, and sums
PLUGIN, RXDM = "clusterwright-tcpxo", "clusterwright-rxdm"
REMEDY = f"Run `systemctl restart {PLUGIN}` and look at its journal; nothing else may write into {LIBRARIES}"


def tcpxo_plugin(node: Node) -> str:
    """NCCL finds the plug-in of the locked release: with another one it stops, or it talks past RxDM."""
    image = node.planned["images"]["tcpxo"].get("plugin", "")
    expected = f"the plug-in of {image}" if image else "a plug-in that the catalogue knows"
    head, *sums = node.read(RECORD).splitlines() or [""]
    if head != image or not image:
        raise Unmet(expected, head or "no plug-in was placed", REMEDY)
    for told, name in (line.split(None, 1) for line in sums):
        file = node.path(f"{LIBRARIES}/{name}")
        if not file.is_file():
            raise Unmet(expected, f"{LIBRARIES}/{name} is not there", REMEDY)
        if hashlib.sha256(file.read_bytes()).hexdigest() != told:
            raise Unmet(expected, f"{LIBRARIES}/{name} is another one", REMEDY)
    return image


def rxdm(node: Node) -> str:
    """The receive daemon has its buffers: without it no job reaches another node."""
    unit = f"{RXDM}.service"
    _, output = node.run("systemctl", "show", "--property=Id,ActiveState,Result", unit)
    fields = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
    if fields.get("ActiveState") == "active":
        return "RxDM runs"
    command = ["journalctl", "--unit", unit, "--lines=1", "--output=cat", "--quiet", "--no-pager"]
    _, said = node.run(*command)
    last = f": {said.splitlines()[-1]}" if said else ""
    state = f"{fields.get('ActiveState', 'unknown')} ({fields.get('Result', '')})"
    remedy = f"Look at `journalctl -u {RXDM}` and `podman logs receive-datapath-manager`"
    raise Unmet(f"{unit} active", state + last, remedy)
