"""`clusterwright provision`: own machines from off to certified."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.contact import add_batches, add_contact, batches, contact
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.operate.provision.intent import Intent
    from clusterwright.operate.provision.orders import Write
    from clusterwright.operate.provision.result import Provisioned

_ABOUT = """Start own machines over their network, wait for them, and let clusterwright in.

For machines that boot an image from their controller, which `up` brought there. Each is told through its BMC
to boot from its network once and is switched on, no more at a time than PDUs and feeds may; when its SSH
server answers, it is bootstrapped. One that does not come has a finding with the step where it stopped.
A machine that answers and is certified is left alone. One that is on and is not is shut down first, after a
question, and never from under running jobs. Run again after it was killed, it switches none twice.
Then `up` brings them to the description."""

_MEANS = {
    "nothing": "nothing: it is ready",
    "bootstrap": "bootstrap it: it was started before",
    "start": "start it from its network, bootstrap it",
    "restart": "shut it down, start it from its network, bootstrap it",
}


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "provision",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright provision site.yaml --accept-new": "every machine that has an image",
            "clusterwright provision site.yaml 'work[1-4]' --accept-new --check": "what it would do",
            "clusterwright provision site.yaml --accept-new --yes --json": "in a pipeline",
            "clusterwright provision site.yaml --accept-new --serial 16 --timeout '10 min'": "",
        },
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="a description with `provider: onprem` and `boot` of its site")
    add("nodes", metavar="NODES", nargs="?", help="a node set: work1, work[1-4] (default: all with an image)")
    add("--check", action="store_true", help="switch nothing; tell what would be done")
    add("--yes", action="store_true", help="do not ask before machines that are on are shut down")
    add("--timeout", metavar="TIME", default="30 min", help="how long a boot may take (default 30 min)")
    add("--wait", metavar="TIME", default="5 min", help="how long a shutdown may take (default 5 min)")
    add("--force", action="store_true", help="pull the plug of what does not shut down")
    add("--disturb", action="store_true", help="go on although running jobs will be lost")
    over = parser.add_mutually_exclusive_group()
    over.add_argument("--rewrite", action="store_true", help="write disks anew that have an image already")
    over.add_argument(
        "--erase", action="store_true", help="write over whatever is on disks of these machines"
    )
    add_batches(parser)
    add_contact(parser)


def run(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from clusterwright.cli.terminal.progress import progress
    from clusterwright.cli.terminal.question import agreed
    from clusterwright.operate.bmc.site import bmcs
    from clusterwright.operate.own.site import held
    from clusterwright.operate.prepare import described
    from clusterwright.operate.provision.chosen import chosen
    from clusterwright.operate.provision.run import How, Provision
    from clusterwright.operate.source import Source
    from clusterwright.spec.nodeset import fold

    source, as_json = Source(Path(arguments.file)), arguments.json
    timeout, wait = _seconds("--timeout", arguments.timeout), _seconds("--wait", arguments.wait)
    write: Write = "erase" if arguments.erase else "rewrite" if arguments.rewrite else ""
    how = How(timeout, wait, arguments.force, arguments.disturb, write, batches(arguments))
    with held(source) as site:
        known, reached = bmcs(source), contact(arguments)
        nodes = chosen(described(source).loaded, site, known, arguments.nodes, reached)
        work = Provision(site, known, reached, how)
        found = work.look(nodes)
        if arguments.check:
            _show_intent(found, as_json=as_json)
            return FINE if found.ok else FAILED
        on = fold(node.name for node in found.of("restart"))
        state = "on, and all on their disks will be lost" if write else "on, and not let in"
        question = f"{on}: {state}. Shut down and start from the network?"
        if on and not agreed(question, yes=arguments.yes, as_json=as_json):
            print("nothing was done")
            return FAILED
        with progress(as_json=as_json) as report:
            ended = work.run(found, report)
    _show(ended, as_json=as_json)
    return FINE if ended.ok else FAILED


def _seconds(option: str, text: str) -> int:
    from clusterwright.finding import Where, refuse
    from clusterwright.spec.quantity import seconds

    found = seconds(text)
    if found is None:
        raise refuse("CW9011", Where(path=option), f"'{text}' is no time", f"Write it as {option} '2 min'")
    return found


def _show_intent(found: Intent, *, as_json: bool) -> None:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.table import print_table

    if as_json:
        told = [finding.as_json() for finding in found.findings]
        body = {"ok": found.ok, "steps": found.steps, "power": found.power, "findings": told}
        print(json.dumps({"check": body}))
        return
    names = [node.name for node in found.nodes if node.name in found.steps]
    if names:
        rows = [(name, found.power.get(name, "on"), _MEANS[found.steps[name]]) for name in names]
        print_table(("NODE", "POWER", "WOULD"), rows)
    show(found.findings, as_json=False)


def _show(ended: Provisioned, *, as_json: bool) -> None:
    import sys

    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.outcome import batches_as_json
    from clusterwright.cli.terminal.style import paint

    if as_json:
        print(batches_as_json(ended))
        return
    show(ended.findings, as_json=False)
    ready = [one for one in ended.nodes.values() if one.status != "failed"]
    verdict = paint(f"{len(ready)} of {len(ended.nodes)}", "bold", sys.stdout)
    print(f"{ended.cluster}: {verdict} machines are ready")
    if ended.ok:
        print(f"  {'go on':<8} clusterwright up FILE")
