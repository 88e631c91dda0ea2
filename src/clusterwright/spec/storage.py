"""Shared file systems."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from clusterwright.spec.aws_storage import Efs, FsxLustre, FsxOpenZfs
from clusterwright.spec.base import Described
from clusterwright.spec.buckets import S3, Gcs
from clusterwright.spec.google_storage import Filestore, ManagedLustre
from clusterwright.spec.parallel import BeeGfs, CephFs, Export, Lustre, Options, Path, Server, Weka
from clusterwright.spec.quantity import Bytes


class Served(Described):
    """A directory that a node of this cluster serves to the others."""

    kind: Literal["served"] = "served"
    """NFS from the `storage` node (or the controller); in the lab a shared mount of the host."""
    size: Bytes | None = None
    """Space that it needs."""


class ExistingNfs(Described):
    """A file system that an NFS server outside this cluster exports."""

    kind: Literal["nfs"]
    """An NFS server outside the cluster."""
    server: Server
    """Host name or address of the server."""
    export: Export
    """Path on the server; `/` is the root that NFS 4 shows."""
    options: Options = "vers=4.2,nconnect=8,hard,noatime"
    """Mount options."""


def _served_unless_said(value: object) -> object:
    return {"kind": "served", **value} if isinstance(value, dict) else value


def _with_home(value: object) -> object:
    return {"/home": {}, **value} if isinstance(value, dict) else value


Share = Annotated[
    Served
    | ExistingNfs
    | Lustre
    | BeeGfs
    | CephFs
    | Weka
    | Filestore
    | ManagedLustre
    | FsxLustre
    | Efs
    | FsxOpenZfs
    | S3
    | Gcs,
    Field(discriminator="kind"),
    BeforeValidator(_served_unless_said),
]


class Storage(Described):
    """File systems that every node sees, by mount point."""

    shares: Annotated[dict[Path, Share], BeforeValidator(_with_home)] = {"/home": Served()}
    """Mount point → where it comes from. `/home` is always there, served when nothing else is said."""
