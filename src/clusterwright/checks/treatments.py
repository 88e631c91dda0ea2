"""Ansible roles that a site keeps itself."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.treatment import AnsibleRole

_DRIVER: AnsibleRole = "nvidia_driver"


@rule(
    "CW1686",
    "Nodes that converge themselves observe nothing",
    source="clusterwright: what is observed is told by the command that looked",
    example="converge: pull, pools: {gpu: {ansible_roles: {nvidia_driver: observe}}}",
)
def observed_by_nobody(outline: Outline) -> Iterator[Problem]:
    """With `converge: pull` no command looks at a node: what differs there would be told to nobody."""
    if outline.spec.converge != "pull":
        return
    for name, pool in outline.spec.pools.items():
        for role in (role for role, how in pool.ansible_roles.items() if how == "observe"):
            what = f"'{role}' is to be observed on nodes that converge themselves"
            yield Problem(f"pools.{name}.ansible_roles.{role}", what, "Write `skip`, or `converge: push`")


@rule(
    "CW1687",
    "A driver that the site keeps, and no word of which",
    source="NVIDIA CUDA compatibility guide: each CUDA has a lowest driver; fabric managers equal theirs",
    example="pools: {gpu: {ansible_roles: {nvidia_driver: skip}}}",
    severity=Severity.WARNING,
)
def driver_unsaid(outline: Outline) -> Iterator[Problem]:
    """CUDA, Fabric Manager and kernel modules are chosen for the driver of the lock, which must be yours."""
    for name, pool in outline.spec.pools.items():
        hardware = outline.hardware[name]
        has_nvidia = hardware is not None and hardware.gpu_vendor == "nvidia"
        kept = pool.ansible_roles.get(_DRIVER, "manage") != "manage"
        if kept and has_nvidia and "driver" not in {**outline.spec.software.versions, **pool.versions}:
            what = "the rest of the software is chosen for a driver that nobody is told to have"
            remedy = "Say which one is there, for instance `versions: {driver: 580.95.05}`"
            yield Problem(f"pools.{name}.ansible_roles.{_DRIVER}", what, remedy)
