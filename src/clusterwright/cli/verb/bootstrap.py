"""`clusterwright bootstrap`: first contact with own machines."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.contact import add_batches, add_contact, batches, contact
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.operate.own.bootstrap import Bootstrapped

_ABOUT = """Let clusterwright into own machines that have an operating system and SSH.

Machines are reached as they are: by password, by key, as root or through sudo. Each gets what Ansible
needs (Python, sudo, a time service), its name, a login `clusterwright-admin` with this cluster's key, and a
host certificate of this cluster's authority, so that nobody trusts a machine at first sight afterwards.
Then `up` brings it to the description. Run again, it changes nothing; killed anywhere, it goes on."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "bootstrap",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright bootstrap site.yaml --user ops --ask-password --accept-new": "",
            "clusterwright bootstrap site.yaml --user ops --identity ~/.ssh/id_ed25519": "by key, with sudo",
            "clusterwright bootstrap site.yaml 'gpu-[001-004]' --check": "what it would do there",
            "clusterwright bootstrap site.yaml --password-file /dev/fd/3 3< <(pass show site)": "",
            "clusterwright bootstrap site.yaml --serial 10% --max-fail-percentage 5": "",
        },
    )
    parser.add_argument("file", metavar="FILE", help="a description with `provider: onprem`")
    parser.add_argument("nodes", metavar="NODES", nargs="?", help="a node set: gpu-001, gpu-[001-004]")
    add_contact(parser)
    parser.add_argument("--check", action="store_true", help="change nothing; tell what would be changed")
    parser.add_argument(
        "--passwords-off", action="store_true", help="afterwards nobody logs in there with a password"
    )
    add_batches(parser)


def run(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.netboot.heard import explained
    from clusterwright.operate.own.bootstrap import How, bootstrap
    from clusterwright.operate.own.site import held
    from clusterwright.operate.source import Source

    how = How(arguments.check, arguments.passwords_off, batches(arguments))
    with held(Source(Path(arguments.file))) as site:
        nodes, reached = site.nodes(arguments.nodes), contact(arguments)
        with progress(as_json=arguments.json) as report:
            ended = bootstrap(site, nodes, reached, how, report)
        ended = replace(ended, findings=explained(site, ended.findings))
    _show(ended, how.check, as_json=arguments.json)
    return FINE if ended.ok else FAILED


def _show(ended: Bootstrapped, check: bool, *, as_json: bool) -> None:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.outcome import batches_as_json
    from clusterwright.cli.terminal.style import paint
    from clusterwright.spec.nodeset import fold

    if as_json:
        print(batches_as_json(ended))
        return
    show(ended.findings, as_json=False)
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, result in ended.nodes.items():
        if result.drift:
            alike.setdefault(result.drift, []).append(name)
    for changes, names in alike.items():
        print(f"{paint(fold(names), 'bold', sys.stdout)}: {', '.join(changes)}")
    good = [name for name, result in ended.nodes.items() if result.status in ("ok", "changed")]
    words = "would be" if check else "are"
    verdict = paint(f"{len(good)} of {len(ended.nodes) + len(ended.untouched)}", "bold", sys.stdout)
    print(f"{ended.cluster}: {verdict} machines {words} bootstrapped")
    if ended.ok and not check:
        print(f"  {'go on':<8} clusterwright up FILE")
