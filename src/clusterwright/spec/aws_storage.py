"""File systems that Amazon runs, made with the cluster."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from clusterwright.spec.base import Described
from clusterwright.spec.parallel import Path
from clusterwright.spec.quantity import Bytes, Throughput

S3 = r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()/-]{0,900})?$"


class FsxLustre(Described):
    """An Amazon FSx for Lustre file system; its client is locked and mounted on compute and login nodes."""

    kind: Literal["fsx-lustre"]
    """Amazon FSx for Lustre, made with the cluster."""
    size: Bytes
    """Space: 1200 GiB, or a multiple of 2400 GiB. It decides the throughput."""
    deployment: Literal["scratch-2", "persistent-2"] = "persistent-2"
    """`persistent-2`: kept in two copies, and kept when the cluster goes; `scratch-2`: cheaper, in one copy,
    and gone with the cluster."""
    throughput_per_tib: Literal[125, 250, 500, 1000] | None = None
    """MB/s that each TiB of `persistent-2` brings; 250 when nothing is said. `scratch-2` always has 200."""
    repositories: dict[Path, Annotated[str, Field(pattern=S3)]] = {}
    """Directories of the file system that follow a part of Amazon S3 in both ways: `/data: s3://bucket/data`.
    For `persistent-2`."""
    efa: StrictBool = False
    """Reach it over EFA where the machine type can, with 700 Gb/s a node instead of 100; others use TCP. For
    `persistent-2`, and settled when it is made."""
    throughput: Throughput | None = None
    """What one node reads and writes at least, such as `5 GB/s`; acceptance measures it. Without it the rate
    is not measured."""


class Efs(Described):
    """An Amazon EFS file system, mounted over NFS 4.1 by every node. It grows as it is filled."""

    kind: Literal["efs"]
    """Amazon EFS, made with the cluster and kept when it goes."""
    mode: Literal["elastic", "bursting"] = "elastic"
    """How throughput is paid for: by what is read and written, or with the space."""
    backups: StrictBool = True
    """Whether AWS Backup copies it every day, and keeps each copy for 35 days."""


class FsxOpenZfs(Described):
    """An Amazon FSx for OpenZFS file system, mounted over NFS 4.2 by every node."""

    kind: Literal["fsx-openzfs"]
    """Amazon FSx for OpenZFS, made with the cluster and kept when it goes."""
    size: Bytes
    """Space, 64 GiB to 512 TiB."""
    throughput: Literal[160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240] = 320
    """MB/s of the whole file system."""
    backup_days: Annotated[StrictInt, Field(ge=0, le=90)] = 7
    """For how many days Amazon keeps the copy that it makes every day; 0 for none."""


AMAZON = (FsxLustre, Efs, FsxOpenZfs)
