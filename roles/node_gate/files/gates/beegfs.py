"""BeeGFS: the planned management service, all targets reachable, no connection beside the first route.

Its client shows what it has under /proc/fs/beegfs, a folder for each mount: beegfs-net reads nothing else
(BeeGFS documentation 8, RDMA support), and ProcFsHelper.c of the client's module writes it.
"""

from __future__ import annotations

import re

from gates.node import Node, Unmet, Unseen

FOLDER = "/proc/fs/beegfs"
TARGET = re.compile(r"^\[Target ID: (\d+)\] @ .*: (\S+) / (\S+)", re.MULTILINE)
SERVER = re.compile(r"^(\S+) \[ID: \d+\]\n((?:[ \t]+.*\n?)*)", re.MULTILINE)
SHOWN = 3  # a Reason of Slurm's is one line


def beegfs(node: Node) -> str:
    """Each planned file system's client has all of its targets, over RDMA where that is planned."""
    told = []
    for path, row in node.file_systems("beegfs").items():
        if not node.mounted(path):
            raise Unseen(f"{path} is not mounted, see mounts")
        client = _client(node, row["management"])
        count = _targets(node, client, row["management"])
        way = _connections(node, client, row)
        told.append(f"{count} targets of {row['management']} online over {way}")
    return ", ".join(told)


def _client(node: Node, management: str) -> str:
    """The folder of the client that talks to this management service."""
    seen = set()
    for config in sorted(node.path(FOLDER).glob("*/config")):
        host = re.search(r"^sysMgmtdHost = (\S+)", config.read_text(errors="replace"), re.MULTILINE)
        if host and host[1] == management:
            return f"{FOLDER}/{config.parent.name}"
        seen.add(host[1] if host else "none")
    remedy = "Look at `journalctl --unit beegfs-client`: its module must be built for this kernel and loaded"
    raise Unmet(f"a BeeGFS client of {management}", ", ".join(sorted(seen)) or f"none in {FOLDER}", remedy)


def _targets(node: Node, client: str, management: str) -> int:
    """Metadata and storage targets. One that only waits to be synchronised has a mirror that is good."""
    rows = [
        (kind, *found)
        for kind, file in (("meta", "meta_target_state"), ("storage", "storage_target_state"))
        for found in TARGET.findall(node.read(f"{client}/{file}"))
    ]
    bad = [
        f"{kind} {number} {reachable if reachable != 'Online' else consistent}"
        for kind, number, reachable, consistent in rows
        if reachable != "Online" or consistent == "Bad"
    ]
    if bad or not rows:
        rest = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
        seen = ", ".join(bad[:SHOWN]) + rest if bad else "no target"
        remedy = (
            "Look at `beegfs health check`, and at the servers' logs; all at once: the management service"
        )
        raise Unmet(f"{len(rows) or 'the'} targets of {management} online", seen, remedy)
    return len(rows)


def _connections(node: Node, client: str, row: dict) -> str:
    """A client that cannot connect as it should falls back to another route, TCP among them, and says so."""
    servers = [
        *SERVER.findall(node.read(f"{client}/meta_nodes")),
        *SERVER.findall(node.read(f"{client}/storage_nodes")),
    ]
    protocols = sorted({name for _, lines in servers for name in re.findall(r"(RDMA|TCP): \d", lines)})
    if not row["rdma"]:
        return " and ".join(protocols) or "no connection yet"
    expected = f"BeeGFS of {row['management']} over RDMA"
    if not re.search(r"^\+ .*\bRDMA\b", node.read(f"{client}/client_info"), re.MULTILINE):
        remedy = (
            "Give the cards addresses, and look whether the client was built with RDMA; where it is not "
            "wanted, say `rdma: false`"
        )
        raise Unmet(expected, "no RDMA among the client's interfaces", remedy)
    fallen = sorted(name for name, lines in servers if "[fallback route]" in lines)
    if fallen:
        remedy = (
            "Look at `beegfs health net` and at the links (`ibstat`): another node's RDMA tells whose it is"
        )
        rest = f" and {len(fallen) - SHOWN} more" if len(fallen) > SHOWN else ""
        raise Unmet(expected, f"fallback route to {', '.join(fallen[:SHOWN])}{rest}", remedy)
    return " and ".join(protocols) or "no connection yet"
