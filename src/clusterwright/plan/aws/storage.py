"""File systems of a cluster on AWS, in the numbers that Amazon takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clusterwright.plan.shares import server_name, slug
from clusterwright.spec.aws_storage import AMAZON, Efs, FsxLustre, FsxOpenZfs
from clusterwright.spec.cluster import ClusterSpec

_GIB = 2**30
EFS_DAYS = 35
"""Amazon EFS User Guide, automatic backups: daily, kept for 35 days."""
PER_TIB = 250
"""MB/s of each TiB of Lustre, when nothing is said."""


@dataclass(frozen=True, slots=True)
class FileSystem:
    """One file system that Amazon runs."""

    name: str
    mount: str
    server: str
    """Name under which nodes mount it."""
    kind: str
    gib: int | None
    deployment: str
    throughput: int | None
    """MB/s: of each TiB for Lustre, of the whole for OpenZFS."""
    repositories: Mapping[str, str]
    efa: bool = False
    """Whether Lustre's servers have EFA."""
    backup_days: int | None = None
    """How long a day's copy is kept; None where there are none, or no number is to be told."""

    @property
    def lasts(self) -> bool:
        """Whether it outlives the cluster."""
        return self.deployment != "SCRATCH_2"


def file_systems(spec: ClusterSpec) -> Iterator[FileSystem]:
    """In the order of their mount points."""
    for mount, share in sorted(spec.storage.shares.items()):
        if isinstance(share, AMAZON):
            yield _file_system(slug(mount), mount, server_name(spec, mount), share)


def _file_system(name: str, mount: str, server: str, share: FsxLustre | Efs | FsxOpenZfs) -> FileSystem:
    match share:
        case FsxLustre():
            lasts = share.deployment == "persistent-2"
            rate = (share.throughput_per_tib or PER_TIB) if lasts else None
            deployment = "PERSISTENT_2" if lasts else "SCRATCH_2"
            gib = share.size // _GIB
            return FileSystem(
                name,
                mount,
                server,
                share.kind,
                gib,
                deployment,
                rate,
                dict(sorted(share.repositories.items())),
                share.efa,
            )
        case Efs():
            return FileSystem(
                name,
                mount,
                server,
                share.kind,
                None,
                share.mode,
                None,
                {},
                backup_days=EFS_DAYS if share.backups else None,
            )
        case FsxOpenZfs():
            gib = share.size // _GIB
            return FileSystem(
                name,
                mount,
                server,
                share.kind,
                gib,
                "SINGLE_AZ_2",
                share.throughput,
                {},
                backup_days=share.backup_days,
            )
