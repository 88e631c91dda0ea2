"""GPUs that are cut into instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.mig import Profile, placed, profiles
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.mig import layout_of
from clusterwright.plan.outline import Outline
from clusterwright.spec.mig import Mig
from clusterwright.spec.pool import Role

_GUIDE = "NVIDIA MIG User Guide (catalog/data/mig_profiles.csv, with the source of each row)"
_MACHINE_DOMAIN = 8
"""GPUs of one machine share NVLink up to here; a larger domain reaches over machines."""

_Layouts = Iterator[tuple[str, Mapping[str, int], Mapping[str, Profile], Hardware]]


def _cut_pools(outline: Outline) -> Iterator[tuple[str, Mig, Hardware]]:
    for name, pool in outline.spec.pools.items():
        row = outline.hardware[name]
        if pool.mig is not None and row is not None:
            yield name, pool.mig, row


def _layouts(outline: Outline) -> _Layouts:
    """Each layout of GPUs that have MIG, with its place in the description."""
    for name, mig, row in _cut_pools(outline):
        known = profiles(row)
        places = {f"pools.{name}.mig.gpus.{index}": layout for index, layout in mig.gpus.items()}
        for path, layout in {f"pools.{name}.mig.layout": mig.layout, **places}.items():
            if known:
                yield path, layout, known, row


@rule(
    "CW1391",
    "GPUs that cannot be cut",
    source=_GUIDE,
    example="pools: {gpu: {machine: l4-server, mig: {layout: {1g.10gb: 7}}}}",
)
def gpu_without_mig(outline: Outline) -> Iterator[Problem]:
    """Some of NVIDIA's GPUs have MIG, each with other profiles: the catalog has those that a source tells."""
    for name, _, row in _cut_pools(outline):
        if not profiles(row):
            what = f"no MIG profile of {row.gpu_model or 'a machine without GPUs'} is known"
            yield Problem(f"pools.{name}.mig", what, "Remove 'mig', or take a machine whose GPUs have it")


@rule(
    "CW1392",
    "A MIG profile that the GPU does not have",
    source=_GUIDE,
    example="pools: {gpu: {machine: hgx-h100-8gpu, mig: {layout: {1g.5gb: 7}}}}",
)
def profile_unknown(outline: Outline) -> Iterator[Problem]:
    """A profile's name holds its memory, so that each GPU model has its own names."""
    for path, layout, known, row in _layouts(outline):
        for name in layout:
            if name not in known:
                what = f"{row.gpu_model} has no MIG profile '{name}'"
                yield Problem(f"{path}.{name}", what, f"It has {', '.join(known)}")


@rule(
    "CW1393",
    "A MIG layout that does not fit on the GPU",
    source=_GUIDE,
    example="pools: {gpu: {machine: hgx-h100-8gpu, mig: {layout: {4g.40gb: 1, 3g.40gb: 2}}}}",
)
def layout_too_large(outline: Outline) -> Iterator[Problem]:
    """A GPU has seven slices of processors and eight of memory; an instance begins only at some of them."""
    for path, layout, known, row in _layouts(outline):
        if set(layout) <= set(known) and placed(known, layout) is None:
            told = ", ".join(f"{count} x {name}" for name, count in sorted(layout.items()))
            what = f"{told} do not fit on one {row.gpu_model} together"
            slices = ", ".join(f"{name} {known[name].slices} of 8" for name in sorted(layout))
            yield Problem(path, what, f"Take fewer or smaller ones; memory: {slices}")


@rule(
    "CW1394",
    "A GPU that the machine does not have",
    source="the catalog of machine types",
    example="pools: {gpu: {machine: hgx-h100-8gpu, mig: {gpus: {8: {1g.10gb: 7}}}}}",
)
def gpu_unknown(outline: Outline) -> Iterator[Problem]:
    """GPUs are counted from 0, in the order of their device files."""
    for name, mig, row in _cut_pools(outline):
        for index in mig.gpus:
            if row.gpus and int(index) >= len(row.gpus):
                what = f"'{row.machine}' has {len(row.gpus)} GPUs and no GPU {index}"
                yield Problem(f"pools.{name}.mig.gpus.{index}", what, f"Use 0 to {len(row.gpus) - 1}")


@rule(
    "CW1395",
    "Instances that no job can use well",
    source="NVIDIA MIG User Guide: no peer-to-peer between instances, no NVLink, one instance per process",
    example="pools: {gpu: {machine: gb200-nvl72-tray, mig: {layout: {1g.23gb: 7}}}}",
    severity=Severity.WARNING,
)
def fabric_of_no_use(outline: Outline) -> Iterator[Problem]:
    """Instances do not reach each other: a fabric between cut GPUs is paid for and idle."""
    for name, mig, row in _cut_pools(outline):
        whole = [gpu for gpu in row.gpus if not layout_of(mig, gpu.minor)]
        rdma = sorted({nic.kind for nic in row.nics} & {"efa", "infiniband", "mrdma", "roce"})
        if row.gpus and not whole and (rdma or (row.nvlink_domain or 1) > _MACHINE_DOMAIN):
            between = " and ".join([*rdma, *(["NVLink"] if (row.nvlink_domain or 1) > 1 else [])])
            what = f"every GPU of '{name}' is cut, and its {between} joins none of the instances"
            yield Problem(
                f"pools.{name}.mig", what, "Leave GPUs whole in `gpus`, or take a machine without it"
            )


@rule(
    "CW1396",
    "Instances and whole nodes only",
    source="slurm.conf(5) OverSubscribe=EXCLUSIVE: a job has the whole node",
    example="pools: {gpu: {mig: {layout: {1g.10gb: 7}}}}, scheduler: {partitions: {gpu: {exclusive: true}}}",
    severity=Severity.WARNING,
)
def whole_nodes_only(outline: Outline) -> Iterator[Problem]:
    """A job that has the node has all instances, and no other job can use them beside it."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        for partition in outline.whole_nodes_only(name) if pool.mig else []:
            what = f"the partition '{partition}' gives whole nodes, and '{name}' is cut into instances"
            remedy = "Remove 'exclusive', or leave the pool's GPUs whole"
            yield Problem(f"scheduler.partitions.{partition}.exclusive", what, remedy)
