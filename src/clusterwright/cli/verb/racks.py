"""`clusterwright racks`: what stands where, and what it draws."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.plan.floor import Floor, RackPlan

_ABOUT = """Tell what stands in each rack of own machines, and what it draws.

Racks that are alike are one line: their devices, units, power, and what each PDU carries; in brackets
what it has to carry when another feed fails. Below are the sums of rooms and rows against their limits,
and how the site's sum comes about. The drawing shows every rack from the front."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "racks",
        run,
        _ABOUT,
        examples={
            "clusterwright racks clusters/onprem-superpod.yaml": "racks, power and limits",
            "clusterwright racks hall.yaml --rack a01": "one rack, unit by unit",
            "clusterwright racks hall.yaml --csv racks.csv --svg racks.svg": "a list, a picture",
        },
    )
    add_target(parser)
    parser.add_argument("--csv", metavar="FILE", help="write every device with its place, `-` for output")
    parser.add_argument("--svg", metavar="FILE", help="write the drawing")
    parser.add_argument("--rack", metavar="NAME", help="only what stands in this rack")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import description
    from clusterwright.cli.terminal import rack_table
    from clusterwright.cli.terminal.findings import show
    from clusterwright.operate.racked import racks
    from clusterwright.operate.source import Source

    floors, findings = racks(Source(description(arguments.cluster)))
    if arguments.rack:
        rack_table.print_rack(_named(floors, arguments.rack), as_json=arguments.json)
        return FINE
    _write(floors, arguments)
    if arguments.json:
        told = [finding.as_json() for finding in findings]
        print(json.dumps({**rack_table.as_json(floors), "findings": told}, indent=1))
    elif arguments.csv != "-":
        for floor in floors:
            rack_table.print_racks(floor)
        show(findings, as_json=False)
    return FINE


def _named(floors: tuple[Floor, ...], name: str) -> RackPlan:
    from clusterwright.finding import Where, refuse

    known = {rack.name: rack for floor in floors for rack in floor.racks.values()}
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(name, known, n=3) or list(known)[:3]
        where, remedy = Where(path=f"--rack {name}"), f"Nearest: {', '.join(near)}"
        raise refuse("CW8115", where, "no rack has that name", remedy)
    return known[name]


def _write(floors: tuple[Floor, ...], arguments: argparse.Namespace) -> None:
    from clusterwright.operate.home import write_atomically
    from clusterwright.plan.floor import drawing, listing

    if arguments.csv == "-":
        print(listing.text(floors), end="")
    elif arguments.csv:
        write_atomically(Path(arguments.csv), listing.text(floors))
    if arguments.svg:
        number = sum(len(floor.racks) for floor in floors)
        title = f"{Path(arguments.cluster).stem}: {number:,} racks"
        write_atomically(Path(arguments.svg), drawing.svg(floors, title))
