"""Names of the packages that a node's roles need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clusterwright.bundle.facts import stack_of
from clusterwright.bundle.repositories import package_format
from clusterwright.bundle.role import Facts, Role, holds
from clusterwright.catalog.archives import builds
from clusterwright.catalog.distributions import Format, distribution
from clusterwright.handoff import Handoff, Node

# https://slurm.schedmd.com/quickstart_admin.html#debinstall (2026-11)
_SCHEDMD = {
    "slurm-client": "slurm-smd-client",
    "slurmctld": "slurm-smd-slurmctld",
    "slurmd": "slurm-smd-slurmd",
    "slurmdbd": "slurm-smd-slurmdbd",
    "slurmrestd": "slurm-smd-slurmrestd",
    "sackd": "slurm-smd-sackd",
}
_BROUGHT_BY_THE_DRIVER = ("kmod-nvidia*", "libnvidia-*", "nvidia-*")
"""For apt they are pinned: nvidia_driver's preferences."""
_IN_SCHEDMDS_CORE = {"slurm-wlm-mysql-plugin", "slurm-wlm-jwt-plugin"}


def packages_of(handoff: Handoff, node: Node, facts: Facts, roles: Iterable[Role]) -> tuple[str, ...]:
    """Packages of the roles, and of the description; sorted."""
    return tuple(sorted({*packages_of_roles(handoff, node, facts, roles), *handoff.software["packages"]}))


def packages_of_roles(handoff: Handoff, node: Node, facts: Facts, roles: Iterable[Role]) -> set[str]:
    """Packages of the roles' parts, and of the lock (`name=version`)."""
    roles = tuple(roles)
    parts = distribution(handoff.software["distribution"]).parts
    rows = (row for role in roles for row in role.parts if holds(row.get("when", {}), facts))
    names = {package for row in rows for package in parts[row["name"]].packages}
    if handoff.software["slurm_source"] == "repository" and package_format(handoff) == "deb":
        names = {_SCHEDMD.get(name, name) for name in names - _IN_SCHEDMDS_CORE}
    stack = stack_of(handoff, node)
    locked = (
        f"{package}={version}" if version else package
        for role in roles
        for component in role.components_in(stack, facts)
        for package, version in managed(stack[component["name"]]).items()
    )
    return {*names, *locked}


def managed(row: Mapping[str, Any]) -> Mapping[str, str | None]:
    """Packages of a component that a package manager installs: what is built from a source is none."""
    return {} if builds(row["repository"] or "") else row["packages"]


def held_by(installed: Mapping[str, Any], format: Format) -> tuple[str, ...]:
    """Packages of these components of the lock that only a new lock moves; patterns for what they bring."""
    named = {package for row in installed.values() for package in row["hold"]}
    brought = _BROUGHT_BY_THE_DRIVER if format == "rpm" and "driver" in installed else ()
    return tuple(sorted({*named, *brought}))
