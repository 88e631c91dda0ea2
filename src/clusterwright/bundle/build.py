"""Hand-off and rendered files → what each node should be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clusterwright.bundle import generated, shares, signing
from clusterwright.bundle.collection import INSTALL, digest
from clusterwright.bundle.facts import facts, stack_of, values
from clusterwright.bundle.packages import held_by, packages_of
from clusterwright.bundle.repositories import package_format
from clusterwright.bundle.role import Facts, Role, holds, roles
from clusterwright.bundle.wanted import Image, Kind, Wanted, WantedDirectory, WantedFile, WantedUnit
from clusterwright.catalog.distributions import distribution
from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile

_PRESET = "/etc/systemd/system-preset/10-clusterwright.preset"
NODE_JSON = "/etc/clusterwright/node.json"


class Bundle:
    """All of a cluster's nodes. Nodes of the same kind share everything but their own files."""

    def __init__(
        self,
        handoff: Handoff,
        files: Iterable[NodeFile],
        keys: Mapping[str, bytes],
        attachments: Mapping[str, str] | None = None,
    ) -> None:
        """`keys` by path on the node; `attachments` is the text of each file in `generated.attachments`.

        Beside them are vendors' keys, by their address.
        """
        self._handoff = handoff
        self._files = tuple(files)
        self._keys = {path: hashlib.sha256(key).hexdigest() for path, key in keys.items()}
        self._attachments = attachments or {}
        self._kinds: dict[tuple[object, ...], Kind] = {}
        self._node_json: dict[tuple[object, ...], str] = {}
        self._steps: dict[str, tuple[tuple[str, str, str], ...]] = {}
        self._server = shares.file_server(handoff)

    def wanted(self, node: Node) -> Wanted:
        kind = self._kind(node)
        key = (*self._key(node), node.machine)
        if key not in self._node_json:
            units = tuple(unit.name for unit in kind.units if unit.active)
            self._node_json[key] = generated.node_json(self._handoff, node, units, self._installed(node))
        text = self._node_json[key].replace(generated.NODE, node.name)
        if node.pool not in self._steps:
            self._steps[node.pool] = generated.steps(self._handoff, node, self._attachments)
        own = (_file(NodeFile(NODE_JSON, text, ()), ()),)
        return Wanted(node.name, kind, own, self._steps[node.pool])

    def all(self) -> Mapping[str, Wanted]:
        return {node.name: self.wanted(node) for node in self._handoff.nodes}

    def images(self) -> tuple[Image, ...]:
        """One for every node, unless the lock has a package in two versions; then as few as serve all."""
        members: dict[int, list[str]] = {}
        for node in self._handoff.nodes:
            members.setdefault(id(self._kind(node)), []).append(node.name)
        groups: list[list[Kind]] = []
        for kind in (self._kind(node) for node in self._representatives()):
            fitting = next((group for group in groups if _agree([*group, kind])), None)
            if fitting is None:
                groups.append([kind])
            else:
                fitting.append(kind)
        return tuple(
            Image(self._image(group), tuple(name for kind in group for name in members[id(kind)]))
            for group in groups
        )

    def _image(self, kinds: Sequence[Kind]) -> Kind:
        """A machine with the packages of these kinds of node, early files, and every unit off."""
        files = {file.path: file for kind in kinds for file in kind.files if file.early}
        brought = self._switchable() & {unit.name for kind in kinds for unit in kind.units}
        unwanted = {unit.name for kind in kinds for unit in kind.units if not unit.active}
        off = tuple(WantedUnit(unit, "base", False, False) for unit in sorted(brought | unwanted))
        files[_PRESET] = _preset(off)
        return Kind(
            roles=("base",),
            files=tuple(files[path] for path in sorted(files)),
            directories=(),
            units=off,
            packages=tuple(sorted({package for kind in kinds for package in kind.packages})),
            held=tuple(sorted({package for kind in kinds for package in kind.held})),
            package_format=package_format(self._handoff),
            users=(),
            accounting=None,
            roles_digest=digest(INSTALL),
        )

    def _representatives(self) -> Iterator[Node]:
        seen = set()
        for node in self._handoff.nodes:
            if (key := self._key(node)) not in seen:
                seen.add(key)
                yield node

    def _key(self, node: Node) -> tuple[object, ...]:
        return node.roles, node.pool, node.name == self._server

    def _installed(self, node: Node) -> Mapping[str, Any]:
        """Components of the lock that some role of the node takes."""
        known, stack = facts(self._handoff, node), stack_of(self._handoff, node)
        applied = (role for role in roles() if holds(role.applies, known))
        taken = {row["name"] for role in applied for row in role.components_in(stack, known)}
        return {name: row for name, row in stack.items() if name in taken}

    def _kind(self, node: Node) -> Kind:
        key = self._key(node)
        if key not in self._kinds:
            self._kinds[key] = self._make(node)
        return self._kinds[key]

    def _make(self, node: Node) -> Kind:
        known = facts(self._handoff, node)
        applied = [role for role in roles() if holds(role.applies, known)]
        units = tuple(self._units(node, known, applied))
        active = {unit.name for unit in units if unit.active}
        named, installed = {role.name for role in applied}, self._installed(node)
        early = (
            *generated.attached(self._handoff, self._attachments),
            *generated.vendors(self._handoff, node, self._attachments),
            *generated.modules(installed),
            *signing.files(self._handoff, installed, self._attachments),
        )
        rendered = (file for file in self._files if set(file.roles) & set(node.roles))
        generic = (
            *rendered,
            *generated.authorized_keys(self._handoff),
            *self._shares(node, applied),
            *generated.started_with(self._handoff, active),
            *generated.started_with_versions(installed),
        )
        files = [_file(file, active) for file in generic]
        files += [_file(file, active, early=True) for file in early]
        filled = values(self._handoff, node)
        files += [file for role in applied for file in self._role_files(role, known, filled, active)]
        files += [file for role in applied for file in self._secrets(role, node)]
        files.append(_preset(units))
        rows = (row for role in applied for row in role.directories if holds(_when(row), known))
        return Kind(
            roles=tuple(role.name for role in applied),
            files=tuple(sorted(files, key=lambda file: file.path)),
            directories=tuple(sorted(map(_directory, rows), key=lambda row: row.path)),
            units=units,
            packages=packages_of(self._handoff, node, known, applied),
            held=held_by(installed, package_format(self._handoff)),
            package_format=package_format(self._handoff),
            users=generated.users(self._handoff),
            accounting=generated.accounting(self._handoff) if "slurm_database" in named else None,
            roles_digest=digest(),
        )

    def _shares(self, node: Node, applied: list[Role]) -> Iterator[NodeFile]:
        template = next(role for role in roles() if role.name == "shared_home")
        for role in applied:
            yield from shares.unit_files(self._handoff, node, role, template)
            yield from shares.client_files(self._handoff, node, role)

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
                yield _file(file, active, early=bool(row.get("early")))

    def _secrets(self, role: Role, node: Node) -> Iterator[WantedFile]:
        for path in shares.key_files(self._handoff, node, role):
            yield WantedFile(path, 0o400, "root", "root", self._keys[path], None, ())

    def _units(self, node: Node, known: Facts, applied: list[Role]) -> Iterator[WantedUnit]:
        """Every unit that packages bring is either run by a role of this node or switched off."""
        named: set[str] = set()
        for role in applied:
            rows = list(self._services(role, node, known))
            left = {name for row, services in rows if _treats(row, "left") for name in services}
            brought = [name for row, services in rows if _treats(row, "run") for name in services]
            units = [WantedUnit(name, role.name, True, True) for name in sorted(brought, key=_starting_order)]
            before: list[WantedUnit] = []
            for row in role.units:
                if holds(_when(row), known):
                    on = row.get("enabled", True), row.get("active", True)
                    own = WantedUnit(row["name"], role.name, *on)
                    (before if row.get("before_mounts") else units).append(own)
            mounts = shares.mounts(self._handoff, node, role.mounts)
            units = [*before, *(WantedUnit(mount.unit, role.name, True, True) for mount in mounts), *units]
            yield from (unit for unit in units if unit.name not in named)
            named.update(left, (unit.name for unit in units))
        for service in sorted(self._switchable() - named):
            yield WantedUnit(service, "base", False, False)

    def _services(
        self, role: Role, node: Node, known: Facts
    ) -> Iterator[tuple[Mapping[str, Any], Sequence[str]]]:
        """What a role's parts and components bring to a node, each with its row."""
        parts = distribution(self._handoff.software["distribution"]).parts
        stack = stack_of(self._handoff, node)
        for row in role.parts:
            if holds(_when(row), known):
                yield row, parts[row["name"]].services
        for row in role.components_in(stack, known):
            yield row, stack[row["name"]]["services"]

    def _switchable(self) -> set[str]:
        """Services that packages bring and that only some nodes run."""
        parts = distribution(self._handoff.software["distribution"]).parts
        stacks = self._handoff.software["stacks"].values()
        locked = {service for stack in stacks for row in stack.values() for service in row["services"]}
        carried = {service for name, part in parts.items() if name != "base" for service in part.services}
        return carried | locked


def _agree(kinds: Iterable[Kind]) -> bool:
    """Whether no package is locked to two versions."""
    locked = {package for kind in kinds for package in kind.packages if "=" in package}
    return len({package.partition("=")[0] for package in locked}) == len(locked)


def _preset(units: Iterable[WantedUnit]) -> WantedFile:
    """A machine made from an image goes through systemd's presets at its first boot."""
    text = "".join(
        f"disable {_full_name(unit.name)}\n" for unit in units if unit.role == "base" and not unit.enabled
    )
    return _file(NodeFile(_PRESET, text, ()), (), early=True)


def _full_name(unit: str) -> str:
    return unit if "." in unit else f"{unit}.service"


def _treats(row: Mapping[str, Any], how: str) -> bool:
    """A part's services are `run` (the default), `left` to a unit of the role's own, or `off`."""
    return bool(row.get("services", "run") == how)


def _starting_order(service: str) -> int:
    return 0 if service in ("munge", "mariadb") else 1


def _when(row: Mapping[str, Any]) -> Mapping[str, Any]:
    when: Mapping[str, Any] = row.get("when", {})
    return when


def _present(affects: tuple[str, ...], active: Iterable[str]) -> tuple[str, ...]:
    return tuple(affected for affected in affects if affected.rpartition(":")[0] in active)


def _file(file: NodeFile, active: Iterable[str], *, early: bool = False) -> WantedFile:
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


def _directory(row: Mapping[str, Any]) -> WantedDirectory:
    mode = int(row.get("mode", "0755"), 8)
    return WantedDirectory(row["path"], mode, row.get("owner", "root"), row.get("group", "root"))
