"""File systems that Google Cloud runs, made with the cluster."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described
from clusterwright.spec.quantity import Bytes, Throughput

GOOGLE_LUSTRE_NAME = r"^[a-z]([a-z0-9]{0,6}[a-z0-9])?$"


class Filestore(Described):
    """A Filestore instance, mounted over NFS 4.1 by every node."""

    kind: Literal["filestore"]
    """Google Filestore, made with the cluster and kept when it goes."""
    size: Bytes
    """Space: 1 TiB to 9.75 TiB in steps of 256 GiB, or 10 TiB to 100 TiB in steps of 2.5 TiB. It decides the
    throughput, and a file system never moves from one range to the other."""
    tier: Literal["zonal", "regional"] = "zonal"
    """`zonal`: in the zone of the nodes; `regional`: outlives a zone. The basic tiers speak no NFS 4."""


class ManagedLustre(Described):
    """A Managed Lustre instance; its client is locked and mounted on compute and login nodes."""

    kind: Literal["managed-lustre"]
    """Google Managed Lustre, made with the cluster and kept when it goes."""
    size: Bytes
    """Space, in steps that `throughput_per_tib` decides: 9,000 GiB at 1000, 72,000 GiB at 125."""
    throughput_per_tib: Literal[125, 250, 500, 1000] = 1000
    """MB/s that each TiB brings: it cannot be changed later."""
    file_system: Annotated[str, Field(pattern=GOOGLE_LUSTRE_NAME)] = "lustre"
    """Name of the file system, 8 letters and digits at most."""
    throughput: Throughput | None = None
    """What one node reads and writes at least, such as `5 GB/s`; acceptance measures it. Without it the rate
    is not measured."""


GOOGLE = (Filestore, ManagedLustre)
