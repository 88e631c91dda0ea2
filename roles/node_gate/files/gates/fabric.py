"""The cards of the compute fabric: all there, up, at their rate, and called what they were called."""

from __future__ import annotations

import json
import re
import shutil

from gates.node import Node, Unmet, Unseen

# By PCI address and driver, which /sys/class/infiniband does not tell without following links.
CARDS = "/sys/bus/pci/drivers"
GVNIC_DRIVERS = ("gve", "gvnic")  # the kernel's own, and Google's of before
FI_INFO = "/opt/amazon/efa/bin/fi_info"
DOMAIN = re.compile(r"^\s*domain: (\S+)", re.MULTILINE)
NAMES = "/var/lib/clusterwright/links.json"
MEMLOCK_FLOOR = 16 << 30  # what the fabric checks of awsome-distributed-training ask for
# Card kind → what the kernel calls its link layer: RoCE is Ethernet, and EFA is neither
# (drivers/infiniband/hw/efa/efa_verbs.c: IB_LINK_LAYER_UNSPECIFIED).
LAYERS = {"infiniband": "InfiniBand", "mrdma": "Ethernet", "roce": "Ethernet", "efa": ""}
# EFA's driver names one fixed speed whatever the card has (efa_verbs.c), and a virtual function shows its
# host's: only the rate of a whole card of one's own is a fact of the port.
RATED = ("infiniband", "roce")


def planned(node: Node) -> list:
    """The cards that RDMA goes through."""
    return [nic for nic in node.hardware["nics"] if nic["kind"] in LAYERS]


def fabric_cards(node: Node) -> str:
    """As many cards as the machine type has are up, at its rate."""
    cards, ports = planned(node), _ports(node)
    told = []
    for kind in sorted({card["kind"] for card in cards}):
        count = sum(card["kind"] == kind for card in cards)
        rate = min(card["gbps"] for card in cards if card["kind"] == kind) if kind in RATED else 0
        expected = f"{count} {kind} cards active" + (f" at {rate} Gb/s" if rate else "")
        complaints = [_complaint(port, rate) for port in ports if port["layer"] == LAYERS[kind]]
        good = complaints.count("")
        if good < count:
            said = "".join(f"; {text}" for text in complaints if text)
            remedy = "Look at cable, transceiver and switch port; at `lspci` for a card that is gone"
            raise Unmet(expected, f"{good} of them{said}", remedy)
        told.append(expected)
    return ", ".join(told)


def _complaint(port: dict, rate: int) -> str:
    if port["state"] != "ACTIVE":
        return f"{port['name']} is {port['state'] or 'without a state'}, {port['physical'] or 'unknown'}"
    return f"{port['name']} at {port['rate']:g} Gb/s" if port["rate"] < rate else ""


def _ports(node: Node) -> list[dict]:
    """Every RDMA port that the kernel shows."""
    found = []
    for port in sorted(node.path(CARDS).glob("*/*/infiniband/*/ports/*")):
        read = {file: _first(port / file) for file in ("state", "phys_state", "rate", "link_layer")}
        rate = re.match(r"[\d.]+", read["rate"])
        found.append(
            {
                "name": port.parts[-3],
                "state": read["state"].rpartition(": ")[2].upper(),
                "physical": read["phys_state"].rpartition(": ")[2],
                "rate": float(rate[0]) if rate else 0.0,
                "layer": read["link_layer"] if read["link_layer"] in LAYERS.values() else "",
            }
        )
    return found


def virtual(node: Node) -> list:
    """Google's virtual cards, where they are what GPUs talk over."""
    return [nic for nic in node.hardware["nics"] if nic["kind"] == "gvnic"]


def virtual_cards(node: Node) -> str:
    """As many gVNIC cards as the machine type has are up, with the MTU that its networks are made with."""
    count, mtu = len(virtual(node)), node.planned.get("card_mtu") or 0
    expected = f"{count} gVNIC cards up" + (f" with MTU {mtu}" if mtu else "")
    good, said = 0, []
    for driver in GVNIC_DRIVERS:
        for card in sorted(node.path(CARDS).glob(f"{driver}/*/net/*")):
            state, seen = _first(card / "operstate"), _first(card / "mtu")
            if state != "up":
                said.append(f"{card.name} is {state or 'without a state'}")
            elif seen.isdigit() and int(seen) < mtu:
                said.append(f"{card.name} has MTU {seen}")
            else:
                good += 1
    if good < count:
        remedy = (
            "Look at `ip link` and `lspci`, at the machine's interfaces, and at the MTU of their networks"
        )
        raise Unmet(expected, "; ".join([f"{good} of them", *said]), remedy)
    return expected


def fabric_provider(node: Node) -> str:
    """libfabric finds every EFA card: a program that finds none falls back to sockets."""
    planned_cards = sum(card["kind"] == "efa" for card in planned(node))
    status, output = node.run(shutil.which("fi_info") or FI_INFO, "-p", "efa", "-t", "FI_EP_RDM")
    if status == 127:
        raise Unseen("fi_info is not installed")
    # Each card stands there once for each of the fabrics `efa` and `efa-direct`.
    domains = set(DOMAIN.findall(output))
    if len(domains) != planned_cards:
        said = output.splitlines()[-1] if output and not domains else f"{len(domains)} domains"
        remedy = (
            "Look at `lsmod` for efa, at `ibv_devices`, and at the security group: EFA needs all of its own"
        )
        raise Unmet(f"{planned_cards} domains of the provider efa", said, remedy)
    return f"{planned_cards} domains"


def link_names(node: Node) -> str:
    """A card is still called what it was called: settings of NCCL, MPI and Slurm name cards."""
    seen = {card.parts[-3]: card.name for card in node.path(CARDS).glob("*/*/infiniband/*")}
    if not seen:
        raise Unseen("the kernel shows no card, see fabric-cards")
    try:
        before = json.loads(node.read(NAMES) or "{}")
    except ValueError:
        before = {}
    for pci, name in sorted(seen.items()):
        if before.get(pci, name) != name:
            remedy = f"Look at the udev rules that name links (rdma_rename); if it is meant, remove {NAMES}"
            raise Unmet(f"{before[pci]} at {pci}", f"{name} at {pci}", remedy)
    if before != seen:
        node.place(NAMES, json.dumps(seen, sort_keys=True) + "\n")
    return ", ".join(sorted(seen.values()))


def memlock(node: Node) -> str:
    """Jobs may lock the memory that RDMA needs: they inherit slurmd's limit."""
    status, output = node.run("systemctl", "show", "slurmd.service", "--property=LimitMEMLOCK", "--value")
    limit = output.strip()
    if status or not limit:
        raise Unseen("systemd does not tell slurmd's limit")
    if limit != "infinity" and (not limit.isdigit() or int(limit) < MEMLOCK_FLOOR):
        remedy = "Set LimitMEMLOCK=infinity in slurmd's unit; `clusterwright up` does"
        raise Unmet("slurmd's LimitMEMLOCK=infinity", limit, remedy)
    return limit


def _first(file) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""
