"""File systems that a cloud runs: whether they are fast enough, and what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from clusterwright.catalog.cloud import GIB
from clusterwright.checks.cloud import cloud_pools
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import slug
from clusterwright.spec.aws_storage import AMAZON, Efs, FsxLustre
from clusterwright.spec.google_storage import ManagedLustre
from clusterwright.spec.pool import Role
from clusterwright.spec.storage import Served

_SCRATCH, _PERSISTENT = 200, 250
"""MB/s of a TiB of `scratch-2`, and of `persistent-2` where nothing is said."""
_READ_OF_A_UNIT, _GPUS_OF_A_UNIT = 15 * 10**9, 256
_MOST_REPOSITORIES = 8
_LARGEST_DISK = 64 * 1024
_BURSTING = 64


def _lustres(outline: Outline) -> Iterator[tuple[str, FsxLustre | ManagedLustre]]:
    return (
        (field, share) for field, _, share in outline.shares if isinstance(share, FsxLustre | ManagedLustre)
    )


def _rate(share: FsxLustre | ManagedLustre) -> float:
    """Bytes a second of the whole file system."""
    if isinstance(share, FsxLustre) and share.deployment == "scratch-2":
        each = _SCRATCH
    else:
        each = share.throughput_per_tib or _PERSISTENT
    return share.size / GIB / 1024 * each * 10**6


@rule(
    "CW1541",
    "More throughput than the file system has",
    source="FSx for Lustre User Guide, performance; Managed Lustre documentation, performance tiers",
    example="storage: {shares: {/scratch: {kind: fsx-lustre, size: 1200 GiB, throughput: 5 GB/s}}}",
)
def more_than_the_file_system(outline: Outline) -> Iterator[Problem]:
    """Acceptance measures what one node gets, and no node could ever pass."""
    for field, share in _lustres(outline):
        if share.throughput and share.throughput > _rate(share):
            what = f"{share.throughput / 1e9:g} GB/s of one node, and all nodes together get "
            what += f"{_rate(share) / 1e9:.2g}"
            remedy = "Take a larger `size`, a higher `throughput_per_tib`, or state less"
            yield Problem(f"{field}.throughput", what, remedy)


@rule(
    "CW1542",
    "A slow file system for so many GPUs",
    source="NVIDIA DGX SuperPOD reference architecture (H100), storage: 15 GB/s for 32 systems is `good`",
    example="pools: {gpu: {machine: p5.48xlarge, count: 32}}, …: {kind: fsx-lustre, size: 1200 GiB}",
    severity=Severity.WARNING,
)
def slow_for_the_gpus(outline: Outline) -> Iterator[Problem]:
    """GPUs that wait for data and for checkpoints cost as much as those that compute."""
    gpus = sum(
        len(kind.hardware.gpus) * outline.count(name)
        for name, _, kind in cloud_pools(outline)
        if Role.COMPUTE in outline.spec.pools[name].roles
    )
    found = dict(_lustres(outline))
    wanted, having = _READ_OF_A_UNIT / _GPUS_OF_A_UNIT * gpus, sum(map(_rate, found.values()))
    if found and having < wanted:
        what = f"{having / 1e9:.2g} GB/s for {gpus} GPUs, which want {wanted / 1e9:.2g}"
        remedy = "Take a larger `size` or a higher `throughput_per_tib`"
        yield Problem(max(found, key=lambda field: _rate(found[field])), what, remedy)


@rule(
    "CW1543",
    "Homes that go with the cluster",
    source="FSx for Lustre User Guide, deployment options: scratch keeps one copy, for a short time",
    example="storage: {shares: {/home: {kind: fsx-lustre, deployment: scratch-2, …}}}",
    severity=Severity.WARNING,
)
def home_on_scratch(outline: Outline) -> Iterator[Problem]:
    """A file server that fails takes people's work with it, and so does `destroy`."""
    for field, mount, home in outline.shares:
        if mount == "/home" and isinstance(home, FsxLustre) and home.deployment == "scratch-2":
            what = "people's homes are kept in one copy, and not when the cluster goes"
            yield Problem(f"{field}.deployment", what, "Take `persistent-2`, `efs` or `fsx-openzfs`")


def _repositories(outline: Outline) -> Iterator[tuple[str, dict[str, str]]]:
    for field, share in _lustres(outline):
        if isinstance(share, FsxLustre):
            yield f"{field}.repositories", share.repositories


@rule(
    "CW1544",
    "A followed directory within another",
    source="Amazon FSx API Reference, CreateDataRepositoryAssociation: paths and prefixes do not overlap",
    example="…: {kind: fsx-lustre, repositories: {/data: s3://a, /data/raw: s3://b}, …}",
)
def repositories_overlap(outline: Outline) -> Iterator[Problem]:
    """Amazon refuses the second one, when the file system is there and is paid for."""
    for field, repositories in _repositories(outline):
        for (one, source), (other, another) in combinations(sorted(repositories.items()), 2):
            paths, buckets = _within(one, other), _within(source, another)
            if paths or buckets:
                first, second = (one, other) if paths else (source, another)
                what = f"'{second}' overlaps with '{first}'"
                yield Problem(f"{field}.{other}", what, "Follow one of them, or take them apart")


def _within(one: str, other: str) -> bool:
    shorter, longer = sorted((one.rstrip("/") + "/", other.rstrip("/") + "/"), key=len)
    return longer.startswith(shorter)


@rule(
    "CW1545",
    "More repositories than a file system follows",
    source="Amazon FSx API Reference, CreateDataRepositoryAssociation: 8 of a file system",
    example="…: {kind: fsx-lustre, repositories: {… nine directories …}, …}",
)
def too_many_repositories(outline: Outline) -> Iterator[Problem]:
    """The ninth is refused, when the file system is there and is paid for."""
    for field, repositories in _repositories(outline):
        if len(repositories) > _MOST_REPOSITORIES:
            what = f"{len(repositories)} directories, and a file system follows {_MOST_REPOSITORIES}"
            yield Problem(field, what, "Follow fewer and larger parts of the bucket")


@rule(
    "CW1546",
    "EFS that is paid by its space, for many nodes",
    source="Amazon EFS User Guide, bursting throughput: 50 MB/s of a TiB kept, 100 MB/s for a time",
    example="pools: {gpu: {count: 65}}, storage: {shares: {/home: {kind: efs, mode: bursting}}}",
    severity=Severity.WARNING,
)
def efs_bursting(outline: Outline) -> Iterator[Problem]:
    """A new file system is nearly empty: it spends its credit in a day and then gives next to nothing."""
    nodes = sum(outline.count(name) for name, _ in outline.pools_with(Role.COMPUTE))
    for mount, share in outline.spec.storage.shares.items():
        if isinstance(share, Efs) and share.mode == "bursting" and nodes > _BURSTING:
            what = f"{nodes} compute nodes share what its space brings"
            yield Problem(f"storage.shares.{mount}.mode", what, "Take `elastic`")


@rule(
    "CW1547",
    "Two file systems of AWS with one name",
    source="a file system and its name in DNS are called after the mount point",
    example="storage: {shares: {/data/raw: {kind: efs}, /data-raw: {kind: efs}}}",
)
def names_collide(outline: Outline) -> Iterator[Problem]:
    """The second one could not be told from the first, and is refused."""
    seen: dict[str, str] = {}
    for mount, share in outline.spec.storage.shares.items():
        if not isinstance(share, AMAZON):
            continue
        other = seen.setdefault(slug(mount), mount)
        if other != mount:
            what = f"'{other}' and '{mount}' would both be called '{slug(mount)}'"
            yield Problem(f"storage.shares.{mount}", what, "Mount one of them elsewhere")


@rule(
    "CW1548",
    "A served share that is larger than a disk",
    source="Amazon EBS User Guide, General Purpose SSD: 64 TiB; Google Cloud, Persistent Disk: 64 TiB",
    example="site: {provider: aws, …}, storage: {shares: {/home: {size: 100 TiB}}}",
)
def served_share_too_large(outline: Outline) -> Iterator[Problem]:
    """What a node serves is on one volume of its own, and no cloud makes one of that size."""
    if not any(cloud_pools(outline)):
        return
    served = {
        mount: share.size or 0
        for mount, share in outline.spec.storage.shares.items()
        if isinstance(share, Served)
    }
    total = sum(served.values()) / GIB
    if total > _LARGEST_DISK:
        what = f"{total / 1024:,.4g} TiB on one volume, which has {_LARGEST_DISK // 1024} at most"
        remedy = "Take a file system that the cloud runs"
        yield Problem(f"storage.shares.{max(served, key=lambda mount: served[mount])}.size", what, remedy)
