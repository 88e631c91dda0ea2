"""Shares as nodes mount them: a cloud's file systems become NFS and Lustre under names that stay."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.aws_storage import Efs, FsxLustre, FsxOpenZfs
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.google_storage import Filestore, ManagedLustre
from clusterwright.spec.parallel import Lustre
from clusterwright.spec.storage import ExistingNfs, Share

EXPORT = "/share"
"""Name of the one share of a Filestore instance."""
_NFS = "vers=4.1,hard,noatime"
_EFS = "vers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport"
"""Amazon EFS User Guide, recommended NFS mount settings (2026-11)."""
_OPENZFS = "vers=4.2,nconnect=16,rsize=1048576,wsize=1048576,hard,noatime"
"""Amazon FSx for OpenZFS User Guide, mounting from Linux (2026-11)."""
NOT_YET = "unmade"
"""Stands for the name that Amazon gives a Lustre file system when it is made, and that the stack fills in."""


def mounted_shares(spec: ClusterSpec) -> Mapping[str, Share]:
    """By mount point. What is told of a file system is the same before it is made and after."""
    return {mount: _mounted(spec, mount, share) for mount, share in spec.storage.shares.items()}


def shares_of_sites(spec: ClusterSpec) -> Mapping[str, Mapping[str, Share | None]]:
    """What sites mount in place of the cluster's shares, by site and mount point."""
    return {
        name: {mount: share and _mounted(spec, mount, share) for mount, share in site.shares.items()}
        for name, site in sorted(spec.sites.items())
        if site.shares
    }


def seen_from(spec: ClusterSpec, site: str) -> ClusterSpec:
    """The description with nothing but this site: its pools, and the shares that they mount."""
    described = spec.sites.get(site)
    if described is None:
        return spec
    shares = {m: one for m, one in {**spec.storage.shares, **described.shares}.items() if one is not None}
    return spec.model_copy(
        update={
            "sites": {site: described},
            "pools": {name: pool for name, pool in spec.pools.items() if pool.site in (site, None)},
            "storage": spec.storage.model_copy(update={"shares": shares}),
        }
    )


def share_of(spec: ClusterSpec, folder: str) -> str | None:
    """The mount point that a folder lies within."""
    within = [mount for mount in spec.storage.shares if f"{folder}/".startswith(f"{mount}/")]
    return max(within, key=len, default=None)


def server_name(spec: ClusterSpec, mount: str) -> str:
    """Name in the cluster's private zone of what serves a mount point: nodes never hold its address."""
    return f"{slug(mount)}.storage.{spec.cluster}.{spec.domain}"


def slug(mount: str) -> str:
    """A mount point as part of a name: `/data/raw` → `data-raw`."""
    return mount.strip("/").lower().translate(str.maketrans("/._", "---"))


def _mounted(spec: ClusterSpec, mount: str, share: Share) -> Share:
    match share:
        case Filestore():
            server = server_name(spec, mount)
            return ExistingNfs(kind="nfs", server=server, export=EXPORT, options=_NFS)
        case ManagedLustre():
            return _lustre(spec, mount, share.file_system, share.throughput)
        case FsxLustre():
            made = _lustre(spec, mount, NOT_YET, share.throughput)
            return made.model_copy(update={"networks": {"efa": [], "tcp": []}}) if share.efa else made
        case Efs():
            server = server_name(spec, mount)
            return ExistingNfs(kind="nfs", server=server, export="/", options=_EFS)
        case FsxOpenZfs():
            server = server_name(spec, mount)
            return ExistingNfs(kind="nfs", server=server, export="/fsx", options=_OPENZFS)
        case _:
            return share


def _lustre(spec: ClusterSpec, mount: str, file_system: str, throughput: int | None) -> Lustre:
    """The rate is a number here and a text with its unit in a description, so it is not validated again."""
    made = Lustre(kind="lustre", mgs=[f"{server_name(spec, mount)}@tcp"], file_system=file_system)
    return made.model_copy(update={"throughput": throughput})
