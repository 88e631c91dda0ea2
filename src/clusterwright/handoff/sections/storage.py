"""Shared file systems."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clusterwright.handoff.sections.closed import Closed


class ServedShare(Closed):
    """A directory that a node of the cluster serves. Size in bytes."""

    kind: Literal["served"]
    size: int | None


class NfsShare(Closed):
    """A file system that a server outside exports."""

    kind: Literal["nfs"]
    server: str
    export: str
    options: str


class LustreShare(Closed):
    """A Lustre file system outside. `networks`: interfaces by LNet network. Throughput in bytes a second."""

    kind: Literal["lustre"]
    throughput: int | None
    mgs: list[str]
    file_system: str
    directory: str | None
    options: str
    networks: dict[str, list[str]]


class BeeGfsShare(Closed):
    """A BeeGFS file system outside. `connection_auth` is a file beside the description, and secret."""

    kind: Literal["beegfs"]
    throughput: int | None
    management: str
    connection_auth: str | None
    rdma: bool


class CephFsShare(Closed):
    """A CephFS file system outside. `keyring` is a file beside the description, and secret."""

    kind: Literal["cephfs"]
    throughput: int | None
    monitors: list[str]
    fsid: str
    file_system: str
    directory: str | None
    user: str
    keyring: str
    options: str


class WekaShare(Closed):
    """A WEKA file system outside. `auth_token` is a file beside the description, and secret."""

    kind: Literal["weka"]
    throughput: int | None
    backends: list[str]
    file_system: str
    installer_sha256: str | None
    interfaces: list[str]
    auth_token: str | None
    options: str


class BucketShare(Closed):
    """A bucket that is mounted."""

    kind: Literal["s3", "gcs"]
    bucket: str
    folder: str | None
    writable: bool


AnyShare = ServedShare | NfsShare | LustreShare | BeeGfsShare | CephFsShare | WekaShare | BucketShare


class StorageSection(Closed):
    """Shared file systems by mount point. `sites`: what a site has in their place; null: nothing."""

    shares: dict[str, AnyShare]
    sites: dict[str, dict[str, AnyShare | None]] = Field({})
