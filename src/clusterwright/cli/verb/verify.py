"""`clusterwright verify`: what is there against what is described."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_target
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.finding import Refused
    from clusterwright.operate.wired import Verified

_ABOUT = """Hold the wired fabric against the described one.

InfiniBand: runs ibnetdiscover and iblinkinfo here, or reads what they printed on a node of the fabric.
Ethernet: asks the lldpd of every node over SSH, or reads what it printed there. Names each cable that is
not as `clusterwright cabling` lists it: swapped, in another port, missing, below its speed.
Read only: nothing on the fabric is changed. Exit code 1 when a cable is wrong, or a node did not answer."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "verify",
        run,
        _ABOUT,
        examples={
            "clusterwright verify fabric racks.yaml": "on a machine with a card on the fabric, as root",
            "ssh gpu001 ibnetdiscover | clusterwright verify fabric racks.yaml --discovered -": "elsewhere",
            "clusterwright verify fabric racks.yaml --discovered fabric.txt --links links.txt": "links.txt: "
            "iblinkinfo --line --switches-only, which tells why a port is dark",
            "clusterwright verify fabric roce.yaml --neighbors told": "told/gpu-001.json and so on: "
            "lldpcli -f json show neighbors",
        },
    )
    parser.add_argument("what", choices=["fabric"], help="what to verify")
    add_target(parser)
    parser.add_argument(
        "--discovered", metavar="FILE", help="output of ibnetdiscover, `-` for standard input"
    )
    parser.add_argument("--links", metavar="FILE", help="output of iblinkinfo --line --switches-only")
    parser.add_argument(
        "--node-name-map", metavar="FILE", help="names of switches by GUID, for the tools that run here"
    )
    parser.add_argument(
        "--neighbors",
        metavar="PATH",
        nargs="+",
        help="Ethernet: files with the output of lldpcli -f json show neighbors, named after their nodes "
        "and switches, or folders of such files",
    )
    add_rehearsal(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.findings import show

    verified = _verified(arguments)
    if arguments.json:
        findings = [finding.as_json() for finding in verified.findings]
        counts = {
            "cables": len(verified.wiring.cables),
            "links": verified.links,
            "unseen": verified.unseen,
        }
        print(json.dumps({"ok": verified.ok, **counts, "findings": findings}, indent=1))
    else:
        show(verified.findings, as_json=False)
        described = f"{len(verified.wiring.cables):,} cables are described, {verified.links:,} links answered"
        if verified.unseen:
            described += f", {verified.unseen:,} were not looked at"
        print(f"{described}; {'all is as described' if verified.ok else 'not as described'}")
    return FINE if verified.ok else FAILED


def _verified(arguments: argparse.Namespace) -> Verified:
    from clusterwright.cli.target import source
    from clusterwright.operate import wired
    from clusterwright.operate.lldp.verify import verify as by_lldp

    described = source(arguments.cluster, arguments)
    names = Path(arguments.node_name_map) if arguments.node_name_map else None
    seen = wired.Seen(arguments.discovered, arguments.links, names)
    if wired.kind_of(described) == "ethernet":
        if seen != wired.Seen():
            raise _other_kind("--discovered", "Ethernet", "Give what lldpcli printed with --neighbors")
        return by_lldp(described, [Path(path) for path in arguments.neighbors or ()])
    if arguments.neighbors:
        raise _other_kind("--neighbors", "InfiniBand", "Give what ibnetdiscover printed with --discovered")
    return wired.verify(described, seen)


def _other_kind(option: str, kind: str, remedy: str) -> Refused:
    from clusterwright.finding import Where, refuse

    return refuse("CW8237", Where(path=option), f"the switches of this description are {kind}", remedy)
