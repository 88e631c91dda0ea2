"""Shared file systems."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from clusterwright.spec.base import Described
from clusterwright.spec.quantity import Bytes

MOUNT_POINT = r"^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$"
SERVER = r"^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$"
MOUNT_OPTIONS = r"^[A-Za-z0-9_.=:/-]+(,[A-Za-z0-9_.=:/-]+)*$"

MountPoint = Annotated[str, Field(pattern=MOUNT_POINT, max_length=255)]


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
    server: Annotated[str, Field(pattern=SERVER, max_length=253)]
    """Host name or address of the server."""
    export: MountPoint
    """Path on the server."""
    options: Annotated[str, Field(pattern=MOUNT_OPTIONS)] = "vers=4.2,nconnect=8,hard,noatime"
    """Mount options."""


def _served_unless_said(value: object) -> object:
    return {"kind": "served", **value} if isinstance(value, dict) else value


def _with_home(value: object) -> object:
    return {"/home": {}, **value} if isinstance(value, dict) else value


Share = Annotated[Served | ExistingNfs, Field(discriminator="kind"), BeforeValidator(_served_unless_said)]


class Storage(Described):
    """File systems that every node sees, by mount point."""

    shares: Annotated[dict[MountPoint, Share], BeforeValidator(_with_home)] = {"/home": Served()}
    """Mount point → where it comes from. `/home` is always there, served when nothing else is said."""
