"""Machines that were started are waited for; of one that does not come, how far it came."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Where
from clusterwright.handoff import Node
from clusterwright.operate.netboot.heard import cause, listened
from clusterwright.operate.own.site import OwnSite
from clusterwright.render.boot import server

_LOOK_SECONDS = 1.0
_LISTEN_SECONDS = 15.0
_FROM_ITS_DISK = "CW8257"


def answered(
    site: OwnSite, nodes: Sequence[Node], port: int, seconds: float, report: Report
) -> Collection[str]:
    """Those on which an SSH server answers in time."""
    begun, there = time.monotonic(), set[str]()
    waiting, deadline, listen = {node.name: node for node in nodes}, begun + seconds, begun + _LISTEN_SECONDS
    report(Event("wait", "started", f"{len(nodes)} machines boot: {seconds / 60:.0f} minutes at most"))
    while waiting:
        for name in site.answering([*waiting.values()], port):
            report(Event("wait", "ok", "answers", name))
            there.add(name)
            del waiting[name]
        if time.monotonic() >= listen:
            for name in _refusing(site, waiting, time.monotonic() - begun):
                report(Event("wait", "failed", "leaves its disk as it is", name))
                del waiting[name]
            listen = time.monotonic() + _LISTEN_SECONDS
        if not waiting or time.monotonic() >= deadline:
            break
        time.sleep(_LOOK_SECONDS)
    return there


def _refusing(site: OwnSite, nodes: Mapping[str, Node], seconds: float) -> list[str]:
    """Those that have a disk and said meanwhile that they do not write it."""
    with_disk = [name for name, node in nodes.items() if site.disk(node)]
    heard = listened(site, with_disk, seconds) if with_disk else {}
    return [machine.name for machine, said in heard.items() if said.refused]


def late(site: OwnSite, nodes: Sequence[Node], seconds: float) -> Iterator[Finding]:
    """The step at which each stopped, where the controller heard of it."""
    known = _causes(site, nodes)
    remedy = "Look at its console: `clusterwright bmc console FILE {}`"
    for node in nodes:
        what = f"no SSH server answers at {node.address} {seconds / 60:.0f} minutes after it was started"
        yield known.get(node.name) or Finding("CW8303", Where(path=node.name), what, remedy.format(node.name))


def astray(site: OwnSite, nodes: Sequence[Node]) -> list[Finding]:
    """Those that answer, and came from their disks."""
    return [finding for finding in _causes(site, nodes).values() if finding.code == _FROM_ITS_DISK]


def _causes(site: OwnSite, nodes: Sequence[Node]) -> dict[str, Finding]:
    controller = server(site.handoff)
    if controller is None or not nodes:
        return {}
    heard = listened(site, {node.name for node in nodes})
    return {machine.name: cause(machine, said, controller.name) for machine, said in heard.items()}
