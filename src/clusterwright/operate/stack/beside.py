"""The machines that a stack makes beside own ones: named, and let in as those are, over the link."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity
from clusterwright.handoff import Node
from clusterwright.operate.home import ClusterHome, known_clusters, write_atomically
from clusterwright.operate.own.contact import Contact, silent
from clusterwright.operate.stack.folder import StackFolder
from clusterwright.plan.linked import Linked, linked
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import load
from clusterwright.spec.nodeset import fold

if TYPE_CHECKING:
    from clusterwright.operate.own.site import OwnSite
    from clusterwright.operate.source import Source

SSH_PORT = 22
BOOT_SECONDS = 1200.0
"""Instances with eight GPUs take ten minutes and more until they answer."""
_LOOK_AGAIN_SECONDS = 5.0


def stack_name(spec: ClusterSpec) -> str:
    """The cluster's, where the stack makes all of it; else with the site whose machines it makes."""
    part = linked(spec)
    return f"{spec.cluster}-{part.name}" if part else spec.cluster


def stacks_of(home: ClusterHome) -> list[str]:
    """Names of stacks that hold machines beside those of a cluster of own machines."""
    near = (ClusterHome.of(name) for name in known_clusters() if name.startswith(f"{home.name}-"))
    return [one.name for one in near if StackFolder(one).exists() and _cluster_of(one) == home.name]


def _cluster_of(stack: ClusterHome) -> str:
    try:
        return load(stack.description_file).spec.cluster
    except Refused:
        return ""


def let_in(source: Source, part: Linked, machines: Mapping[str, str], report: Report) -> tuple[Finding, ...]:
    """Bootstrap those that are new. `machines`: node → instance. Returns what stands in the way."""
    from clusterwright.operate.own.bootstrap import How, bootstrap
    from clusterwright.operate.own.site import held

    with held(source) as site:
        made = [node for node in site.handoff.nodes if node.site == part.name]
        ours = site.opened(site.answering(made, SSH_PORT), SSH_PORT)
        new = [node for node in made if node.name not in ours]
        if not new:
            return ()
        if late := _wait(site, new, report):
            return tuple(silent(node, SSH_PORT) for node in late)
        vouch(site.home, new, _shown(part, {node.name: machines[node.name] for node in new}))
        ended = bootstrap(site, new, Contact(), How(), report)
    return tuple(one for one in ended.findings if one.severity is Severity.ERROR)


def _wait(site: OwnSite, nodes: Sequence[Node], report: Report) -> list[Node]:
    """Those that do not answer in time."""
    names = fold(node.name for node in nodes)
    report(Event("boot", "started", f"the machines of the cloud boot: {names}"))
    until = time.monotonic() + BOOT_SECONDS
    silent_ones = list(nodes)
    while silent_ones and time.monotonic() < until:
        there = site.answering(silent_ones, SSH_PORT)
        for name in sorted(there):
            report(Event("boot", "ok", "answers over SSH", name))
        silent_ones = [node for node in silent_ones if node.name not in there]
        if silent_ones:
            time.sleep(_LOOK_AGAIN_SECONDS)
    return silent_ones


def _shown(part: Linked, machines: Mapping[str, str]) -> Mapping[str, str]:
    """Host keys by node, as the cloud saw them on consoles. Raises Refused where these may not be read."""
    from clusterwright.providers.aws.console import Consoles, keys_of

    return keys_of(Consoles(part.site.region), machines)


def vouch(home: ClusterHome, nodes: Sequence[Node], keys: Mapping[str, str]) -> None:
    """In the file of first contacts, in place of what another machine of the same address showed."""
    file = home.root / "first_contact"
    known = file.read_text().splitlines() if file.exists() else []
    shown = {node.address: keys[node.name] for node in nodes if node.name in keys}
    kept = [line for line in known if line.partition(" ")[0] not in shown]
    lines = [*kept, *(f"{address} {key}" for address, key in sorted(shown.items()))]
    write_atomically(file, "".join(f"{line}\n" for line in lines), 0o600)
