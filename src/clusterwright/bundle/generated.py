"""Files whose number follows from the description: users' keys, mount units, certificates; and node.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from clusterwright.bundle import directory, repositories, shares
from clusterwright.bundle.facts import SYSTEM_UID, SYSTEM_USER, instances_of
from clusterwright.bundle.packages import managed
from clusterwright.bundle.repositories import Repository
from clusterwright.bundle.wanted import WantedUser
from clusterwright.catalog import gpu_health, software
from clusterwright.catalog.changes import Impact, cost_of_component, costs
from clusterwright.catalog.container_images import images_of
from clusterwright.catalog.machines import virtual_mtu
from clusterwright.catalog.transports import asked_for
from clusterwright.handoff import Handoff, Node
from clusterwright.handoff.software import MIRROR
from clusterwright.render.file import NodeFile

ADMINS = "clusterwright-admin"
NODE = "@node@"
"""Stands for the node's name: no name has this character."""
_VERSION = 1
_SLURM_UID = 64030
"""As in Debian's packages (base-passwd, reserved numbers), so that one cluster may have both."""


def attachments(handoff: Handoff) -> tuple[str, ...]:
    """Paths, beside the description, of files that decide what nodes are: certificates, keys, own steps."""
    repository = handoff.software["slurm_repository"]
    keys = [repository["key"]] if repository else []
    vendors = (row for rows in handoff.software["repositories"].values() for row in rows.values())
    keys += sorted({row["key"] for row in vendors if row["key"]})
    steps = sorted({hook["run"] for hook in handoff.cluster["hooks"]})
    signing = handoff.software.get("module_signing")
    signers = [signing["certificate"]] if signing else []
    return (*handoff.cluster["surroundings"]["certificate_authorities"], *keys, *signers, *steps)


def steps(handoff: Handoff, node: Node, texts: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """The site's own steps of a node, in their order: point, path and hash."""
    return tuple(
        (hook["at"], hook["run"], hashlib.sha256(texts.get(hook["run"], "").encode()).hexdigest())
        for hook in handoff.cluster["hooks"]
        if not hook["pools"] or node.pool in hook["pools"]
    )


def attached(handoff: Handoff, texts: Mapping[str, str]) -> Iterator[NodeFile]:
    manager = repositories.manager(handoff)
    for path in handoff.cluster["surroundings"]["certificate_authorities"]:
        name = PurePosixPath(path).stem
        target = f"{manager.certificates}/clusterwright-{name}.crt"
        yield NodeFile(target, texts[path], (), affects=("clusterwright-certificates:restart",))
    if row := handoff.software["slurm_repository"]:
        yield from manager.files(Repository("slurm", row, texts[row["key"]]))


def vendors(
    handoff: Handoff, node: Node, stack: Mapping[str, Any], texts: Mapping[str, str]
) -> Iterator[NodeFile]:
    """Repositories of what is locked for a node, and pins, so that no upgrade moves it."""
    manager = repositories.manager(handoff)
    architecture = handoff.hardware[node.machine].architecture
    # A mirror has every package of the lock, also those that a distribution carries.
    named = {row["repository"] for row in stack.values()} | ({MIRROR} if stack else set())
    taken = {
        name: handoff.software["repositories"][name][architecture]
        for name in sorted(named & set(handoff.software["repositories"]))
    }
    for name, row in taken.items():
        own = texts[row["key"]] if row["key"] else None
        yield from manager.files(Repository(name, row, own, texts.get(row["key_url"] or "")))
    for transport in asked_for(row["url"] for row in taken.values()):
        row = asdict(transport.repository)
        yield from manager.files(Repository(row["name"], row, None, texts.get(row["key_url"])))
    for component, row in sorted(stack.items()):
        yield from manager.pins(component, managed(row))


def modules(stack: Mapping[str, Any]) -> Iterator[NodeFile]:
    """Kernel modules that must be there for each kernel, a file for each component that brings some."""
    for component in sorted(stack):
        if names := software.components()[component].modules:
            text = "".join(f"{name}\n" for name in names)
            yield NodeFile(f"/etc/clusterwright/modules.d/{component}", text, ())


def authorized_keys(handoff: Handoff) -> Iterator[NodeFile]:
    for name, user in sorted(handoff.cluster["users"].items()):
        if user["keys"]:
            path = f"/etc/clusterwright/authorized_keys/{name}"
            yield NodeFile(path, "".join(f"{key}\n" for key in user["keys"]), ())


def started_with(handoff: Handoff, units: Iterable[str]) -> Iterator[NodeFile]:
    """The properties that each daemon has to start anew for: `diff` names its restarts by the same table."""
    for unit in sorted(units):
        rows = [name.split(".") for name, row in costs().items() if unit in row.units]
        if rows:
            told = [(section, key) for section, key in rows if key in getattr(handoff, section)]
            values = {f"{section}.{key}": getattr(handoff, section)[key] for section, key in told}
            text = json.dumps(values, indent=1, sort_keys=True, default=list) + "\n"
            path = f"/etc/clusterwright/started-with/{unit}.json"
            yield NodeFile(path, text, (), affects=(f"{unit}:restart",))


def started_with_versions(stack: Mapping[str, Any]) -> Iterator[NodeFile]:
    """Daemons of components that are exchanged beside what runs; others start anew with the reboot."""
    for component, row in sorted(stack.items()):
        if cost_of_component(component, "changed").impact is Impact.LIVE:
            for service in row["services"]:
                path = f"/etc/clusterwright/started-with/{service}.json"
                text = json.dumps({component: row["version"]}) + "\n"
                yield NodeFile(path, text, (), affects=(f"{service}:restart",))


def system_users(handoff: Handoff) -> tuple[WantedUser, ...]:
    """Whom acceptance jobs run as, and Slurm's user, where no package makes it."""
    system = [WantedUser(SYSTEM_USER, SYSTEM_UID, f"/home/{SYSTEM_USER}", "/bin/sh")]
    if repositories.package_format(handoff) == "rpm":
        system.append(WantedUser("slurm", _SLURM_UID, "/var/lib/slurm", "/sbin/nologin"))
    return tuple(system)


def people(handoff: Handoff) -> tuple[WantedUser, ...]:
    return tuple(
        WantedUser(name, user["uid"], f"/home/{name}", "/bin/bash", (ADMINS,) if user["admin"] else ())
        for name, user in sorted(handoff.cluster["users"].items())
        if user["uid"] is not None
    )


def accounting(handoff: Handoff) -> Mapping[str, object]:
    """Teams and people of Slurm's database, as the `accounting` module takes them."""
    accounts = {
        name: {
            "description": row["description"] or name,
            "parent": row["parent"] or "root",
            "shares": row["shares"],
            "limits": {key: value for key, value in row["limits"].items() if value is not None},
        }
        for name, row in handoff.scheduler["accounts"].items()
    }
    people = {
        name: {"account": user["account"], "admin": user["admin"]}
        for name, user in handoff.cluster["users"].items()
    }
    own = {"description": "Acceptance of the cluster", "parent": "root", "shares": 1, "limits": {}}
    return {
        "cluster": handoff.name,
        "accounts": {**accounts, SYSTEM_USER: own},
        "users": {**people, SYSTEM_USER: {"account": SYSTEM_USER, "admin": False}},
        **({"shared": True} if handoff.scheduler.get("state") else {}),
    }


def _images(component: str, version: str, loaded: Mapping[str, Any] | None) -> Mapping[str, str]:
    return {part: image.taken_from(loaded) for part, image in images_of(component, version).items()}


def node_json(handoff: Handoff, node: Node, units: tuple[str, ...], stack: Mapping[str, Any]) -> str:
    """What the gate holds a node of this kind and machine type against, with NODE for its name."""
    body = {
        "version": _VERSION,
        "cluster": handoff.name,
        "node": NODE,
        "roles": node.roles,
        "hardware": asdict(handoff.hardware[node.machine]),
        "config_overrides": handoff.scheduler["config_overrides"],
        "mounts": list(shares.mounted(handoff, node)),
        "read_only": shares.read_only(handoff, node),
        "file_systems": shares.to_prove(handoff, node),
        "lnet": shares.interfaces(handoff, node),
        "units": units,
        "packages": repositories.package_format(handoff),
        "stack": {name: {**row, "packages": managed(row)} for name, row in stack.items()},
        "images": {
            name: found
            for name, row in stack.items()
            if (found := _images(name, row["version"], handoff.software["images"]))
        },
        "mig": instances_of(handoff, node),
        "card_mtu": virtual_mtu(node.machine),
        "gpu_health": gpu_health.expected(handoff.hardware[node.machine]),
        **({"directory": directory.people(handoff)} if directory.of(handoff) else {}),
    }
    return json.dumps(body, indent=1, sort_keys=True) + "\n"
