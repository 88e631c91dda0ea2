"""Google Cloud: names of file systems, and whether anything talks over a machine's fabric."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.cloud import placement_group
from clusterwright.catalog.fabrics import fabrics
from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.software import hardware_rules
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.domains import chunks, machines_of_a_domain
from clusterwright.plan.gcp.names import NAME
from clusterwright.plan.gcp.placement import group_of
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import slug
from clusterwright.plan.software.traits import traits
from clusterwright.spec.google_storage import GOOGLE
from clusterwright.spec.pool import Pool, Role
from clusterwright.spec.site import AwsSite, GcpSite


@rule(
    "CW1382",
    "Two file systems with one name, or one that Google does not take",
    source="Google Cloud, naming convention: 63 lower-case letters, digits and hyphens, a letter first",
    example="storage: {shares: {/data/raw: {kind: filestore, …}, /data-raw: {kind: filestore, …}}}",
)
def names_of_file_systems(outline: Outline) -> Iterator[Problem]:
    """A file system is named after the cluster and its mount point; the second one could not be made."""
    seen: dict[str, str] = {}
    for mount, share in outline.spec.storage.shares.items():
        if not isinstance(share, GOOGLE):
            continue
        name = f"{outline.spec.cluster}-{slug(mount)}"
        if name in seen:
            what = f"'{seen[name]}' and '{mount}' would both be called '{name}'"
            yield Problem(f"storage.shares.{mount}", what, "Mount one of them elsewhere")
        elif not NAME.fullmatch(name):
            remedy = "Take a shorter mount point of letters, digits and '-'"
            yield Problem(f"storage.shares.{mount}", f"a file system cannot be called '{name}'", remedy)
        seen.setdefault(name, mount)


@rule(
    "CW1383",
    "A fabric that nothing here speaks",
    source="the software catalogue (hardware_rules.csv): the plug-in of NCCL that a machine type requires",
    example="site: {provider: gcp, …}, pools: {gpu: {machine: a3-highgpu-8g, count: 2}}",
    severity=Severity.WARNING,
)
def fabric_without_plugin(outline: Outline) -> Iterator[Problem]:
    """Cards and networks are made as Google wants them, and NCCL would use plain sockets over the first."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        kind, site = outline.types[name], outline.sites.get(outline.site_names[name] or "")
        ours = isinstance(site, GcpSite) and kind is not None and kind.hardware.provider == "gcp"
        if ours and kind is not None and outline.count(name) > 1 and _unspoken(kind):
            what = f"no plug-in of NCCL is known here for the fabric of '{pool.machine}'"
            remedy = "Install it with a hook of your own, or take `a3-megagpu-8g` or a type with RDMA"
            yield Problem(f"pools.{name}.machine", what, remedy)


def _unspoken(kind: MachineType) -> bool:
    """Google's cards for GPUs have a fabric's plug-in each, or are plain network cards to NCCL."""
    if not any(card.is_fabric for card in kind.cards):
        return False
    plugins = {fabric.component for fabric in fabrics() if fabric.component}
    own = traits(kind.hardware)
    required = {row.component for row in hardware_rules() if row.kind == "requires" and row.trait in own}
    return not plugins & required


@rule(
    "CW1384",
    "Slurm's blocks are not the NVLink domains",
    source="a policy of Google Cloud for each domain, and names of AWS's groups: nodes 1 to 18, 19 to 36 …",
    example="pools: {gpu: {machine: a4x-highgpu-4g, nodes: 'gpu[101-118]'}}: two domains of 8 and 10",
    severity=Severity.WARNING,
)
def blocks_are_not_domains(outline: Outline) -> Iterator[Problem]:
    """Slurm counts nodes by their order, and domains are told by numbers, so that a node that goes moves no
    other: with a gap, a job in one block would talk between two domains."""
    size = outline.spec.fabric.block_size
    for name, pool in outline.pools_with(Role.COMPUTE):
        nodes, trays = outline.names[name] or (), _numbered(outline, name, pool)
        if not size or not trays:
            continue
        domains = chunks(nodes, trays)
        first = min(domains.values(), default=0)
        apart = [node for place, node in enumerate(nodes) if domains[node] - first != place // size]
        if apart:
            what = f"'{apart[0]}' and {len(apart) - 1} more are in a block of Slurm that is not their domain"
            remedy = f"Number whole domains, for instance `gpu[001-{trays:03d}]`, or add what is missing"
            yield Problem(f"pools.{name}.nodes" if pool.nodes else f"pools.{name}", what, remedy)


def _numbered(outline: Outline, name: str, pool: Pool) -> int:
    """Machines of an NVLink domain, where domains are told by numbers; else 0."""
    site, kind = outline.sites.get(outline.site_names[name] or ""), outline.types[name]
    if isinstance(site, GcpSite):
        group = placement_group("gcp", pool.machine)
        return group.nodes if group and group.gpu_topology else 0
    return machines_of_a_domain(kind.hardware) if isinstance(site, AwsSite) and pool.group and kind else 0


@rule(
    "CW1296",
    "A distance between machines that nothing keeps",
    source="Compute Engine documentation, compact placement policies: the maximum distance is a policy's",
    example="pools: {login: {roles: login, machine: n2-standard-8, max_distance: 1}}",
)
def distance_without_policy(outline: Outline) -> Iterator[Problem]:
    """It would be told to nobody: a reservation, an NVLink domain and machines without a fabric have no such
    policy, and other clouds have none at all."""
    for name, pool in outline.spec.pools.items():
        kind = outline.types[name]
        if pool.max_distance is None or kind is None:
            continue
        group = group_of(pool, kind)
        if not isinstance(outline.sites.get(outline.site_names[name] or ""), GcpSite) or group is None:
            what = "these machines get no compact placement policy"
            yield Problem(f"pools.{name}.max_distance", what, "Leave `max_distance` out")
        elif group.gpu_topology is not None:
            what = f"'{kind.name}' is made in an NVLink domain, which has its own distance"
            yield Problem(f"pools.{name}.max_distance", what, "Leave `max_distance` out")
