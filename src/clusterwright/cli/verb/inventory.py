"""`clusterwright inventory`: from a site's own lists of machines to the file of machines."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.operate.inventory.entry import Listed

_ABOUT = "Read lists of machines that a site has already."

_IMPORT = """Make a file of machines from lists that a site has already.

Spreadsheets saved as CSV, exports of NetBox (devices or interfaces) and Kea, leases of dnsmasq and of
ISC's dhcpd: each is known by its look, whatever its encoding, delimiter, headings and spelling of MACs.
Several lists come to one line for each node: one may have the names, another the MACs. What they do not
agree on, what is missing and what is not taken is named with its place. Passwords are never taken.

A network or a file of BMC addresses is a list as well: each is asked for serial number, MACs, model and
GPUs, and its certificate is written down. Silent addresses are passed over; 4,096 at most are asked. The
password is sent to whoever is vouched for by --bmc-authority or the system, or with --accept-new to all.

`--pools` writes the beginning of a description as well: pools by role and model, with their racks."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "inventory",
        None,
        _ABOUT,
        examples={"clusterwright inventory import racks.csv": "what a spreadsheet says"},
    )
    importing = Verbs(parser, "what to do").add(
        "import",
        run,
        _IMPORT,
        examples={
            "clusterwright inventory import racks.csv": "shown, and what is missing",
            "clusterwright inventory import netbox.csv dnsmasq.leases --out machines.csv": "",
            "clusterwright inventory import machines.csv new.csv --out machines.csv": "add to it",
            "clusterwright inventory import netbox.csv --out machines.csv --pools pools.yaml": "",
            "clusterwright inventory import redfish://10.71.0.0/24 --bmc-login file:bmc --accept-new": "",
            "clusterwright inventory import racks.csv redfish:bmcs.txt --bmc-login env:BMC": "",
        },
    )
    importing.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="a list, or redfish:// or ipmi:// and a network; of what differs the first counts",
    )
    add = importing.add_argument
    add("--bmc-login", metavar="REF", default="", help="where a sweep's login is kept: env:NAME or file:PATH")
    add("--bmc-authority", metavar="FILE", default="", help="certificates that those of the BMCs lead to")
    add("--bmc-port", metavar="PORT", type=int, help="of the BMCs (default 443, of IPMI 623)")
    add("--ipmi-cipher-suite", type=int, choices=[3, 17], help="of ipmi:// (default: BMCs are asked)")
    add("--accept-new", action="store_true", help="take the certificates that BMCs show, and note them")
    add("--names", metavar="NODES", default="", help="names of what is swept, in the order of addresses")
    importing.add_argument("--out", metavar="FILE", help="write the file of machines (default: show it)")
    importing.add_argument("--pools", metavar="FILE", help="write pools for a description, `-` to show them")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.operate.home import write_atomically
    from clusterwright.operate.inventory import collect
    from clusterwright.operate.inventory.draft import draft

    _unspoilt(arguments)
    imported = collect([_swept(word, arguments) or Path(word) for word in arguments.files])
    pools, doubts = draft(imported.machines) if arguments.pools else ("", [])
    findings = (*imported.findings, *doubts)
    if arguments.out:
        write_atomically(Path(arguments.out), imported.text())
    if arguments.pools and arguments.pools != "-":
        write_atomically(Path(arguments.pools), pools)
    if arguments.json:
        told = [finding.as_json() for finding in findings]
        rows = [
            {"node": one.node, **{key: cell.text for key, cell in one.cells.items()}}
            for one in imported.machines
        ]
        print(json.dumps({"machines": rows, "findings": told}, indent=1))
        return FINE
    if not arguments.out:
        print(imported.text(), end="")
    if arguments.pools == "-":
        print(pools, end="")
    show(findings, as_json=False)
    number, files = len(imported.machines), len(arguments.files)
    print(f"{number:,} machines from {files} list{'s' if files > 1 else ''}", file=sys.stderr)
    return FINE


def _unspoilt(arguments: argparse.Namespace) -> None:
    """What somebody wrote is not overwritten, unless it is one of the lists that are read."""
    from clusterwright.finding import Where, refuse

    given = {Path(file).resolve() for file in arguments.files}
    for name in (arguments.out, arguments.pools):
        if name and name != "-" and Path(name).exists() and Path(name).resolve() not in given:
            remedy = "Give it as a list too, which keeps what is in it, or name another file"
            raise refuse("CW9002", Where(name), "the file is there already", remedy)


def _swept(word: str, arguments: argparse.Namespace) -> Listed | None:
    """What BMCs tell; None for a file."""
    if not word.startswith(("redfish:", "ipmi:")):
        return None
    from clusterwright.operate.bmc.sweep import Asked, sweep

    asked = Asked(
        arguments.bmc_login,
        arguments.bmc_port,
        arguments.bmc_authority,
        arguments.accept_new,
        arguments.names,
        arguments.ipmi_cipher_suite,
    )
    return sweep(word, asked)
