"""Pools that a cloud keeps as one group, and those that should be."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.images import root_device
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.images import is_built
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Pool, Role
from clusterwright.spec.site import AwsSite, GcpSite, Site

LARGE = 768
"""Resources of a pool that are too many: measured, docs/pulumi.md, Large pools."""
_EACH = {"aws": 3, "gcp": 1}
"""Resources of a node."""


def _groups(outline: Outline) -> Iterator[tuple[str, Pool, Site | None]]:
    for name, pool in outline.spec.pools.items():
        if pool.group:
            yield name, pool, outline.sites.get(outline.site_names[name] or "")


@rule(
    "CW1553",
    "A large pool with resources for each node",
    source="clusterwright: measured on Pulumi's engine, docs/pulumi.md, Large pools",
    example="site: {provider: aws, …}, pools: {gpu: {count: 400}}",
    severity=Severity.WARNING,
)
def large_without_group(outline: Outline) -> Iterator[Problem]:
    """Each node is three resources on AWS and one on Google Cloud, and the state is written for each."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        site = outline.sites.get(outline.site_names[name] or "")
        nodes = outline.count(name)
        resources = nodes * _EACH.get(site.provider, 0) if site else 0
        if not pool.group and resources > LARGE:
            what = f"{nodes} nodes are {resources} resources, of which each step writes the whole state"
            remedy = "Write `group: true` before its machines are made; to change it later makes them anew"
            yield Problem(f"pools.{name}", what, remedy)


@rule(
    "CW1554",
    "A group where no cloud keeps one",
    source="clusterwright: groups are Auto Scaling groups of AWS and managed instance groups of Google Cloud",
    example="site: {provider: onprem, …}, pools: {gpu: {group: true}}",
)
def group_elsewhere(outline: Outline) -> Iterator[Problem]:
    """Machines of one's own and nodes of a lab are each what they are."""
    for name, _, site in _groups(outline):
        if site is not None and site.provider not in _EACH:
            what = f"'{site.provider}' has no groups here"
            yield Problem(f"pools.{name}.group", what, "Remove `group`: each node is a machine of its own")


@rule(
    "CW1555",
    "A group of nodes that others need by name",
    source="clusterwright: what a controller keeps is on a volume of one machine",
    example="pools: {head: {roles: [controller, login], group: true}}",
)
def group_of_servers(outline: Outline) -> Iterator[Problem]:
    """A member's machine is any of its group: it keeps nothing, and others find it once it has come."""
    for name, pool, _ in _groups(outline):
        if others := [role.value for role in pool.roles if role is not Role.COMPUTE]:
            what = f"members of a group cannot be {' or '.join(others)}"
            yield Problem(f"pools.{name}.group", what, "Give these roles to a pool of its own")


@rule(
    "CW1556",
    "A group that nobody tells its names",
    source="clusterwright: members get their name from the store that they pull from",
    example="converge: push, pools: {gpu: {group: true}}",
)
def group_and_push(outline: Outline) -> Iterator[Problem]:
    """A machine of a group is nobody until it asks for its name."""
    if outline.spec.converge != "pull":
        for name, _, _ in _groups(outline):
            what = "machines of a group ask for their names, and these are pushed to"
            yield Problem(f"pools.{name}.group", what, "Write `converge: pull`, or remove `group`")


@rule(
    "CW1558",
    "The root disk of a group's image is not known",
    source="Amazon EC2: a launch template names the root device, which differs by image",
    example="pools: {gpu: {group: true, image: ami-0123456789abcdef0}}",
)
def group_of_unknown_image(outline: Outline) -> Iterator[Problem]:
    """Its disks would have the image's size, and would not be encrypted."""
    distribution = outline.spec.software.distribution
    for name, pool, site in _groups(outline):
        own = pool.image is not None and not is_built(pool)
        if isinstance(site, AwsSite) and (own or root_device(distribution) is None):
            what = f"which disk {pool.image if own else distribution} boots from is not known"
            remedy = "Take ubuntu-24.04 and its own or a built image, or remove `group`"
            yield Problem(f"pools.{name}.group", what, remedy)


@rule(
    "CW1690",
    "A group of machines that wait for room",
    source="Compute Engine documentation, resize requests: Flex-start machines of a managed instance group",
    example="site: {provider: gcp, …}, pools: {gpu: {group: true, capacity: {model: flex-start, …}}}",
)
def group_that_waits(outline: Outline) -> Iterator[Problem]:
    """In a group they are asked for by a request of their own, which gives them no address of the plan."""
    for name, pool, site in _groups(outline):
        if isinstance(site, GcpSite) and pool.capacity and pool.capacity.model == "flex-start":
            what = "a group takes Flex-start machines without the addresses that are planned for them"
            yield Problem(f"pools.{name}.group", what, "Remove `group`: each machine then waits by itself")
