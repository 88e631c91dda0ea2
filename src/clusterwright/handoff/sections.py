"""The published shape of a hand-off document, and what one is read against.

Written out, not derived from the description's models: a change there cannot change the published format
unnoticed, because what is made is read again by a test, and what does not fit is refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from clusterwright.catalog.hardware import Hardware
from clusterwright.handoff.document import Node

FILE = Path("schemas/handoff.schema.json")


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class UserSection(_Closed):
    """A person's login on every node."""

    uid: int
    keys: list[str]
    account: str
    admin: bool


class SurroundingsSection(_Closed):
    """Proxy, certificates, mirror and time. Paths are relative to the description's folder."""

    http_proxy: str | None
    no_proxy: list[str]
    certificate_authorities: list[str]
    package_mirror: str | None
    security_mirror: str | None
    time_servers: list[str]


class HookSection(_Closed):
    """A step of the site's own. No pools means all."""

    at: str
    run: str
    pools: list[str]


class ClusterSection(_Closed):
    """Name, people and surroundings. A node is `<node>.<name>.<domain>`."""

    name: str
    domain: str
    users: dict[str, UserSection]
    surroundings: SurroundingsSection
    hooks: list[HookSection]
    converge: Literal["push", "pull"] = "push"


class BootSection(_Closed):
    """How machines boot over the network. `dhcp_server`: one that is there already. `images`: by pool, those
    that clusterwright builds as `built:DIGEST`."""

    dhcp_server: str | None
    unknown: str | None
    gateway: str | None
    name_servers: list[str]
    http_port: int
    arguments: list[str]
    images: dict[str, str]


class FirewallSection(_Closed):
    """Networks that may open connections from outside. `allow`: by pool and port."""

    operators_from: list[str]
    people_from: list[str]
    monitoring_from: list[str]
    trusted: list[str]
    allow: dict[str, dict[str, list[str]]]


class SiteSection(_Closed):
    """Where nodes are. `simulated`: they only play their machine type."""

    provider: str
    network: str
    place: str
    simulated: bool
    boot: BootSection | None = None
    firewall: FirewallSection | None = None


class FabricSection(_Closed):
    """How compute nodes hang together."""

    topology: Literal["flat", "tree", "block"]
    nodes_per_leaf: int | None
    block_size: int | None


class ServedShare(_Closed):
    """A directory that a node of the cluster serves. Size in bytes."""

    kind: Literal["served"]
    size: int | None


class NfsShare(_Closed):
    """A file system that a server outside exports."""

    kind: Literal["nfs"]
    server: str
    export: str
    options: str


class LustreShare(_Closed):
    """A Lustre file system outside. `networks`: interfaces by LNet network. Throughput in bytes a second."""

    kind: Literal["lustre"]
    throughput: int | None
    mgs: list[str]
    file_system: str
    directory: str | None
    options: str
    networks: dict[str, list[str]]


class BeeGfsShare(_Closed):
    """A BeeGFS file system outside. `connection_auth` is a file beside the description, and secret."""

    kind: Literal["beegfs"]
    throughput: int | None
    management: str
    connection_auth: str | None
    rdma: bool


class CephFsShare(_Closed):
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


class WekaShare(_Closed):
    """A WEKA file system outside. `auth_token` is a file beside the description, and secret."""

    kind: Literal["weka"]
    throughput: int | None
    backends: list[str]
    file_system: str
    installer_sha256: str | None
    interfaces: list[str]
    auth_token: str | None
    options: str


class BucketShare(_Closed):
    """A bucket that is mounted."""

    kind: Literal["s3", "gcs"]
    bucket: str
    folder: str | None
    writable: bool


class StorageSection(_Closed):
    """Shared file systems by mount point."""

    shares: dict[
        str, ServedShare | NfsShare | LustreShare | BeeGfsShare | CephFsShare | WekaShare | BucketShare
    ]


class PartitionSection(_Closed):
    """A Slurm partition. Times in seconds; none means no limit."""

    name: str
    nodes: str
    default: bool
    max_time: int | None
    default_time: int | None
    priority: int
    exclusive: bool


class LimitsSection(_Closed):
    """The most that a team may use at one time. Wall time in seconds."""

    gpus: int | None
    nodes: int | None
    jobs: int | None
    wall_time: int | None


class AccountSection(_Closed):
    """A team in the accounting database."""

    description: str
    parent: str | None
    shares: int
    limits: LimitsSection


class CgroupSection(_Closed):
    """Slurm's CgroupPlugin and CgroupMountpoint."""

    plugin: str
    mountpoint: str | None


class InstanceSection(_Closed):
    """A GPU instance: its MIG profile, and the memory slice at which it begins."""

    profile: str
    start: int


class BackupSection(_Closed):
    """Where the controller saves its state, every how many seconds, and how many times it is kept."""

    folder: str
    every: int
    keep: int


class SchedulerSection(_Closed):
    """Slurm. `config_overrides`: nodes have other hardware than they say.

    `mig`: by pool and minor of a GPU, the instances that it is cut into; whole GPUs are not in it.
    `shards`: by pool, the parts of each GPU that jobs may share; `mps`: the same, held to by NVIDIA's MPS.
    `ends`: by pool whose machines are taken away at a known time, when its last job must have ended, in UTC.
    """

    release: str
    partitions: dict[str, PartitionSection]
    accounts: dict[str, AccountSection]
    options: dict[str, str | int]
    accounting: bool
    rest: bool
    cgroup: CgroupSection
    config_overrides: bool
    mig: dict[str, dict[str, list[InstanceSection]]] = {}
    shards: dict[str, int] = {}
    mps: dict[str, int] = {}
    ends: dict[str, str] = {}
    backup: BackupSection | None = None


class RepositorySection(_Closed):
    """A package repository of the user's own."""

    url: str
    suite: str
    components: list[str]
    key: str


class ComponentSection(_Closed):
    """One component of a pool's host software, as it is locked. Packages without a version: any."""

    version: str
    flavour: str
    packages: dict[str, str | None]
    services: list[str]
    hold: list[str]
    repository: str | None


class VendorRepositorySection(_Closed):
    """Where locked packages come from. `key` is a file beside the description; else it is fetched."""

    url: str
    suite: str
    components: list[str]
    key: str | None
    key_url: str | None
    fingerprint: str | None


class ImagesSection(_Closed):
    """Container images that nodes load: `digest` is of the source's list, from which all else follows."""

    source: str
    digest: str
    names: list[str]


class ModuleSigningSection(_Closed):
    """Files beside the description: a private key, which is secret, and its certificate."""

    key: str
    certificate: str


class SoftwareSection(_Closed):
    """What is installed, and from where: `stacks` by pool and component, `repositories` by architecture."""

    distribution: str
    packages: list[str]
    slurm_source: Literal["distribution", "repository"]
    slurm_repository: RepositorySection | None
    containers: bool
    images: ImagesSection | None
    monitoring: bool
    stacks: dict[str, dict[str, ComponentSection]]
    repositories: dict[str, dict[str, VendorRepositorySection]]
    module_signing: ModuleSigningSection | None = None
    treatments: dict[str, dict[str, Literal["observe", "skip"]]] = {}
    """Pool → Ansible role that the site keeps itself."""


class BmcSection(_Closed):
    """The management controller of a machine. `credentials` say where user and password are, never what."""

    address: str | None
    mac: str | None
    credentials: str | None
    certificate: str | None = None
    """SHA-256 of the one that it shows."""


class MachineSection(_Closed):
    """What tells a machine of one's own from its sisters. `mac` is of the card that it boots from."""

    mac: str | None
    serial: str | None
    bmc: BmcSection | None


class Document(_Closed):
    """The versioned document between what builds machines and what configures them. It holds no secret."""

    version: Literal[1]
    cluster: ClusterSection
    site: dict[str, SiteSection]
    hardware: dict[str, Hardware]
    nodes: tuple[Node, ...]
    fabric: FabricSection
    storage: StorageSection
    scheduler: SchedulerSection
    software: SoftwareSection
    machines: dict[str, MachineSection] = {}


def schema() -> dict[str, Any]:
    """The JSON Schema that is published."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Document.model_json_schema(),
        "title": "clusterwright hand-off, version 1",
    }


def text() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else FILE).write_text(text(), encoding="utf-8")
