"""Machine types, and what they are used for."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role


@rule(
    "CW1221",
    "An unknown machine type",
    source="the catalog of machine types",
    example="pools: {gpu: {machine: p5.48xlarg}}",
)
def unknown_machine(outline: Outline) -> Iterator[Problem]:
    """CPUs, memory, GPUs and network cards of a node come from its machine type's row in the catalog."""
    for name, pool in outline.spec.pools.items():
        if outline.hardware[name] is None:
            known = outline.catalog.nearest(pool.machine) or tuple(sorted(outline.catalog.types))[:3]
            what = f"no machine type '{pool.machine}' is known"
            yield Problem(f"pools.{name}.machine", what, f"Nearest: {', '.join(known)}")


@rule(
    "CW1222",
    "A machine type of another provider",
    source="the catalog says who sells each machine type; the lab plays any",
    example="site: {provider: aws, …}, pools: {gpu: {machine: a3-megagpu-8g}}",
)
def machine_of_another_provider(outline: Outline) -> Iterator[Problem]:
    """A site can only make machines that its provider sells. The lab simulates every type."""
    for name, pool in outline.spec.pools.items():
        site, row = outline.site_names[name], outline.hardware[name]
        provider = outline.sites[site].provider if site else None
        if row is not None and provider not in (None, "lab", row.provider):
            what = f"'{pool.machine}' is a machine of '{row.provider}', and the site is of '{provider}'"
            remedy = f"Choose one that `clusterwright machines --provider {provider}` lists"
            yield Problem(f"pools.{name}.machine", what, remedy)


@rule(
    "CW1223",
    "GPUs where no job can use them",
    source="Slurm gives GPUs to jobs on nodes that run slurmd, the compute nodes",
    example="pools: {login: {roles: login, machine: p5.48xlarge}}",
    severity=Severity.WARNING,
)
def gpus_out_of_reach(outline: Outline) -> Iterator[Problem]:
    """GPUs of a node without the role `compute` are paid for and idle."""
    for name, pool in outline.spec.pools.items():
        row = outline.hardware[name]
        if row is not None and row.gpus and Role.COMPUTE not in pool.roles:
            what = f"'{pool.machine}' has {len(row.gpus)} GPUs, and no job runs on the pool '{name}'"
            yield Problem(f"pools.{name}.machine", what, "Take a type without GPUs, or add the role compute")


@rule(
    "CW1224",
    "A partition mixes GPU types",
    source="aws-parallelcluster 451cc53, InstancesAccelerators validator",
    example="pools: {a: {machine: hgx-h100-8gpu, partitions: gpu}, b: {machine: l4-server, partitions: gpu}}",
    severity=Severity.WARNING,
)
def partition_mixes_gpus(outline: Outline) -> Iterator[Problem]:
    """A job over both kinds runs at the speed of the slower one unless it asks for a type by name."""
    kinds: dict[str, str] = {}
    for name, pool in outline.pools_with(Role.COMPUTE):
        row = outline.hardware[name]
        for partition in (pool.partitions or [name]) if row else []:
            kind = (row.gpu_type if row else None) or "no GPU"
            if kinds.setdefault(partition, kind) != kind:
                what = f"the partition '{partition}' has nodes with {kinds[partition]} and with {kind}"
                yield Problem(f"pools.{name}.partitions", what, "Give each type a partition of its own")
