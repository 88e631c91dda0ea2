"""Roles of a node → what all nodes like it have."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clusterwright.bundle import generated, shares, signing
from clusterwright.bundle.archives import taken
from clusterwright.bundle.built import nccl_tests
from clusterwright.bundle.collection import digest
from clusterwright.bundle.facts import facts, roles_of, stack_of, treatments, values
from clusterwright.bundle.packages import held_by, packages_of, packages_of_roles
from clusterwright.bundle.repositories import package_format
from clusterwright.bundle.role import Facts, Role, holds, roles
from clusterwright.bundle.wanted import Kind, WantedDirectory, WantedFile, WantedUnit
from clusterwright.catalog.distributions import distribution
from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile

_PRESET = "/etc/systemd/system-preset/10-clusterwright.preset"
_PEOPLE = "users"


@dataclass(frozen=True, slots=True)
class _Roles:
    """The Ansible roles of a node, in order, and what they ask of it."""

    known: Facts
    managed: Sequence[Role]
    observed: Sequence[Role]
    kept: Sequence[Role]
    """What the site keeps itself, observed or not."""


class Kinds:
    """What each kind of node has, from the rows of its roles."""

    def __init__(
        self,
        handoff: Handoff,
        files: tuple[NodeFile, ...],
        keys: Mapping[str, str],
        attachments: Mapping[str, str],
    ) -> None:
        """`keys` are hashes by path on the node; `attachments` is text by path or address."""
        self._handoff, self._files = handoff, files
        self._keys, self._attachments = keys, attachments

    def of(self, node: Node) -> Kind:
        site = self._roles(node)
        left = {file.path for file in self._brought(node, site.known, site.kept, set())}
        people: tuple[str, ...] = ()
        if _PEOPLE in {role.name for role in site.kept}:
            people = tuple(user.name for user in generated.people(self._handoff))
            left |= {file.path for file in generated.authorized_keys(self._handoff)}
        managed, observed = self._managed(node, site), self._observed(node, site)
        return replace(managed, observed=observed, left_files=tuple(sorted(left)), left_people=people)

    def installed(self, node: Node) -> Mapping[str, Any]:
        """Components of the lock that some role of the node installs."""
        site, stack = self._roles(node), stack_of(self._handoff, node)
        taken = _components(site.managed, stack, site.known)
        return {name: row for name, row in stack.items() if name in taken}

    def _roles(self, node: Node) -> _Roles:
        known, how = facts(self._handoff, node), treatments(self._handoff, node)
        managed, kept = roles_of(self._handoff, node, known)
        return _Roles(known, managed, [role for role in kept if how[role.name] == "observe"], kept)

    def _managed(self, node: Node, site: _Roles) -> Kind:
        """What roles bring that are clusterwright's to keep, with all that stands for the whole node."""
        known, applied = site.known, site.managed
        units = tuple(self._units(node, site))
        active = {unit.name for unit in units if unit.active}
        named, installed = {role.name for role in applied}, self.installed(node)
        early = (
            *generated.attached(self._handoff, self._attachments),
            *generated.vendors(self._handoff, node, self._ours(node, site), self._attachments),
            *generated.modules(installed),
            *signing.files(self._handoff, installed, self._attachments),
        )
        rendered = (file for file in self._files if file.is_for(node))
        generic = (
            *rendered,
            *(generated.authorized_keys(self._handoff) if _PEOPLE in named else ()),
            *generated.started_with(self._handoff, active),
            *generated.started_with_versions(installed),
        )
        files = [placed(file, active) for file in generic]
        files += [placed(file, active, early=True) for file in early]
        files += self._brought(node, known, applied, active)
        files.append(preset(units))
        people = generated.people(self._handoff) if _PEOPLE in named else ()
        return Kind(
            roles=tuple(role.name for role in applied),
            files=tuple(sorted(files, key=_path)),
            directories=_directories(known, applied),
            units=units,
            packages=packages_of(self._handoff, node, known, applied),
            held=held_by(installed, package_format(self._handoff)),
            package_format=package_format(self._handoff),
            users=(*generated.system_users(self._handoff), *people),
            accounting=generated.accounting(self._handoff) if "slurm_database" in named else None,
            roles_digest=digest(),
            archives=taken(self._handoff, self._handoff.hardware[node.machine].architecture, installed),
            nccl_tests=nccl_tests(self._handoff, node, installed),
        )

    def _observed(self, node: Node, site: _Roles) -> Kind | None:
        """What roles would bring that the site keeps itself, and whose difference it wants to hear of."""
        if not site.observed:
            return None
        known, watched = site.known, site.observed
        units = tuple(unit for role in watched for unit in self._units_of(role, node, known))
        active = {unit.name for unit in units if unit.active}
        watches_people = _PEOPLE in {role.name for role in watched}
        return Kind(
            roles=tuple(role.name for role in watched),
            files=tuple(sorted(self._brought(node, known, watched, active), key=_path)),
            directories=_directories(known, watched),
            units=units,
            packages=tuple(sorted(packages_of_roles(self._handoff, node, known, watched))),
            held=(),
            package_format=package_format(self._handoff),
            users=generated.people(self._handoff) if watches_people else (),
            accounting=None,
            roles_digest="",
        )

    def _ours(self, node: Node, site: _Roles) -> Mapping[str, Any]:
        """The lock of a node without what only roles take that the site keeps itself."""
        stack = stack_of(self._handoff, node)
        taken = _components(site.managed, stack, site.known)
        kept = _components(site.kept, stack, site.known) - taken
        return {name: row for name, row in stack.items() if name not in kept}

    def _brought(
        self, node: Node, known: Facts, applied: Sequence[Role], active: set[str]
    ) -> list[WantedFile]:
        """Files that these roles place."""
        template = next(role for role in roles() if role.name == "shared_home")
        filled = values(self._handoff, node)
        found: list[WantedFile] = []
        for role in applied:
            found += (placed(file, active) for file in shares.unit_files(self._handoff, node, role, template))
            found += (placed(file, active) for file in shares.client_files(self._handoff, node, role))
            found += self._role_files(role, known, filled, active)
            found += self._secrets(role, node)
        return found

    def _role_files(
        self, role: Role, known: Facts, filled: Mapping[str, object], active: set[str]
    ) -> Iterator[WantedFile]:
        for row in role.files:
            if not holds(_when(row), known):
                continue
            settings = {key: row[key] for key in ("owner", "group") if key in row}
            mode, affects = int(row.get("mode", "0644"), 8), tuple(row.get("affects", ()))
            if row.get("key"):
                yield _key_file(row, self._keys[row["path"]], mode, _present(affects, active))
            else:
                text = role.text(row["source"], filled)
                file = NodeFile(row["path"], text, (), mode=mode, affects=affects, **settings)
                yield placed(file, active, early=bool(row.get("early")))

    def _secrets(self, role: Role, node: Node) -> Iterator[WantedFile]:
        for path in shares.key_files(self._handoff, node, role):
            yield WantedFile(path, 0o400, "root", "root", self._keys[path], None, ())

    def _units(self, node: Node, site: _Roles) -> Iterator[WantedUnit]:
        """Every unit that packages bring is run by a role of this node, left to the site, or switched off."""
        named: set[str] = set()
        for role in site.kept:
            named.update(name for _, services in self._services(role, node, site.known) for name in services)
            named.update(row["name"] for row in role.units)
        for role in site.managed:
            rows = self._services(role, node, site.known)
            left = {name for row, services in rows if _treats(row, "left") for name in services}
            units = self._units_of(role, node, site.known)
            yield from (unit for unit in units if unit.name not in named)
            named.update(left, (unit.name for unit in units))
        for service in sorted(self.switchable() - named):
            yield WantedUnit(service, "base", False, False)

    def _units_of(self, role: Role, node: Node, known: Facts) -> list[WantedUnit]:
        rows = self._services(role, node, known)
        brought = [name for row, services in rows if _treats(row, "run") for name in services]
        units = [WantedUnit(name, role.name, True, True) for name in sorted(brought, key=starting_order)]
        before: list[WantedUnit] = []
        for row in role.units:
            if holds(_when(row), known):
                on = row.get("enabled", True), row.get("active", True)
                own = WantedUnit(row["name"], role.name, *on)
                (before if row.get("before_mounts") else units).append(own)
        mounts = shares.mounts(self._handoff, node, role.mounts)
        return [*before, *(WantedUnit(mount.unit, role.name, True, True) for mount in mounts), *units]

    def _services(
        self, role: Role, node: Node, known: Facts
    ) -> list[tuple[Mapping[str, Any], Sequence[str]]]:
        """What a role's parts and components bring to a node, each with its row."""
        parts = distribution(self._handoff.software["distribution"]).parts
        stack = stack_of(self._handoff, node)
        return [
            *((row, parts[row["name"]].services) for row in role.parts if holds(_when(row), known)),
            *((row, stack[row["name"]]["services"]) for row in role.components_in(stack, known)),
        ]

    def switchable(self) -> set[str]:
        """Services that packages bring and that only some nodes run."""
        parts = distribution(self._handoff.software["distribution"]).parts
        stacks = self._handoff.software["stacks"].values()
        locked = {service for stack in stacks for row in stack.values() for service in row["services"]}
        carried = {service for name, part in parts.items() if name != "base" for service in part.services}
        return carried | locked


def preset(units: Iterable[WantedUnit]) -> WantedFile:
    """A machine made from an image goes through systemd's presets at its first boot."""
    text = "".join(
        f"disable {_full_name(unit.name)}\n" for unit in units if unit.role == "base" and not unit.enabled
    )
    return placed(NodeFile(_PRESET, text, ()), (), early=True)


def _full_name(unit: str) -> str:
    return unit if "." in unit else f"{unit}.service"


def _treats(row: Mapping[str, Any], how: str) -> bool:
    """A part's services are `run` (the default), `left` to a unit of the role's own, or `off`."""
    return bool(row.get("services", "run") == how)


def starting_order(service: str) -> int:
    return 0 if service in ("munge", "mariadb") else 1


def _when(row: Mapping[str, Any]) -> Mapping[str, Any]:
    when: Mapping[str, Any] = row.get("when", {})
    return when


def _present(affects: tuple[str, ...], active: Iterable[str]) -> tuple[str, ...]:
    return tuple(affected for affected in affects if affected.rpartition(":")[0] in active)


def placed(file: NodeFile, active: Iterable[str], *, early: bool = False) -> WantedFile:
    return WantedFile(
        path=file.path,
        mode=file.mode,
        owner=file.owner,
        group=file.group,
        sha256=hashlib.sha256(file.content.encode()).hexdigest(),
        content=file.content,
        affects=_present(file.affects, active),
        early=early,
    )


def _key_file(row: Mapping[str, Any], sha256: str, mode: int, affects: tuple[str, ...]) -> WantedFile:
    return WantedFile(row["path"], mode, row["owner"], row["group"], sha256, None, affects)


def _directories(known: Facts, applied: Iterable[Role]) -> tuple[WantedDirectory, ...]:
    rows = (row for role in applied for row in role.directories if holds(_when(row), known))
    return tuple(sorted(map(_directory, rows), key=_path))


def _path(row: WantedFile | WantedDirectory) -> str:
    return row.path


def _components(applied: Iterable[Role], stack: Mapping[str, Any], known: Facts) -> set[str]:
    """Those of the lock that these roles take."""
    return {row["name"] for role in applied for row in role.components_in(stack, known)}


def _directory(row: Mapping[str, Any]) -> WantedDirectory:
    mode = int(row.get("mode", "0755"), 8)
    return WantedDirectory(row["path"], mode, row.get("owner", "root"), row.get("group", "root"))
