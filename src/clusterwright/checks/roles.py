"""Roles: what every cluster needs, and what one node can bear."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role

SHARED_CONTROLLER = 64
"""Compute nodes up to which users may log in on the controller."""
LARGE = 256
"""Compute nodes from which the accounting database wants its 4 GiB buffer pool."""
LARGE_MEMORY_MIB = 8192


def _compute_nodes(outline: Outline) -> int:
    return sum(outline.count(name) for name, _ in outline.pools_with(Role.COMPUTE))


@rule(
    "CW1231",
    "No controller",
    source="Slurm: slurmctld runs on one node",
    example="pools: {gpu: {roles: compute}}",
)
def no_controller(outline: Outline) -> Iterator[Problem]:
    """Something has to run slurmctld. One node may have several roles: a single box is a cluster too."""
    if not any(outline.pools_with(Role.CONTROLLER)):
        remedy = "Give a pool the role `controller`"
        yield Problem("pools", "no pool has the role `controller`", remedy)


@rule(
    "CW1233",
    "No compute nodes",
    source="jobs run on nodes with slurmd",
    example="pools: {controller: {roles: [controller, login]}}",
)
def no_compute(outline: Outline) -> Iterator[Problem]:
    """A cluster without compute nodes runs no job."""
    if not any(outline.pools_with(Role.COMPUTE)):
        yield Problem("pools", "no pool has the role `compute`", "Give a pool the role `compute`")


@rule(
    "CW1234",
    "No login node",
    source="users need a node from which they submit jobs",
    example="pools: {controller: {roles: controller}, gpu: {roles: compute}}",
    severity=Severity.WARNING,
)
def no_login(outline: Outline) -> Iterator[Problem]:
    """Without a login node only the administrator can submit jobs, from the controller."""
    if not any(outline.pools_with(Role.LOGIN)):
        remedy = "Add a pool with the role `login`, or give the controller that role too"
        yield Problem("pools", "no pool has the role `login`", remedy)


@rule(
    "CW1235",
    "Users log in on the controller of a large cluster",
    source=f"a choice of this project: above {SHARED_CONTROLLER} compute nodes the controller stands alone",
    example="pools: {head: {roles: [controller, login]}, gpu: {count: 100}}",
    severity=Severity.WARNING,
)
def login_on_controller(outline: Outline) -> Iterator[Problem]:
    """One user's compilation on the controller delays the scheduling of everybody's jobs."""
    nodes = _compute_nodes(outline)
    for name, pool in outline.pools_with(Role.CONTROLLER):
        if Role.LOGIN in pool.roles and nodes > SHARED_CONTROLLER:
            what = f"users log in on the controller of {nodes} compute nodes"
            yield Problem(f"pools.{name}.roles", what, "Give logins a pool of their own")


@rule(
    "CW1236",
    "Little memory for the accounting database",
    source="slurm.schedmd.com/accounting.html: innodb_buffer_pool_size of 4 GiB, at most half of the memory",
    example="pools: {controller: {machine: lab-small}, gpu: {count: 1000}}",
    severity=Severity.WARNING,
)
def controller_memory(outline: Outline) -> Iterator[Problem]:
    """slurmctld, slurmdbd and MariaDB share the controller; a large cluster's job table has to fit."""
    nodes = _compute_nodes(outline)
    for name, _ in outline.pools_with(Role.CONTROLLER):
        row = outline.hardware[name]
        small = row is not None and row.memory_mib < LARGE_MEMORY_MIB
        if row is not None and small and outline.spec.scheduler.accounting and nodes >= LARGE:
            what = f"'{row.machine}' has {row.memory_mib} MiB for the accounting of {nodes} compute nodes"
            yield Problem(f"pools.{name}.machine", what, f"Take one with {LARGE_MEMORY_MIB} MiB or more")


@rule(
    "CW1237",
    "Several storage nodes",
    source="shares are served by one node; file systems over several servers are not built yet",
    example="pools: {files: {roles: storage, count: 2}}",
)
def several_storage_nodes(outline: Outline) -> Iterator[Problem]:
    """A share comes from the storage node, so there can be only one."""
    total = sum(outline.count(name) for name, _ in outline.pools_with(Role.STORAGE))
    for name, _ in list(outline.pools_with(Role.STORAGE))[-1:]:
        if total > 1:
            what = f"{total} nodes have the role `storage`, and one serves all shares"
            yield Problem(f"pools.{name}", what, "Keep one storage node")


@rule(
    "CW1238",
    "Features of nodes that run no jobs",
    source="slurm.conf(5): Features belong to nodes that slurmctld schedules",
    example="pools: {login: {roles: login, features: [fast]}}",
    severity=Severity.WARNING,
)
def features_without_jobs(outline: Outline) -> Iterator[Problem]:
    """`--constraint` looks at compute nodes only; the feature would have no effect."""
    for name, pool in outline.spec.pools.items():
        if pool.features and Role.COMPUTE not in pool.roles:
            what = f"the pool '{name}' has features but no compute nodes"
            yield Problem(f"pools.{name}.features", what, "Remove them, or add the role compute")
