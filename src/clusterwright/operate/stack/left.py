"""What is in a cloud in the name of a cluster, and in no stack of it: left behind, and paid for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clusterwright.catalog.machines import catalog
from clusterwright.finding import Finding, Refused, Severity, Where, refuse
from clusterwright.operate.sdk import refuse_without_sdk
from clusterwright.operate.stack.told import members_of
from clusterwright.plan.gcp.names import machine_name
from clusterwright.plan.linked import linked
from clusterwright.spec.cluster import ClusterSpec

if TYPE_CHECKING:
    from clusterwright.providers.engine.kept import Kept
    from clusterwright.providers.leftover import Leftover

_SNAPSHOTS = ("ec2 snapshot", "compute snapshot")
_SCHEDULES = {
    "aws:dlm/lifecyclePolicy:LifecyclePolicy",
    "gcp:compute/diskResourcePolicyAttachment:DiskResourcePolicyAttachment",
}
"""Resources of a stack that make snapshots, and end them."""


def left(spec: ClusterSpec, kept: Kept | None) -> tuple[Leftover, ...]:
    """Raises Refused where the cloud may not be asked. `kept`: what the stack knows, if there is one."""
    site = _site(spec)
    refuse_without_sdk(site.provider, Where(path="site"))
    known = {words for one in kept.resources for words in _names(one.id, one.outputs)} if kept else set()
    known |= set(_members(kept, spec.cluster)) if kept else set()
    wanted = set(_SNAPSHOTS) if kept and {one.type for one in kept.resources} & _SCHEDULES else set()
    return tuple(
        one
        for one in _in_cloud(site, spec.cluster)
        if one.kind not in wanted and not {one.identity, _tail(one.identity)} & known
    )


def _members(kept: Kept, cluster: str) -> Iterator[str]:
    """By number, and on Google Cloud by name as well."""
    for node, machine in members_of(kept).items():
        yield machine
        if "/" in machine:
            yield f"{machine.rpartition('/')[0]}/{machine_name(cluster, node)}"


def as_findings(leftovers: tuple[Leftover, ...], spec: ClusterSpec) -> tuple[Finding, ...]:
    """Warnings, with the price where one is known."""
    site = _site(spec)
    return tuple(_finding(one, str(site.region)) for one in leftovers)


def _site(spec: ClusterSpec) -> Any:
    """The one that a stack makes machines of."""
    part = linked(spec)
    return part.site if part else spec.site or next(iter(spec.sites.values()))


def usd_per_hour(leftover: Leftover, region: str) -> float | None:
    """By list prices; None for what has no price here."""
    price = catalog().price(leftover.machine, region, "on-demand") if leftover.machine else None
    return price.usd_per_hour if price else None


def _in_cloud(site: Any, cluster: str) -> tuple[Leftover, ...]:
    from clusterwright.providers.asking import NoAnswer

    try:
        if site.provider == "aws":
            from clusterwright.providers.aws.tagged import tagged

            return tagged(site.region, cluster)
        from clusterwright.providers.gcp.labelled import labelled
        from clusterwright.providers.gcp.live.project import Project

        return labelled(Project(site.project), cluster)
    except NoAnswer as error:
        remedy = f"Let these credentials do {error.why.permission}, then run the same command again"
        raise refuse("CW8092", Where(path=error.why.permission), error.why.words, remedy) from error


def _names(identity: str, outputs: Any) -> Iterator[str]:
    """All that a resource of the stack is called by its cloud."""
    yield identity
    for key in ("arn", "selfLink", "name"):
        if isinstance(text := outputs.get(key), str) and (key != "name" or text == identity):
            yield "projects/" + text.partition("/projects/")[2] if key == "selfLink" else text


def _tail(identity: str) -> str:
    """The ID that ends an ARN; a path of Google's is known as a whole."""
    return re.split(r"[/:]", identity)[-1] if identity.startswith("arn:") else identity


def _finding(one: Leftover, region: str) -> Finding:
    price = usd_per_hour(one, region)
    cost = f" and costs about ${price:,.2f} an hour" if price else ""
    what = f"this {one.kind} says that it is of the cluster, and is in no stack of it{cost}"
    remedy = "Delete it in the cloud where nobody wants it; a volume or file system may hold what people keep"
    return Finding("CW8091", Where(path=one.identity), what, remedy, Severity.WARNING)


def looked(spec: ClusterSpec, kept: Kept | None) -> tuple[Finding, ...]:
    """As warnings, also where nobody may look."""
    try:
        return as_findings(left(spec, kept), spec)
    except Refused as refusal:
        return tuple(map(_not_looked, refusal.findings))


def _not_looked(one: Finding) -> Finding:
    what = f"what was left behind is not known: {one.what}"
    return Finding(one.code, one.where, what, one.remedy, Severity.WARNING)
