"""lnetctl of a Lustre client: networks as they were imported, each interface as its card is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from . import shares
from .node import Answer, Node

_NO_LNET = "opening /dev/lnet failed: No such device\nhint: the kernel modules may not be loaded\n"
_PLAIN = "host0"
"""What a lab node's interface is called."""


def lnetctl(node: Node, arguments: Sequence[str]) -> Answer:
    """`lnet configure`, `lnet unconfigure`, `import FILE`, `net`, `set discovery`, `udsp add`."""
    words = [word for word in arguments if not word.startswith("-")]
    said = dict(pairwise(arguments))
    if list(arguments[:1]) == ["--version"]:
        return Answer(f"lnetctl {node.installed} (simulated)\n")
    if node.module("lnet") is None:
        return Answer(error=_NO_LNET, status=1)
    match words:
        case ["lnet", "configure"]:
            if node.setting("lnet") is None:
                node.remember("lnet", {})
            return Answer()
        case ["lnet", "unconfigure"]:
            return _unconfigure(node)
        case ["import", file]:
            return _import(node, file)
        case ["net", "show", *_]:
            return Answer(_shown(node, said.get("--net"), counted="-v" in arguments))
        case ["net", "add", *_] if "--net" in said and "--if" in said:
            return _add(node, said["--net"], said["--if"])
        case ["set", "discovery", "0" | "1"]:
            return Answer()
        case ["udsp", "add", *_] if "--src" in said:
            node.remember("lnet_preferred", said["--src"])
            return Answer()
    return Answer(error=f"the simulated lnetctl does not know: {' '.join(arguments)}\n", status=1)


def remove_modules(node: Node, _: Sequence[str]) -> Answer:
    """lustre_rmmod: everything of Lustre's is unloaded, unless a file system is mounted."""
    if any(shares.mount_points(node, share) for share in shares.of_kind(node, "lustre")):
        return Answer(error="rmmod: ERROR: Module lustre is in use\n", status=1)
    _forget(node)
    for name in ("lustre", "kefalnd", "lnet"):
        (node.own / "modules" / name).unlink(missing_ok=True)
    return Answer()


def networks(node: Node) -> dict[str, list[str]]:
    """Network → interfaces; LNet that nobody configured uses the first interface."""
    told = node.setting("lnet")
    return {"tcp": [_PLAIN]} if told is None else told


def is_up(node: Node, network: str) -> bool:
    """Whether some interface of a network is up."""
    return any(_status(node, network, name) == "up" for name in networks(node).get(network, ()))


def _unconfigure(node: Node) -> Answer:
    if any(shares.mount_points(node, share) for share in shares.of_kind(node, "lustre")):
        what = "LNet unconfigure error: Device or resource busy"
        return Answer(
            error=f'unconfigure:\n    - lnet:\n          errno: -16\n          descr: "{what}"\n', status=240
        )
    _forget(node)
    return Answer()


def _forget(node: Node) -> None:
    for name in ("lnet", "lnet_preferred"):
        node.remember(name, None)


def _add(node: Node, network: str, interface: str) -> Answer:
    known = networks(node)
    if network.startswith("efa") and (node.module("kefalnd") is None or not shares.card_of(node, interface)):
        what = f'"cannot add network {network} over {interface}: No such device"'
        return Answer(error=f"add:\n    - net:\n          errno: -19\n          descr: {what}\n", status=237)
    if interface not in known.get(network, ()):
        node.remember("lnet", {**known, network: [*known.get(network, ()), interface]})
    return Answer()


def _import(node: Node, file: str) -> Answer:
    """As much of the file's YAML as there is in a configuration: networks, their interfaces, or addresses."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        return Answer(error=f"cannot open {file}: {error.strerror}\n", status=1)
    found: dict[str, list[str]] = {}
    network = ""
    ranged = False
    for line in text.splitlines():
        name = re.match(r"\s*- net(?: type|-spec): (\S+)", line)
        entry = re.match(r"\s+\d+: (\S+)", line)
        ranged = (ranged and not name) or line.strip() == "ip-range:"
        if name:
            network = name[1]
            found.setdefault(network, [])
        elif entry and ranged:
            found[network] = [_PLAIN] if _within(entry[1], node.hardware.address) else found[network]
        elif entry:
            found[network].append(entry[1])
    node.remember("lnet", {**(node.setting("lnet") or {}), **found})
    return Answer()


def _within(pattern: str, address: str) -> bool:
    """Whether an address is in a range such as `10.1.[4-7].*`."""
    parts = list(zip(pattern.split("."), address.split("."), strict=False))
    return len(parts) == 4 and all(_fits(allowed, octet) for allowed, octet in parts)


def _fits(allowed: str, octet: str) -> bool:
    low, dash, high = allowed.strip("[]").partition("-")
    return allowed == "*" or (int(low) <= int(octet) <= int(high) if dash else low == octet)


def _shown(node: Node, only: str | None, *, counted: bool) -> str:
    """After the form of `lnetctl net show`, the loopback first."""
    lines = ["net:"]
    if only is None:
        lines += ["    - net type: lo", "      local NI(s):", "        - nid: 0@lo", "          status: up"]
    for network, interfaces in networks(node).items():
        if only not in (None, network):
            continue
        lines += [f"    - net type: {network}", "      local NI(s):"]
        for name in interfaces:
            lines += [
                f"        - nid: {nid(node, network, name)}",
                f"          status: {_status(node, network, name)}",
                "          interfaces:",
                f"              0: {name}",
            ]
            if counted:
                messages = _messages(node, network)
                lines += ["          statistics:", f"              send_count: {messages}"]
                lines += [f"              recv_count: {messages}", "              drop_count: 0"]
    return "".join(f"{line}\n" for line in lines)


def _messages(node: Node, network: str) -> int:
    """Of mounted file systems, over the network that is preferred; without one over all."""
    mounted = any(shares.mount_points(node, share) for share in shares.of_kind(node, "lustre"))
    preferred = node.setting("lnet_preferred") or network
    return 100 if mounted and preferred == network and is_up(node, network) else 0


def nid(node: Node, network: str, interface: str) -> str:
    """The node's address on a network; of a fabric a made one that ends as the node's own does."""
    octets = (node.hardware.address or "127.0.0.1").split(".")
    if network[:3] != "tcp":
        digits = interface[len(interface.rstrip("0123456789")) :]
        octets = ["172", str(16 + int(digits or 0) % 16), *octets[2:]]
    return f"{'.'.join(octets)}@{network}"


def _status(node: Node, network: str, interface: str) -> str:
    if network[:3] == "tcp":
        return "up"
    card = shares.card_of(node, interface)
    return "up" if card and card.state == "active" else "down"
