"""The network that jobs talk over."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.hardware import Hardware
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.domains import machines_of_a_domain
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role


@rule(
    "CW1311",
    "A tree without leaves",
    source="topology.conf(5): SwitchName lists the nodes of each leaf switch",
    example="fabric: {topology: tree}",
)
def tree_without_leaves(outline: Outline) -> Iterator[Problem]:
    """Slurm can only place a job on few switches when it knows which nodes share one."""
    fabric = outline.spec.fabric
    if fabric.topology == "tree" and fabric.nodes_per_leaf is None and fabric.switches is None:
        what = "the topology 'tree' needs 'nodes_per_leaf'"
        yield Problem("fabric.topology", what, "Add it: how many nodes hang on one leaf switch")


@rule(
    "CW1312",
    "Blocks before Slurm 23.11",
    source="Slurm 23.11 release notes: topology/block is new",
    example="software: {distribution: debian-12}, fabric: {topology: block, block_size: 18}",
)
def blocks_too_early(outline: Outline) -> Iterator[Problem]:
    """The release has no topology/block plugin and stops at it."""
    release = outline.slurm_release
    if outline.spec.fabric.topology == "block" and release is not None and release < "23.11":
        what = f"Slurm {release} has no block topology"
        yield Problem("fabric.topology", what, "Take Slurm 23.11 or later")


@rule(
    "CW1313",
    "Nodes that fill no block",
    source="slurm.schedmd.com/topology.html: a base block has exactly BlockSizes nodes",
    example="fabric: {topology: block, block_size: 18}, pools: {gpu: {count: 20}}",
)
def blocks_not_full(outline: Outline) -> Iterator[Problem]:
    """A block is one NVLink domain; nodes over would be a domain that does not exist."""
    fabric = outline.spec.fabric
    if fabric.topology != "block" or fabric.block_size is None:
        return
    for name, _ in outline.pools_with(Role.COMPUTE):
        over = outline.count(name) % fabric.block_size
        if over:
            what = f"{outline.count(name)} nodes do not fill blocks of {fabric.block_size}"
            remedy = f"Describe {over} fewer or {fabric.block_size - over} more, or change 'block_size'"
            yield Problem(f"pools.{name}", what, remedy)


def trays_of_domain(row: Hardware | None) -> int | None:
    """How many machines share an NVLink domain; None where a machine is one of its own."""
    return (machines_of_a_domain(row) or None) if row else None


@rule(
    "CW1314",
    "An NVLink domain that Slurm is not told of",
    source="NVIDIA GB200 NVL72: 18 trays share one NVLink domain",
    example="pools: {gpu: {machine: gb200-nvl72-tray, count: 18}}, fabric: {topology: flat}",
    severity=Severity.WARNING,
)
def domain_not_a_block(outline: Outline) -> Iterator[Problem]:
    """Jobs would be spread over domains and talk over InfiniBand where NVLink is at hand."""
    fabric = outline.spec.fabric
    for name, pool in outline.pools_with(Role.COMPUTE):
        trays = trays_of_domain(outline.hardware[name])
        if trays is None:
            continue
        wanted = fabric.topology == "block" and fabric.block_size == trays
        whole = outline.count(name) >= trays
        if whole and not wanted:
            what = f"{trays} '{pool.machine}' share one NVLink domain"
            field = "fabric.block_size" if fabric.topology == "block" else "fabric.topology"
            yield Problem(field, what, f"Write `fabric: {{topology: block, block_size: {trays}}}`")


@rule(
    "CW1315",
    "Part of an NVLink domain",
    source="NVIDIA GB200 NVL72: 18 trays share one NVLink domain",
    example="pools: {gpu: {machine: gb200-nvl72-tray, count: 4}}",
    severity=Severity.WARNING,
)
def domain_in_part(outline: Outline) -> Iterator[Problem]:
    """Machines of this type come as whole racks; the others of the domain would be somebody else's."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        trays = trays_of_domain(outline.hardware[name])
        if trays is None:
            continue
        site = outline.site_names[name]
        played = site is not None and outline.sites[site].provider == "lab"
        if outline.count(name) < trays and not played:
            what = f"{outline.count(name)} '{pool.machine}', and a domain has {trays}"
            yield Problem(f"pools.{name}", what, f"Describe {trays}, or several times {trays}")
