"""What a node should be, in the words of the roles' modules and of the program that looks at a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from clusterwright.bundle.archives import PackageFile, told
from clusterwright.bundle.built import Build
from clusterwright.bundle.wanted import Kind, Wanted, WantedFile

_LATE = {"node_gate", "slurm_compute", "slurm_login", "slurm_rest", "monitoring"}
"""Roles whose daemons ask slurmctld for something when they start."""


def source(files: Iterable[WantedFile], kind: Kind | None = None) -> Mapping[str, Any]:
    """Files, and a kind's directories, as the module `node` takes them."""
    directories = [
        {"path": row.path, "mode": f"{row.mode:04o}", "owner": row.owner, "group": row.group}
        for row in (kind.directories if kind else ())
    ]
    return {"files": [_row(file) for file in files], "directories": directories}


def variables(kind: Kind, packages: Sequence[PackageFile] = ()) -> Mapping[str, Any]:
    """What the playbooks are told of a kind beside its files.

    `packages` are those of its archives.
    """
    units: dict[str, list[dict[str, Any]]] = {}
    for unit in kind.units:
        row = {"name": unit.name, "enabled": unit.enabled, "active": unit.active}
        units.setdefault(unit.role, []).append(row)
    return {
        "clusterwright_packages": list(kind.packages),
        "clusterwright_held": list(kind.held),
        "clusterwright_package_format": kind.package_format,
        "clusterwright_units": units,
        "clusterwright_early_units": [row for role in units if role not in _LATE for row in units[role]],
        "clusterwright_late_units": [row for role in units if role in _LATE for row in units[role]],
        "clusterwright_people": [
            {"name": u.name, "uid": u.uid, "home": u.home, "shell": u.shell, "groups": list(u.groups)}
            for u in kind.users
        ],
        "clusterwright_left_files": list(kind.left_files),
        "clusterwright_left_people": list(kind.left_people),
        "clusterwright_accounting": kind.accounting or {},
        **({"clusterwright_package_files": told(packages)} if packages else {}),
        **({"clusterwright_nccl_tests": _told(kind.nccl_tests)} if kind.nccl_tests else {}),
    }


def _told(build: Build) -> Mapping[str, Any]:
    return {**asdict(build), "capabilities": list(build.capabilities)}


def groups(roles: Iterable[str], pool: str) -> list[str]:
    """Ansible's groups of a node."""
    return [*roles, *(["pool_" + pool.replace("-", "_")] if pool else [])]


def question(wanted: Wanted | Kind) -> Mapping[str, Any]:
    """What `look` compares a node with."""
    kind = wanted.kind if isinstance(wanted, Wanted) else wanted
    return {
        **({"observed": question(kind.observed)} if kind.observed else {}),
        **({"nccl_tests": _told(kind.nccl_tests)} if kind.nccl_tests else {}),
        **({"firewall": True} if "firewall" in kind.roles else {}),
        **({"left_people": kind.left_people} if kind.left_people else {}),
        "files": looked_at(wanted.files),
        "directories": [
            {"path": d.path, "mode": d.mode, "owner": d.owner, "group": d.group} for d in wanted.directories
        ],
        "units": [{"name": u.name, "enabled": u.enabled, "active": u.active} for u in wanted.units],
        "packages": wanted.packages,
        "held": kind.held,
        "package_format": kind.package_format,
        "users": [
            {"name": u.name, "uid": u.uid, "home": u.home, "shell": u.shell, "groups": u.groups}
            for u in wanted.users
        ],
    }


def looked_at(files: Iterable[WantedFile]) -> list[Mapping[str, Any]]:
    return [
        {"path": f.path, "mode": f.mode, "owner": f.owner, "group": f.group, "sha256": f.sha256}
        for f in files
    ]


def _row(file: WantedFile) -> dict[str, Any]:
    row = {
        "path": file.path,
        "mode": f"{file.mode:04o}",
        "owner": file.owner,
        "group": file.group,
        "affects": list(file.affects),
        "early": file.early,
    }
    return row if file.content is None else {**row, "content": file.content}
