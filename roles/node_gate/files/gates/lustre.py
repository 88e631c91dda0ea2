"""Lustre: the file system that is planned, all of its servers, over the planned network."""

from __future__ import annotations

import re

from gates.node import Node, Unmet, Unseen

NAME = re.compile(
    r"^(\S+)-[0-9a-f]{8,16} (\S+)$", re.MULTILINE
)  # lfs getname: scratch-ffff9c1e8a3b1000 /scratch
STATES = ("FULL", "IDLE")  # an OST that nobody used for a while is disconnected until it is (LU-7236)
SHOWN = 3  # a file system has hundreds of targets, and a Reason of Slurm's is one line
NETWORK = re.compile(r"^\s*- net type: (\S+)\n(.*?)(?=^\s*- net type: |\Z)", re.MULTILINE | re.DOTALL)


def lnet(node: Node) -> str:
    """LNet is on every planned network, with as many interfaces as planned."""
    told = []
    for network, count in sorted(node.planned["lnet"].items()):
        status, output = node.run("lnetctl", "net", "show", "--net", network)
        states = re.findall(r"status: (\S+)", dict(NETWORK.findall(output + "\n")).get(network, ""))
        expected = f"{count} of {network} up"
        if states.count("up") < count:
            seen = f"{states.count('up')} up, {len(states)} configured" if states else _last(output, status)
            remedy = "Look at `systemctl status clusterwright-lnet` and at the links (`ip link`, `ibstat`)"
            raise Unmet(expected, seen, remedy)
        told.append(expected)
    return ", ".join(told)


def lustre(node: Node) -> str:
    """The planned file system is mounted, and its targets are connected over a planned network."""
    told = []
    for path, row in node.file_systems("lustre").items():
        name = row["file_system"]
        if not node.mounted(path):
            raise Unseen(f"{path} is not mounted, see mounts")
        status, output = node.run("lfs", "getname", path)
        found = NAME.search(output)
        if status or not found or found[1] != name:
            remedy = f"Unmount {path}; `clusterwright up` mounts the planned file system"
            raise Unmet(
                f"Lustre file system {name} at {path}", found[1] if found else _last(output, status), remedy
            )
        told.append(_connected(node, name, set(row["networks"])))
        told += [_carries(node, name, network) for network in row["carried"]]
    return ", ".join(told)


def _connected(node: Node, name: str, planned: set) -> str:
    status, output = node.run("lctl", "get_param", "-n", f"mdc.{name}-*.import", f"osc.{name}-*.import")
    blocks = [_fields(block) for block in output.split("import:") if "state:" in block]
    if status or not blocks:
        remedy = "Look at `dmesg` for LustreError, and at `lctl dl`"
        raise Unmet(f"connections of {name}", _last(output, status), remedy)
    expected = f"{len(blocks)} targets of {name} connected"
    bad = {block["target"]: block["state"] for block in blocks if block["state"] not in STATES}
    if bad:
        told = [f"{target.replace('_UUID', '')} {state}" for target, state in sorted(bad.items())]
        rest = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        raise Unmet(expected, ", ".join(told[:SHOWN]) + rest, _remedy(name, set(bad.values())))
    networks = {_network(block["connection"]) for block in blocks}
    if not networks <= planned:
        remedy = "Look at `lnetctl peer show` here and on the servers: the fabric's NIDs must be among them"
        raise Unmet(
            f"{name} over {', '.join(sorted(planned))}", f"over {', '.join(sorted(networks))}", remedy
        )
    return f"{expected} over {', '.join(sorted(networks))}"


def _carries(node: Node, name: str, network: str) -> str:
    """Connections are named by the servers' first NID, whatever network messages take: it counts them."""
    status, output = node.run("lnetctl", "net", "show", "-v", "--net", network)
    received = [int(count) for count in re.findall(r"recv_count: (\d+)", output)]
    if not any(received):
        seen = "none received" if received else _last(output, status)
        remedy = (
            "Look at `lnetctl udsp show` and `lnetctl peer show`; the security groups of nodes and file "
            "system must let all traffic through to each other"
        )
        raise Unmet(f"messages of {name} over {network}", seen, remedy)
    return f"messages over {network}"


def _remedy(name: str, states: set) -> str:
    if "EVICTED" in states:
        return (
            f"Look at `dmesg` and the servers' logs for why {name} evicted this client; "
            "it reconnects by itself once the network is good, else unmount and mount"
        )
    return "Look at `lctl ping` of the server's NID, and at the servers: they may be down or in recovery"


def _fields(block: str) -> dict:
    def field(name: str) -> str:
        found = re.search(rf"^\s*{name}: (.*)$", block, re.MULTILINE)
        return found[1].strip().strip('"') if found else ""

    return {"target": field("target"), "state": field("state"), "connection": field("current_connection")}


def _network(nid: str) -> str:
    """`tcp` of `10.0.0.5@tcp0`: network 0 may be written either way."""
    network = nid.rpartition("@")[2]
    return network[:-1] if network in ("tcp0", "o2ib0", "efa0") else network


def _last(output: str, status: int) -> str:
    return output.strip().splitlines()[-1] if output.strip() else f"exit status {status}"
