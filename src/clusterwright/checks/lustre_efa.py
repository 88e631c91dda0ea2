"""FSx for Lustre over EFA: machines that can, and how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterwright.catalog.lustre import efa_interfaces
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.aws_storage import FsxLustre

CONNECTIONS = 1024
"""The most interfaces of all clients of a file system: FSx for Lustre User Guide, Configuring EFA clients."""


def _shares(outline: Outline) -> Iterator[str]:
    for mount, share in outline.spec.storage.shares.items():
        if isinstance(share, FsxLustre) and share.efa and share.deployment == "persistent-2":
            yield f"storage.shares.{mount}.efa"


def _clients(outline: Outline) -> Mapping[str, int]:
    """Pool → interfaces that its nodes have to Lustre over EFA, all together."""
    return {
        name: outline.count(name) * efa_interfaces()[kind.name]
        for name, kind in outline.types.items()
        if kind is not None and kind.name in efa_interfaces() and "compute" in outline.spec.pools[name].roles
    }


@rule(
    "CW1277",
    "More EFA connections than a file system takes",
    source="FSx for Lustre User Guide, Configuring EFA clients: 1024 EFA connections across all clients",
    example="pools: {gpu: {machine: p5.48xlarge, count: 129}}, …: {kind: fsx-lustre, efa: true, …}",
)
def too_many_connections(outline: Outline) -> Iterator[Problem]:
    """Each interface of each client is one; those above the limit do not connect, and their nodes fail."""
    clients = _clients(outline)
    if sum(clients.values()) > CONNECTIONS:
        told = ", ".join(f"{count} of pool '{name}'" for name, count in clients.items())
        for field in _shares(outline):
            what = f"{told}, and a file system takes {CONNECTIONS} EFA connections"
            yield Problem(
                field, what, "Divide the nodes among clusters, or leave `efa` out: TCP has no such limit"
            )


@rule(
    "CW1278",
    "EFA that no machine uses",
    source="FSx for Lustre User Guide, Configuring EFA clients: Nitro v4 or higher",
    example="pools: {gpu: {machine: p4d.24xlarge}}, …: {kind: fsx-lustre, efa: true, …}",
    severity=Severity.WARNING,
)
def nobody_uses_it(outline: Outline) -> Iterator[Problem]:
    """All nodes would go over TCP, and the file system could only be larger in steps of many TiB."""
    if not _clients(outline):
        for field in _shares(outline):
            what = "no machine type of the compute nodes reaches Lustre over EFA"
            yield Problem(field, what, "Leave `efa` out, or take p5 or newer, or g6 of 8xlarge or larger")
