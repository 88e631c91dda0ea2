"""Names: of nodes, and of what is mistaken for one."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.nodeset import MAX_NODES
from clusterwright.spec.pool import Role

MAX_FQDN = 253
_RESERVED = frozenset({"all", "default", "localhost"})


@rule(
    "CW1201",
    "Two pools name the same node",
    source="slurm.conf(5): a NodeName may be configured once",
    example="pools: {a: {nodes: 'gpu[1-2]'}, b: {nodes: 'gpu[2-3]'}}",
)
def node_named_twice(outline: Outline) -> Iterator[Problem]:
    """A node belongs to exactly one pool: its machine type, roles and partitions come from there."""
    holder: dict[str, str] = {}
    for pool, names in outline.names.items():
        shared = [name for name in names or () if name in holder]
        if shared:
            field = f"pools.{pool}.nodes" if outline.spec.pools[pool].nodes else f"pools.{pool}"
            more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
            what = f"the node '{shared[0]}'{more} is already in the pool '{holder[shared[0]]}'"
            yield Problem(field, what, "Name each node in one pool")
        holder |= dict.fromkeys((name for name in names or () if name not in holder), pool)


@rule(
    "CW1202",
    "More nodes than Slurm can hold",
    source="slurm.conf(5), MaxNodeCount: a system cannot exceed 65,536 nodes",
    example="pools: {gpu: {count: 65536}, login: {}}",
)
def too_many_nodes(outline: Outline) -> Iterator[Problem]:
    """slurmctld refuses to start with more than 65,536 nodes. A larger site is several clusters."""
    total = sum(outline.count(pool) for pool in outline.spec.pools)
    if total > MAX_NODES:
        what = f"{total} nodes, and one Slurm cluster holds {MAX_NODES}"
        yield Problem("pools", what, "Describe several clusters")


@rule(
    "CW1203",
    "A node's full name is too long for DNS",
    source="RFC 1035 §2.3.4: 255 octets on the wire, 253 characters as text",
    example="domain: 'a domain of 190 characters', with a node name of 60",
)
def full_name_too_long(outline: Outline) -> Iterator[Problem]:
    """A node is `<node>.<cluster>.<domain>` in the hosts file and in certificates; DNS ends at 253."""
    suffix = len(outline.spec.cluster) + len(outline.spec.domain) + 2
    longest = max((name for names in outline.names.values() for name in names or ()), key=len, default="")
    if len(longest) + suffix > MAX_FQDN:
        what = f"'{longest}.{outline.spec.cluster}.…' has {len(longest) + suffix} characters"
        yield Problem("domain", what, f"Shorten the domain or the names to {MAX_FQDN} in all")


@rule(
    "CW1204",
    "A node name that means something else",
    source="slurm.conf(5): NodeName=DEFAULT sets defaults and ALL means every node; RFC 6761: localhost",
    example="pools: {default: {roles: compute}}",
)
def reserved_node_name(outline: Outline) -> Iterator[Problem]:
    """Slurm reads `default` and `all` as words of its own, and `localhost` is always the node itself."""
    for pool, names in outline.names.items():
        for name in sorted(_RESERVED.intersection(names or ())):
            yield Problem(f"pools.{pool}", f"no node can be called '{name}'", "Choose another name")


@rule(
    "CW1205",
    "A pool is named like a role that it does not have",
    source="the inventory's groups are the roles and the pools",
    example="pools: {login: {roles: compute}}",
    severity=Severity.WARNING,
)
def pool_named_like_another_role(outline: Outline) -> Iterator[Problem]:
    """The inventory has one group per role and one per pool, so a hook on `login` would hit both."""
    for name, pool in outline.spec.pools.items():
        if name in {role.value for role in Role} and name not in pool.roles:
            what = f"the pool '{name}' does not have the role '{name}'"
            yield Problem(f"pools.{name}", what, "Name the pool after what it is")


@rule(
    "CW1206",
    "A partition name that Slurm keeps for itself",
    source="slurm.conf(5): PartitionName=DEFAULT sets defaults for the partitions below it",
    example="pools: {gpu: {partitions: default}}",
)
def reserved_partition_name(outline: Outline) -> Iterator[Problem]:
    """`PartitionName=DEFAULT` is no partition: it gives values to those that follow."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        if "default" in (pool.partitions or [name]):
            field = f"pools.{name}.partitions" if pool.partitions else f"pools.{name}"
            yield Problem(field, "no partition can be called 'default'", "Name it otherwise")
