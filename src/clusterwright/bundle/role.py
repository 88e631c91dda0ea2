"""A role's own data, `roles/<role>/node.yml`: what a node with that role has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from clusterwright.bundle.collection import root
from clusterwright.catalog.container_images import images_of
from clusterwright.catalog.fabrics import fabric_of

Facts = Mapping[str, Collection[str]]
"""What rows may ask for: the node's roles, its distribution, what its cluster switched on."""

ORDER = (
    "base",
    "pull",
    "users",
    "sssd",
    "shared_home",
    "kernel",
    "rdma",
    "lldp",
    "efa",
    "nvidia_driver",
    "nvidia_fabric",
    "nvidia_imex",
    "mig",
    "amd_gpu",
    "cuda",
    "nccl",
    "nccl_tests",
    "gib",
    "gpudirect_tcpxo",
    "gdrcopy",
    "gds",
    "dcgm",
    "lustre_client",
    "beegfs_client",
    "cephfs_client",
    "weka_client",
    "bucket_client",
    "gpu_tuning",
    "podman",
    "container_images",
    "gpu_containers",
    "slurm_database",
    "slurm_controller",
    "slurm_backup",
    "slurm_gpu",
    "node_gate",
    "slurm_compute",
    "slurm_login",
    "slurm_rest",
    "monitoring",
    "network_boot",
    "firewall",
)
"""Roles in the order in which they configure a node."""


@dataclass(frozen=True, slots=True)
class Role:
    """One role's rows. A row with `when` holds where every fact it names has one of the values it lists."""

    name: str
    applies: Mapping[str, Collection[str]]
    parts: tuple[Mapping[str, Any], ...]
    """Rows of the distributions' package table."""
    components: tuple[Mapping[str, Any], ...]
    """Components of the lock, where the node's pool has them."""
    directories: tuple[Mapping[str, Any], ...]
    files: tuple[Mapping[str, Any], ...]
    units: tuple[Mapping[str, Any], ...]
    mounts: tuple[str, ...]
    """Kinds of share that it mounts by a unit each."""
    clients: tuple[str, ...]
    """Kinds of share whose clients it configures."""
    folder: Path

    def components_in(self, stack: Collection[str], facts: Facts) -> Iterator[Mapping[str, Any]]:
        """Rows of components that a node has."""
        return (row for row in self.components if row["name"] in stack and holds(row.get("when", {}), facts))

    def text(self, source: str, values: Mapping[str, object]) -> str:
        """A file of `files/` as it is, or of `templates/` with these values filled in."""
        if source.endswith(".j2"):
            return _environment(self.folder / "templates").get_template(source).render(**values)
        return (self.folder / "files" / source).read_text()


def holds(when: Mapping[str, Collection[str]], facts: Facts) -> bool:
    return all(set(facts[name]) & set(map(str, values)) for name, values in when.items())


@cache
def roles() -> tuple[Role, ...]:
    """Every role that has something to place, in order."""
    return tuple(_read(name) for name in ORDER)


@cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # configuration files, not HTML
    )
    environment.globals["fabric_of"] = fabric_of
    environment.globals["images_of"] = images_of
    return environment


def _read(name: str) -> Role:
    folder = root() / "roles" / name
    body = yaml.safe_load((folder / "node.yml").read_text())
    return Role(
        name=name,
        applies=body.get("applies", {}),
        parts=_named(body.get("parts", ())),
        components=_named(body.get("components", ())),
        directories=tuple(body.get("directories", ())),
        files=tuple(body.get("files", ())),
        units=_named(body.get("units", ())),
        mounts=tuple(body.get("mounts", ())),
        clients=tuple(body.get("clients", ())),
        folder=folder,
    )


def _named(rows: Collection[Any]) -> tuple[Mapping[str, Any], ...]:
    """A row that is only a name may be written as that."""
    return tuple(row if isinstance(row, dict) else {"name": row} for row in rows)
