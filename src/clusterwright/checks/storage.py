"""Shared file systems."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role
from clusterwright.spec.storage import ExistingNfs, Served

CONTROLLER_SERVES = 64
"""Compute nodes up to which the controller may serve files beside scheduling."""
_SYSTEM = "bin boot dev etc lib lib32 lib64 libx32 proc root run sbin sys tmp usr var"


def _field(mount: str) -> str:
    return f"storage.shares.{mount}"


@rule(
    "CW1271",
    "A share within a share",
    source="aws-parallelcluster 451cc53, OverlappingMountDir validator",
    example="storage: {shares: {/data: {}, /data/scratch: {}}}",
)
def nested_mounts(outline: Outline) -> Iterator[Problem]:
    """The inner mount hides what the outer one has there, and their order at boot decides which is seen."""
    mounts = sorted(outline.spec.storage.shares)
    for mount in mounts:
        outer = next((other for other in mounts if mount.startswith(f"{other}/")), None)
        if outer:
            yield Problem(
                _field(mount), f"'{mount}' is within the share '{outer}'", "Mount it beside, not within"
            )


@rule(
    "CW1272",
    "A mount point of the system",
    source="Filesystem Hierarchy Standard 3.0; aws-parallelcluster 451cc53, SharedStorageMountDir validator",
    example="storage: {shares: {/etc: {}}}",
)
def system_mount(outline: Outline) -> Iterator[Problem]:
    """A share there would hide the node's own files; Slurm keeps its state and spool below /var."""
    for mount in outline.spec.storage.shares:
        top = mount.split("/")[1]
        if top in _SYSTEM.split() and not mount.startswith("/usr/local/"):
            remedy = "Mount it at /data, /scratch, /opt, /srv or below /mnt"
            yield Problem(_field(mount), f"'{mount}' belongs to the operating system", remedy)


@rule(
    "CW1273",
    "A storage node with nothing to serve",
    source="the storage node serves the shares of kind `served`",
    example="pools: {files: {roles: storage}}, storage: {shares: {/home: {kind: nfs, …}}}",
    severity=Severity.WARNING,
)
def storage_node_idle(outline: Outline) -> Iterator[Problem]:
    """Every share comes from outside, so the storage node is paid for and idle."""
    served = any(isinstance(share, Served) for share in outline.spec.storage.shares.values())
    for name, pool in outline.pools_with(Role.STORAGE):
        if not served and len(pool.roles) == 1:
            yield Problem(f"pools.{name}.roles", "no share is served by this cluster", "Remove the pool")


@rule(
    "CW1274",
    "A server outside that is inside",
    source="`nfs` mounts what another system exports; `served` makes the export",
    example="storage: {shares: {/data: {kind: nfs, server: controller, export: /data}}}",
)
def server_is_a_node(outline: Outline) -> Iterator[Problem]:
    """A share of kind `nfs` is only mounted, never exported: no node of the cluster would serve it."""
    nodes = {name for names in outline.names.values() for name in names or ()}
    suffix = f".{outline.spec.cluster}.{outline.spec.domain}"
    for mount, share in outline.spec.storage.shares.items():
        if isinstance(share, ExistingNfs) and share.server.removesuffix(suffix) in nodes:
            what = f"the server '{share.server}' is a node of this cluster"
            yield Problem(f"{_field(mount)}.server", what, "Write `kind: served`")


@rule(
    "CW1275",
    "One export at two places",
    source="nfs(5): two mounts of one export are one file system",
    example="storage: {shares: {/a: {kind: nfs, server: s, export: /x}, /b: {…the same…}}}",
    severity=Severity.WARNING,
)
def export_twice(outline: Outline) -> Iterator[Problem]:
    """Files would show up twice, and quotas and backups count them twice."""
    seen: dict[tuple[str, str], str] = {}
    for mount, share in outline.spec.storage.shares.items():
        if isinstance(share, ExistingNfs):
            place = (share.server, share.export)
            if place in seen:
                what = f"{share.server}:{share.export} is mounted at '{seen[place]}' too"
                yield Problem(f"{_field(mount)}.export", what, "Keep one of them")
            seen.setdefault(place, mount)


@rule(
    "CW1276",
    "The controller serves the files of a large cluster",
    source="aws-parallelcluster #4179 and #905: NFS from the head node slows down past a few nodes",
    example="pools: {controller: …, gpu: {count: 100}}, without a storage node",
    severity=Severity.WARNING,
)
def controller_serves_files(outline: Outline) -> Iterator[Problem]:
    """When jobs load their data, the scheduler waits for the same disk and the same network card."""
    nodes = sum(outline.count(name) for name, _ in outline.pools_with(Role.COMPUTE))
    dedicated = [name for name, pool in outline.pools_with(Role.STORAGE) if Role.CONTROLLER not in pool.roles]
    served = [m for m, share in outline.spec.storage.shares.items() if isinstance(share, Served)]
    if served and not dedicated and nodes > CONTROLLER_SERVES:
        what = f"the controller serves {', '.join(sorted(served))} to {nodes} compute nodes"
        yield Problem("storage.shares", what, "Add a pool with the role `storage`, or name an NFS server")
