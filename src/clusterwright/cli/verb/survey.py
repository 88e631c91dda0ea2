"""`clusterwright survey`: what is on own machines already."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.contact import add_contact, contact
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.operate.own.asking import Machine
    from clusterwright.operate.own.survey import Surveyed

_ABOUT = """Look at own machines, and change nothing.

Tells what is there already (system, GPU driver, Slurm and its jobs, logins, mounts, firewall, services)
and what `up` would install, exchange, replace and start. What would be harmed is a finding. Machines
that answer the same are shown as one. Exits with 1 when something would be harmed, or did not answer."""
_WORDS = {
    "install": "packages installed",
    "exchange": "packages exchanged",
    "write": "files written",
    "replace": "files replaced",
    "units": "services changed",
    "logins": "logins made or changed",
    "observed": "differ, and the site keeps them",
}
_SHOWN = 6


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "survey",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright survey site.yaml --user ops --ask-password --accept-new": "before anything",
            "clusterwright survey site.yaml 'gpu-[001-004]'": "of machines that were bootstrapped",
            "clusterwright survey site.yaml --json | tail -1": "for a program",
        },
    )
    parser.add_argument("file", metavar="FILE", help="a description with `provider: onprem`")
    parser.add_argument("nodes", metavar="NODES", nargs="?", help="a node set: gpu-001, gpu-[001-004]")
    add_contact(parser)


def run(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.own.site import own_site
    from clusterwright.operate.own.survey import survey
    from clusterwright.operate.source import Source

    site = own_site(Source(Path(arguments.file)))
    nodes, reached = site.nodes(arguments.nodes), contact(arguments)
    with progress(as_json=arguments.json) as report:
        found = survey(site, nodes, reached, report)
    _show(found, as_json=arguments.json)
    return FINE if found.ok else FAILED


def _show(found: Surveyed, *, as_json: bool) -> None:
    from clusterwright.cli.terminal.findings import show

    if as_json:
        body = {
            "cluster": found.cluster,
            "ok": found.ok,
            "groups": {nodes: asdict(machine) for nodes, machine in found.groups.items()},
            "names": {name: machine.seen["name"] for name, machine in found.machines.items()},
            "findings": [finding.as_json() for finding in found.findings],
        }
        print(json.dumps({"survey": body}))
        return
    for nodes, machine in found.groups.items():
        print(nodes)
        for what, told in (*_there(machine), *_would(machine)):
            print(f"  {what:<12} {told}")
    show(found.findings, as_json=False)


def _there(machine: Machine) -> Iterator[tuple[str, str]]:
    seen = machine.seen
    system, gpus, slurm = seen["system"], seen["gpus"], seen["slurm"]
    boot = {True: ", secure boot", False: "", None: ", secure boot unknown"}[system["secure_boot"]]
    pending = ", a reboot is pending" if system["reboot_pending"] else ""
    yield "system", f"{system['distribution']}, kernel {system['kernel']}{boot}{pending}"
    yield "machine", f"{system['cpus']} processors, {system['memory_mib']} MiB; {', '.join(seen['disks'])}"
    driver = gpus["nvidia_driver"] or gpus["amd_driver"]
    if gpus["cards"] or driver:
        yield "GPUs", f"{gpus['cards']}, driver {driver or 'none'} {' '.join(gpus['cuda'])}".rstrip()
    if slurm["version"] or slurm["daemons"]:
        words = [slurm["version"], slurm["conf"], *slurm["daemons"]]
        yield "Slurm", ", ".join([*filter(None, words), f"{len(slurm['jobs'])} jobs"])
    directory = " ".join(seen["people"]["directory"])
    yield "logins", f"{seen['people']['logins']} of its own{f', and from {directory}' if directory else ''}"
    clock = "in step" if seen["synchronized"] else "not in step"
    yield "time", clock
    for what, rows in (("mounts", seen["mounts"]), ("services", seen["services"]), ("swap", seen["swap"])):
        if rows:
            yield what, ", ".join(rows)
    if seen["firewall"]["rules"] or seen["firewall"]["by"]:
        yield "firewall", f"{seen['firewall']['rules']} rules {' '.join(seen['firewall']['by'])}".rstrip()


def _would(machine: Machine) -> Iterator[tuple[str, str]]:
    if not machine.changes:
        yield "up would", "change nothing"
    for kind, rows in machine.changes.items():
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        yield "up would", f"{len(rows)} {_WORDS[kind]}: {', '.join(rows[:_SHOWN])}{more}"
