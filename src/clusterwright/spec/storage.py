"""Shared file systems."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described
from clusterwright.spec.quantity import Bytes

MountPoint = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]*[A-Za-z0-9._-]$", max_length=255)]


class Served(Described):
    """A directory that a node of this cluster serves to the others."""

    kind: Literal["served"] = "served"
    """NFS from the `storage` node (or the controller); in the lab a shared mount of the host."""
    size: Bytes | None = None
    """Space that it needs."""


class ExistingNfs(Described):
    """A file system that an NFS server outside this cluster exports."""

    kind: Literal["nfs"]
    server: Annotated[str, Field(min_length=1, max_length=253)]
    """Host name or address of the server."""
    export: MountPoint
    """Path on the server."""
    options: str = "vers=4.2,nconnect=8,hard,noatime"
    """Mount options."""


Share = Annotated[Served | ExistingNfs, Field(discriminator="kind")]


class Storage(Described):
    """File systems that every node sees, by mount point."""

    shares: dict[MountPoint, Share] = {"/home": Served()}
    """Mount point → where it comes from. `/home` is always there."""
