"""Which machines are meant, and whether each of them can be started from its network at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Node
from clusterwright.operate.bmc.site import Bmcs
from clusterwright.operate.own.contact import Contact
from clusterwright.operate.own.site import OwnSite
from clusterwright.spec.load import LoadedSpec
from clusterwright.spec.nodeset import fold
from clusterwright.spec.pool import BUILT


def chosen(
    loaded: LoadedSpec, site: OwnSite, bmcs: Bmcs, text: str | None, contact: Contact
) -> tuple[Node, ...]:
    """A node set, or all that have an image. Raises Refused with everything that one of them lacks."""
    named = site.nodes(text)
    nodes = named if text else tuple(node for node in named if site.image(node))
    imaged = [node for node in nodes if site.image(node)]
    findings = [*_without_image(loaded, site, nodes), *_unknown_keys(site, imaged, contact)]
    if imaged:
        findings += bmcs.of(fold(node.name for node in imaged))[1]
    if findings:
        raise Refused(sorted(findings, key=lambda one: one.where))
    return nodes


def _without_image(loaded: LoadedSpec, site: OwnSite, nodes: Sequence[Node]) -> Iterator[Finding]:
    remedy = "Write `image: built` or the name of an image of yours into the pool: docs/netboot.md"
    if not nodes:
        what = "no pool has an image, so no machine boots over its network"
        yield Finding("CW8300", loaded.where("pools"), what, remedy)
    pools: dict[str, list[str]] = {}
    for node in nodes:
        if not site.image(node):
            pools.setdefault(node.pool, []).append(node.name)
    for pool, names in pools.items():
        verb = "starts from its disk" if len(names) == 1 else "start from their disks"
        yield Finding("CW8300", loaded.where(f"pools.{pool}"), f"{fold(names)} {verb}", remedy)


def _unknown_keys(site: OwnSite, nodes: Sequence[Node], contact: Contact) -> Iterator[Finding]:
    """Of an image of one's own, host keys may be known; the built one has none."""
    ours = [node.name for node in nodes if site.image(node).partition(":")[0] == BUILT]
    if ours and not contact.accept_new:
        what = f"{fold(ours)} will show host keys that are made when the image starts"
        remedy = "Add --accept-new, in a network that you trust: docs/netboot.md"
        yield Finding("CW8304", Where(path="--accept-new"), what, remedy)
