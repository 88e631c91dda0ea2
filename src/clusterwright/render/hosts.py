"""/etc/hosts, whole: names resolve on every node without a name server."""

from __future__ import annotations

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile
from clusterwright.render.templates import fill

EVERY_ROLE = ("compute", "controller", "login", "storage")


def files(handoff: Handoff) -> tuple[NodeFile, ...]:
    suffix = f"{handoff.name}.{handoff.cluster['domain']}"
    planned = (node for node in handoff.nodes if node.address)
    nodes = sorted(planned, key=lambda node: node.name)
    content = fill("node/hosts.j2", cluster=handoff.name, suffix=suffix, nodes=nodes)
    return (NodeFile("/etc/hosts", content, EVERY_ROLE),)
