"""Parallel file systems outside the cluster: what a client must know to mount one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from clusterwright.spec.base import Described, OneOrMany
from clusterwright.spec.beside import Beside
from clusterwright.spec.quantity import Throughput

PATH = r"^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$"
EXPORT = r"^(/|(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+)$"
SERVER = r"^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$"
MOUNT_OPTIONS = r"^[A-Za-z0-9_.=:/-]+(,[A-Za-z0-9_.=:/-]+)*$"
NID = r"^[A-Za-z0-9.:-]+@(tcp|o2ib|efa)[0-9]{0,3}(,[A-Za-z0-9.:-]+@(tcp|o2ib|efa)[0-9]{0,3})*$"
LNET = r"^(tcp|o2ib|efa)[0-9]{0,3}$"
INTERFACE = r"^[A-Za-z][A-Za-z0-9._-]{0,14}$"
LUSTRE_NAME = r"^[A-Za-z0-9_-]{1,8}$"
CEPH_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
FSID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
WEKA_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$"
SHA256 = r"^[0-9a-f]{64}$"

Server = Annotated[str, Field(pattern=SERVER, max_length=253)]
Path = Annotated[str, Field(pattern=PATH, max_length=255)]
Export = Annotated[str, Field(pattern=EXPORT, max_length=255)]
Options = Annotated[str, Field(pattern=MOUNT_OPTIONS)]
Interface = Annotated[str, Field(pattern=INTERFACE)]


class _Parallel(Described):
    throughput: Throughput | None = None
    """What one node reads and writes at least, such as `20 GB/s`; acceptance measures it. Without it the rate
    is not measured."""


class Lustre(_Parallel):
    """A Lustre file system; its client is locked and mounted on compute and login nodes."""

    kind: Literal["lustre"]
    """A Lustre file system outside the cluster."""
    mgs: Annotated[list[Annotated[str, Field(pattern=NID)]], OneOrMany(), Field(min_length=1)]
    """NIDs of each management server, such as `10.0.0.5@o2ib`; those of one server with commas between."""
    file_system: Annotated[str, Field(pattern=LUSTRE_NAME)]
    """Name of the file system, 8 characters at most."""
    directory: Path | None = None
    """Directory of the file system that is mounted instead of its root."""
    options: Options = "flock,relatime"
    """Mount options."""
    networks: dict[Annotated[str, Field(pattern=LNET)], list[Interface]] = {}
    """LNet networks and the interfaces (rails) that each uses: `o2ib: [ib0, ib1]`. Without interfaces a `tcp`
    network uses those in the site's own network, and `efa` as many cards as Amazon advises. A node is on the
    fabrics (`o2ib`, `efa`) that it has cards for, and on `tcp` where it has none. Without networks: those of
    the management server."""


class BeeGfs(_Parallel):
    """A BeeGFS file system; its client is locked and mounted on compute and login nodes."""

    kind: Literal["beegfs"]
    """A BeeGFS file system outside the cluster."""
    management: Server
    """Host name or address of the management service."""
    connection_auth: Beside | None = None
    """File beside the description with the secret that servers and clients share (connAuthFile). Keep it out
    of the repository."""
    rdma: StrictBool = True
    """Talk to the servers over RDMA where both sides have it."""


class CephFs(_Parallel):
    """A CephFS file system, mounted by the kernel on compute and login nodes."""

    kind: Literal["cephfs"]
    """A CephFS file system outside the cluster."""
    monitors: Annotated[list[Server], OneOrMany(), Field(min_length=1)]
    """Host names or addresses of the monitors."""
    fsid: Annotated[str, Field(pattern=FSID)]
    """The Ceph cluster's fsid, as `ceph fsid` tells it."""
    file_system: Annotated[str, Field(pattern=CEPH_NAME)] = "cephfs"
    """Name of the file system."""
    directory: Path | None = None
    """Directory of the file system that is mounted instead of its root."""
    user: Annotated[str, Field(pattern=CEPH_NAME)]
    """Ceph user without `client.`."""
    keyring: Beside
    """File beside the description with that user's keyring. Keep it out of the repository."""
    options: Options = "noatime"
    """Mount options."""


class Weka(_Parallel):
    """A WEKA file system, mounted on compute and login nodes by its stateless client."""

    kind: Literal["weka"]
    """A WEKA file system outside the cluster."""
    backends: Annotated[list[Server], OneOrMany(), Field(min_length=1)]
    """Host names or addresses of backend servers. The agent is installed from one of them, and the client has
    their version."""
    file_system: Annotated[str, Field(pattern=WEKA_NAME)]
    """Name of the file system."""
    installer_sha256: Annotated[str, Field(pattern=SHA256)] | None = None
    """SHA-256 of the installer that the backends hand out (`curl http://BACKEND:14000/dist/v1/install |
    sha256sum`); another one is not run."""
    interfaces: list[Interface] = []
    """Interfaces that the client uses past the kernel (DPDK), a core each. Without any it uses UDP."""
    auth_token: Beside | None = None
    """File beside the description with a token, for a file system that asks for one (`weka user login`). Keep
    it out of the repository."""
    options: Options = "noatime"
    """Mount options. What is said of `num_cores`, `dedicated_mode` or `net` stands before what is derived."""


PARALLEL = (Lustre, BeeGfs, CephFs, Weka)
