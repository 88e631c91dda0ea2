"""GPUs that jobs share, in shards or through NVIDIA's MPS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Pool, Role

_Way = Literal["mps", "shards"]


def _sharing(outline: Outline, way: _Way) -> Iterator[tuple[str, Pool]]:
    return ((name, pool) for name, pool in outline.spec.pools.items() if getattr(pool, way))


def _without_gpus(outline: Outline, way: _Way) -> Iterator[Problem]:
    for name, pool in _sharing(outline, way):
        row = outline.hardware[name]
        if row is not None and not (row.gpus and Role.COMPUTE in pool.roles):
            what = f"jobs find no GPU on the nodes of '{name}'"
            yield Problem(f"pools.{name}.{way}", what, f"Remove '{way}', or take a compute pool with GPUs")


def _in_whole_nodes(outline: Outline, way: _Way) -> Iterator[Problem]:
    for name, pool in _sharing(outline, way):
        for partition in outline.whole_nodes_only(name) if Role.COMPUTE in pool.roles else []:
            what = f"the partition '{partition}' gives whole nodes, and GPUs of '{name}' are to be shared"
            remedy = f"Remove 'exclusive' or '{way}'"
            yield Problem(f"scheduler.partitions.{partition}.exclusive", what, remedy)


@rule(
    "CW1750",
    "Shards without GPUs",
    source="slurm.conf(5) Gres: a shard is a part of a GPU of the same node",
    example="pools: {gpu: {machine: generic-x86-16c, shards: 4}}",
)
def shards_without_gpus(outline: Outline) -> Iterator[Problem]:
    """Slurm would count parts of something that is not there, and start no slurmd."""
    yield from _without_gpus(outline, "shards")


@rule(
    "CW1751",
    "Instances and shards",
    source="slurm.schedmd.com/gres.html: a shard is a part of a GPU, an instance (MIG) a GPU of its own",
    example="pools: {gpu: {mig: {layout: {1g.10gb: 7}}, shards: 4}}",
)
def shards_of_instances(outline: Outline) -> Iterator[Problem]:
    """No source tells that Slurm shares an instance as it does a GPU."""
    for name, pool in _sharing(outline, "shards"):
        if pool.mig:
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
def shards_in_whole_nodes(outline: Outline) -> Iterator[Problem]:
    """A job that has the node shares no GPU of it."""
    yield from _in_whole_nodes(outline, "shards")


@rule(
    "CW1754",
    "MPS without NVIDIA's GPUs",
    source="docs.nvidia.com/deploy/mps: MPS is a part of NVIDIA's driver; slurm.conf(5) Gres",
    example="pools: {gpu: {machine: mi300x-8gpu, mps: 100}}",
)
def mps_without_gpus(outline: Outline) -> Iterator[Problem]:
    """Other GPUs have no MPS, and where there is none Slurm would count parts of nothing."""
    for name, _ in _sharing(outline, "mps"):
        row = outline.hardware[name]
        if row is not None and row.gpus and row.gpu_vendor != "nvidia":
            what = f"the GPUs of '{name}' are not NVIDIA's, and MPS is a part of NVIDIA's driver"
            yield Problem(f"pools.{name}.mps", what, "Take 'shards', which Slurm counts for every GPU")
    yield from _without_gpus(outline, "mps")


@rule(
    "CW1755",
    "MPS and instances",
    source="slurm.schedmd.com/gres.html: a part by MPS is one of a GPU, an instance (MIG) a GPU of its own",
    example="pools: {gpu: {mig: {layout: {1g.10gb: 7}}, mps: 100}}",
)
def mps_of_instances(outline: Outline) -> Iterator[Problem]:
    """No source tells that Slurm shares an instance as it does a GPU."""
    for name, pool in _sharing(outline, "mps"):
        if pool.mig:
            what = f"the GPUs of '{name}' are cut into instances, and jobs would share them by MPS besides"
            remedy = "Take instances, which keep jobs' memory apart, or MPS, which does not"
            yield Problem(f"pools.{name}.mps", what, remedy)


@rule(
    "CW1756",
    "MPS and shards",
    source="slurm.schedmd.com/gres.html: a GPU that has been given out as one kind is not there as another",
    example="pools: {gpu: {shards: 4, mps: 100}}",
)
def mps_and_shards(outline: Outline) -> Iterator[Problem]:
    """Two ways to count the same GPU, and MPS holds nobody to a shard."""
    for name, pool in _sharing(outline, "mps"):
        if pool.shards:
            what = f"jobs would share the GPUs of '{name}' in two ways"
            remedy = "Take 'mps', which holds jobs to their part, or 'shards'"
            yield Problem(f"pools.{name}.mps", what, remedy)


@rule(
    "CW1757",
    "MPS and whole nodes only",
    source="slurm.conf(5) OverSubscribe=EXCLUSIVE: a job has the whole node",
    example="pools: {gpu: {mps: 100}}, scheduler: {partitions: {gpu: {exclusive: true}}}",
    severity=Severity.WARNING,
)
def mps_in_whole_nodes(outline: Outline) -> Iterator[Problem]:
    """A job that has the node shares no GPU of it."""
    yield from _in_whole_nodes(outline, "mps")


@rule(
    "CW1758",
    "MPS on one GPU of several",
    source="slurm.schedmd.com/gres.html: one GPU of a node; seen of slurmctld 22.05 and 24.11",
    example="pools: {gpu: {machine: hgx-h100-8gpu, mps: 100}}",
    severity=Severity.WARNING,
)
def one_of_several(outline: Outline) -> Iterator[Problem]:
    """While jobs share one GPU of a node, a further part waits, though the next GPU is free."""
    for name, pool in _sharing(outline, "mps"):
        row = outline.hardware[name]
        other = Role.COMPUTE not in pool.roles or pool.mig or pool.shards or outline.whole_nodes_only(name)
        if row is not None and row.gpu_vendor == "nvidia" and len(row.gpus) > 1 and not other:
            what = f"nodes of '{name}' have {len(row.gpus)} GPUs, and Slurm shares one at a time by MPS"
            remedy = "Take machines with one GPU, or 'shards'; the others serve jobs that ask for whole ones"
            yield Problem(f"pools.{name}.mps", what, remedy)
