"""What Ansible is told: an inventory whose variables name files, and those files."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from clusterwright.bundle import rows, signing
from clusterwright.bundle.archives import NO_PACKAGES, Packages, files_of
from clusterwright.bundle.wanted import Kind, Wanted
from clusterwright.converge.target import Target
from clusterwright.handoff import Handoff

KEYS_FILE = "keys.json"


def write(
    folder: Path,
    handoff: Handoff,
    targets: Iterable[Target],
    wanted: Mapping[str, Wanted],
    keys: Mapping[str, bytes],
    packages: Packages = NO_PACKAGES,
) -> Path:
    """Fill `folder` with the inventory and what it points at; returns the inventory's path."""
    targets = sorted(targets, key=lambda target: target.name)
    hosts = {target.name: _host(folder, target, wanted[target.name]) for target in targets}
    groups: dict[str, dict[str, Any]] = {}
    for target in targets:
        kind = wanted[target.name].kind
        node = handoff.by_name.get(target.name)
        for group in _groups(kind, node.roles if node else (), node.pool if node else ""):
            groups.setdefault(group, {"hosts": {}})["hosts"][target.name] = {}
        if "vars" not in groups[_kind_name(kind)]:
            groups[_kind_name(kind)]["vars"] = rows.variables(kind, files_of(kind.archives, packages.files))
            _write(folder / f"{_kind_name(kind)}.json", rows.source(kind.files, kind))
    _write(folder / KEYS_FILE, {path: base64.b64encode(key).decode() for path, key in keys.items()})
    common = {
        "ansible_python_interpreter": "/usr/bin/python3",
        "clusterwright_keys_file": str(folder / KEYS_FILE),
        "clusterwright_signing_key": signing.KEY if signing.KEY in keys else "",
        **({"clusterwright_package_store": str(packages.store)} if packages.files else {}),
    }
    inventory = folder / "hosts.json"
    _write(inventory, {"all": {"hosts": hosts, "children": groups, "vars": common}})
    return inventory


def forget_keys(folder: Path) -> None:
    (folder / KEYS_FILE).unlink(missing_ok=True)


def _groups(kind: Kind, roles: Iterable[str], pool: str) -> Iterable[str]:
    return [_kind_name(kind), *rows.groups(roles, pool)]


def _kind_name(kind: Kind) -> str:
    return f"kind_{kind.digest[:12]}"


def _host(folder: Path, target: Target, wanted: Wanted) -> dict[str, Any]:
    own = folder / f"{target.name}.json"
    _write(own, rows.source(wanted.own_files))
    return {
        "ansible_host": target.address,
        "ansible_port": target.port,
        "ansible_user": target.user,
        **({} if target.user == "root" else {"ansible_become": True}),
        "ansible_ssh_private_key_file": str(target.key_file),
        "ansible_ssh_common_args": " ".join(target.ssh_options()),
        "clusterwright_digest": wanted.digest,
        "clusterwright_sources": [str(folder / f"{_kind_name(wanted.kind)}.json"), str(own)],
    }


def _write(path: Path, value: object) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        json.dump(value, stream)
