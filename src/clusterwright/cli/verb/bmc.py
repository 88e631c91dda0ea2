"""`clusterwright bmc`: own machines through their management controllers."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.operate.bmc.power import Switched
    from clusterwright.operate.bmc.site import Bmcs
    from clusterwright.operate.bmc.status import Status

_ABOUT = """Look at own machines, switch them and see their consoles, through their BMCs.

Redfish, and IPMI where a BMC has no Redfish. Addresses, serial numbers, certificates and where the login
is kept stand in the description and its file of machines: `clusterwright explain site.bmc` and
docs/bmc.md. Passwords come from a file or a variable, and are never shown.
NODES is a node set as Slurm writes it: gpu-001, gpu-[001-004]."""

_STATUS = """Ask every BMC for power, health, what boots next, serial number and firmware.

All at once; a dead one holds up no other, and has a finding that names the cause: no answer, wrong
password, a certificate that nobody vouches for, another machine than described.
Exits with 1 when not all answered, or one is another machine than described."""

_POWER = """Switch machines on or off, or only tell how they are.

`off` asks the system to shut down and waits for it; with --force the plug is pulled after that. `cycle`
is `off`, then `on`. `reset` asks nobody. What is so already is left alone: run it again and it goes on.
Nodes with running jobs are refused, and so is a machine whose serial number is not the described one.
No more machines start at once than their PDUs and feeds may: `starts` and `starts_per_feed` say it."""

_BOOT = """Say what machines boot from: from now on, or with --once at their next boot alone.

No machine is switched: `bmc power cycle` does that. What is so already is left alone."""

_CONSOLE = """See a machine's serial console, and type into it.

Serial over LAN where its BMC answers IPMI, else SSH where its Redfish names it, which asks for the
password itself. Enter, `~` and `.` end it. What is on the console is what the system sends there:
`console=ttyS0,115200` or the like on its kernel's command line."""


def add(verbs: Verbs) -> None:
    parser = verbs.add("bmc", None, _ABOUT, examples={"clusterwright bmc status hall.yaml": ""})
    actions = Verbs(parser, "what to do")
    asking = actions.add(
        "status",
        _run_status,
        _STATUS,
        examples={
            "clusterwright bmc status hall.yaml": "every machine",
            "clusterwright bmc status hall 'gpu[001-016]'": "some of a cluster that was brought up",
            "clusterwright bmc status hall.yaml --json": "for a program",
        },
    )
    _add_nodes(asking, nargs="?")
    _add_power(actions)
    booting = actions.add(
        "boot",
        _run_boot,
        _BOOT,
        resumes=True,
        examples={
            "clusterwright bmc boot network hall.yaml gpu003 --once": "to install it anew",
            "clusterwright bmc boot disk hall.yaml 'gpu[001-127]'": "what is on their disks",
        },
    )
    booting.add_argument("device", choices=["disk", "network"], metavar="DEVICE", help="disk | network")
    _add_nodes(booting)
    seeing = actions.add(
        "console", _run_console, _CONSOLE, examples={"clusterwright bmc console hall.yaml gpu003": ""}
    )
    add_target(seeing)
    seeing.add_argument("node", metavar="NODE", help="one node")
    booting.add_argument("--once", action="store_true", help="at the next boot alone")


def _add_power(actions: Verbs) -> None:
    parser = actions.add(
        "power",
        _run_power,
        _POWER,
        resumes=True,
        examples={
            "clusterwright bmc power on hall.yaml 'gpu[001-127]'": "as many at once as PDUs may",
            "clusterwright bmc power off hall gpu003": "of a cluster that was brought up",
            "clusterwright bmc power off hall gpu003 --wait '1 min' --force": "ask it, then pull the plug",
            "clusterwright bmc power status hall.yaml 'gpu[001-127]'": "nothing else than on or off",
        },
    )
    words = ["on", "off", "cycle", "reset", "status"]
    parser.add_argument("switch", choices=words, metavar="SWITCH", help=" | ".join(words))
    _add_nodes(parser)
    add = parser.add_argument
    add("--wait", metavar="TIME", default="5 min", help="how long a shutdown may take (default 5 min)")
    add(
        "--force", action="store_true", help="pull the plug of what does not shut down; now with --wait '0 s'"
    )
    add("--disturb", action="store_true", help="go on although running jobs will be lost")


def _add_nodes(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    add_target(parser)
    words = "a node set: gpu-001, gpu-[001-004]"
    parser.add_argument(
        "nodes", metavar="NODES", nargs=nargs, help=f"{words} (default: all)" if nargs else words
    )
    parser.add_argument(
        "--at-once", metavar="N", type=_count, default=64, help="BMCs that are talked to at once (default 64)"
    )


def _count(text: str) -> int:
    if text.isdecimal() and 0 < int(text) <= 1024:
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 1024")


def _known(arguments: argparse.Namespace) -> Bmcs:
    from clusterwright.cli.target import as_it_stands
    from clusterwright.operate.bmc.site import bmcs

    return bmcs(as_it_stands(arguments.cluster))


def _run_status(arguments: argparse.Namespace) -> int:
    from clusterwright.operate.bmc.status import Status, status

    chosen, without = _known(arguments).of(arguments.nodes)
    found = status(chosen, lambda _: None, arguments.at_once)
    found = Status(found.machines, (*without, *found.findings))
    _show(found, as_json=arguments.json)
    return FINE if found.ok else FAILED


def _show(found: Status, *, as_json: bool) -> None:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.table import print_table

    if as_json:
        machines = {node: asdict(seen) for node, seen in found.machines.items()}
        told = [finding.as_json() for finding in found.findings]
        print(json.dumps({"ok": found.ok, "machines": machines, "findings": told}, indent=1))
        return
    heads = ("NODE", "POWER", "HEALTH", "BOOTS FROM", "SERIAL", "MACHINE", "BMC", "FIRMWARE", "SENSOR", "VIA")
    rows = [
        (node, s.power, s.health, s.boot, s.serial, s.model, s.bmc, s.firmware, s.worst, s.via)
        for node, s in found.machines.items()
    ]
    if rows:
        print_table(heads, rows)
    show(found.findings, as_json=False)


def _run_power(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.finding import Where, refuse
    from clusterwright.operate.bmc import power
    from clusterwright.operate.bmc.jobs import refuse_jobs
    from clusterwright.spec.quantity import seconds

    wait = seconds(arguments.wait)
    if wait is None:
        where = Where(path="--wait")
        raise refuse("CW9011", where, f"'{arguments.wait}' is no time", "Write it as --wait '2 min'")
    known = _known(arguments)
    chosen, without = known.of(arguments.nodes)
    switch, notes = arguments.switch, list(without)
    with progress(as_json=arguments.json) as report:
        found = power.look(chosen, arguments.at_once)
        if switch in ("off", "cycle", "reset") and not arguments.disturb:
            notes += refuse_jobs(
                known.cluster, [node for node, state in found.states.items() if state != "off"]
            )
        if switch != "status":
            switching = power.Switching(
                switch, known.limits, report, wait, arguments.force, arguments.at_once
            )
            found = switching.run(chosen, found)
    found = power.Switched(found.states, found.done, (*notes, *found.findings))
    _show_power(found, as_json=arguments.json)
    return FINE if found.ok else FAILED


def _show_power(found: Switched, *, as_json: bool) -> None:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.table import print_table

    if as_json:
        told = [finding.as_json() for finding in found.findings]
        print(
            json.dumps(
                {"power": {"ok": found.ok, "states": found.states, "done": found.done, "findings": told}}
            )
        )
        return
    if found.states:
        rows = [(node, state, found.done.get(node, "")) for node, state in found.states.items()]
        print_table(("NODE", "POWER", "DONE"), rows)
    show(found.findings, as_json=False)


def _run_boot(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.cli.terminal.table import print_table
    from clusterwright.finding import Severity
    from clusterwright.operate.bmc.boot import boot

    chosen, without = _known(arguments).of(arguments.nodes)
    with progress(as_json=arguments.json) as report:
        found, told = boot(chosen, arguments.device, report, once=arguments.once, at_once=arguments.at_once)
    findings = (*without, *told)
    ok = not any(finding.severity is Severity.ERROR for finding in findings)
    if arguments.json:
        print(
            json.dumps({"boot": {"ok": ok, "boots": found, "findings": [one.as_json() for one in findings]}})
        )
    else:
        if found:
            print_table(("NODE", "BOOTS FROM"), found.items())
        show(findings, as_json=False)
    return FINE if ok else FAILED


def _run_console(arguments: argparse.Namespace) -> int:
    import sys

    from clusterwright.finding import Refused, Where, refuse
    from clusterwright.operate.bmc.console import ENDING, console

    chosen, without = _known(arguments).of(arguments.node)
    if without:
        raise Refused(without)
    if len(chosen) > 1:
        where = Where(path=arguments.node)
        raise refuse("CW8011", where, f"these are {len(chosen)} nodes", "Name one of them")
    print(f"console of {chosen[0].node}: {ENDING}", file=sys.stderr, flush=True)
    console(chosen[0])
    return FINE
