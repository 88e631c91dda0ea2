"""`clusterwright cabling`: which cable goes where."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_target
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.plan.wiring import Wiring

_ABOUT = """Tell each cable of own machines' fabric.

How many switches `fabric.switches` comes to, how they are joined, and whether the fabric is
non-blocking. The list of cables has a line for each, by rack and unit; the drawing is a picture of the
whole. The same description gives the same list, so a fabric can grow by the difference of two lists."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "cabling",
        run,
        _ABOUT,
        examples={
            "clusterwright cabling clusters/onprem-hgx-h100.yaml": "switches, links and cables in numbers",
            "clusterwright cabling racks.yaml --csv cables.csv --svg fabric.svg": "a list, a picture",
            "clusterwright cabling racks.yaml --device gpu-leaf-02": "each port of a switch or node",
            "clusterwright cabling roce.yaml --lossless roce.md": "what to set on Ethernet",
        },
    )
    add_target(parser)
    parser.add_argument("--csv", metavar="FILE", help="write the list of cables, `-` for standard output")
    parser.add_argument("--svg", metavar="FILE", help="write the drawing")
    parser.add_argument(
        "--lossless",
        metavar="FILE",
        help="Ethernet: write what makes switches and cards lossless, as a document; `-` for standard output",
    )
    parser.add_argument("--device", metavar="NAME", help="only this switch's or node's ports")
    add_rehearsal(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import source
    from clusterwright.cli.terminal.findings import show
    from clusterwright.operate.wired import cables

    wiring, findings = cables(source(arguments.cluster, arguments))
    if arguments.device:
        _device(wiring, arguments)
        return FINE
    _write(wiring, arguments)
    if arguments.lossless:
        _lossless(wiring, arguments)
    if arguments.json:
        from clusterwright.cli.terminal.cable_table import as_json

        told = [finding.as_json() for finding in findings]
        print(json.dumps({**as_json(wiring), "findings": told}, indent=1))
    elif "-" not in (arguments.csv, arguments.lossless):
        from clusterwright.cli.terminal.cable_table import print_fabric

        print_fabric(wiring)
        show(findings, as_json=False)
    return FINE


def _device(wiring: Wiring, arguments: argparse.Namespace) -> None:
    from clusterwright.cli.terminal.cable_table import print_ports
    from clusterwright.finding import Where, refuse

    if wiring.spot(arguments.device) is None and arguments.device not in {*wiring.by_name, *wiring.nodes}:
        from difflib import get_close_matches

        near = get_close_matches(arguments.device, [*wiring.by_name, *wiring.nodes], n=3)
        remedy = f"Nearest: {', '.join(near)}" if near else "`clusterwright cabling` lists them with --csv -"
        where = Where(path=f"--device {arguments.device}")
        raise refuse("CW9020", where, "no switch or node of the fabric has that name", remedy)
    print_ports(wiring, arguments.device, as_json=arguments.json)


def _lossless(wiring: Wiring, arguments: argparse.Namespace) -> None:
    from clusterwright.finding import Where, refuse
    from clusterwright.operate.home import write_atomically
    from clusterwright.plan.wiring.lossless import document

    if wiring.design.models.leaf.kind != "ethernet":
        what, remedy = "InfiniBand loses nothing by itself", "Leave it out"
        raise refuse("CW9021", Where(path="--lossless"), what, remedy)
    text = document(wiring, Path(arguments.cluster).stem)
    if arguments.lossless == "-":
        print(text, end="")
    else:
        write_atomically(Path(arguments.lossless), text)


def _write(wiring: Wiring, arguments: argparse.Namespace) -> None:
    from clusterwright.operate.home import write_atomically
    from clusterwright.plan.wiring import drawing, listing

    if arguments.csv == "-":
        print(listing.text(wiring), end="")
    elif arguments.csv:
        write_atomically(Path(arguments.csv), listing.text(wiring))
    if arguments.svg:
        stem = Path(arguments.cluster).stem
        title = f"{stem}: {len(wiring.nodes):,} nodes, {len(wiring.cables):,} cables"
        write_atomically(Path(arguments.svg), drawing.svg(wiring, title))
