"""GPUs that jobs share."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role


@rule(
    "CW1750",
    "Shards without GPUs",
    source="slurm.conf(5) Gres: a shard is a part of a GPU of the same node",
    example="pools: {gpu: {machine: generic-x86-16c, shards: 4}}",
)
def shards_without_gpus(outline: Outline) -> Iterator[Problem]:
    """Slurm would count parts of something that is not there, and start no slurmd."""
    for name, pool in outline.spec.pools.items():
        row = outline.hardware[name]
        if pool.shards and row is not None and not (row.gpus and Role.COMPUTE in pool.roles):
            what = f"jobs find no GPU on the nodes of '{name}'"
            yield Problem(f"pools.{name}.shards", what, "Remove 'shards', or take a compute pool with GPUs")


@rule(
    "CW1751",
    "Instances and shards",
    source="slurm.schedmd.com/gres.html: a shard is a part of a GPU, an instance (MIG) a GPU of its own",
    example="pools: {gpu: {mig: {layout: {1g.10gb: 7}}, shards: 4}}",
)
def shards_of_instances(outline: Outline) -> Iterator[Problem]:
    """No source tells that Slurm shares an instance as it does a GPU."""
    for name, pool in outline.spec.pools.items():
        if pool.shards and pool.mig:
            what = f"the GPUs of '{name}' are cut into instances, and jobs would share them besides"
            remedy = "Take instances, which keep jobs apart, or shards, which do not"
            yield Problem(f"pools.{name}.shards", what, remedy)


@rule(
    "CW1752",
    "Shards and whole nodes only",
    source="slurm.conf(5) OverSubscribe=EXCLUSIVE: a job has the whole node",
    example="pools: {gpu: {shards: 4}}, scheduler: {partitions: {gpu: {exclusive: true}}}",
    severity=Severity.WARNING,
)
def whole_nodes_only(outline: Outline) -> Iterator[Problem]:
    """A job that has the node shares no GPU of it."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        for partition in outline.whole_nodes_only(name) if pool.shards else []:
            what = f"the partition '{partition}' gives whole nodes, and GPUs of '{name}' are to be shared"
            yield Problem(
                f"scheduler.partitions.{partition}.exclusive", what, "Remove 'exclusive' or 'shards'"
            )
