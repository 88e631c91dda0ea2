"""Hand-off and rendered files → what each node should be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clusterwright.bundle import generated, shares
from clusterwright.bundle.built import together
from clusterwright.bundle.collection import INSTALL, digest
from clusterwright.bundle.facts import first_controller
from clusterwright.bundle.kinds import Kinds, placed, preset
from clusterwright.bundle.repositories import package_format
from clusterwright.bundle.wanted import Image, Kind, Wanted, WantedUnit
from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile

NODE_JSON = "/etc/clusterwright/node.json"
_OURS = "clusterwright-"
"""How units begin that no package brings: what is not in an image cannot be started by it."""


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
        self._attachments = attachments or {}
        hashes = {path: hashlib.sha256(key).hexdigest() for path, key in keys.items()}
        self._made = Kinds(handoff, tuple(files), hashes, self._attachments)
        self._kinds: dict[tuple[object, ...], Kind] = {}
        self._node_json: dict[tuple[object, ...], str] = {}
        self._steps: dict[str, tuple[tuple[str, str, str], ...]] = {}
        self._server, self._first_controller = shares.file_server(handoff), first_controller(handoff)

    def wanted(self, node: Node) -> Wanted:
        kind = self._kind(node)
        key = (*self._key(node), node.machine)
        if key not in self._node_json:
            units = tuple(unit.name for unit in kind.units if unit.active)
            self._node_json[key] = generated.node_json(self._handoff, node, units, self._made.installed(node))
        text = self._node_json[key].replace(generated.NODE, node.name)
        if node.pool not in self._steps:
            self._steps[node.pool] = generated.steps(self._handoff, node, self._attachments)
        own = (placed(NodeFile(NODE_JSON, text, ()), ()),)
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
        brought = self._made.switchable() & {unit.name for kind in kinds for unit in kind.units}
        off = (unit for kind in kinds for unit in kind.units if not unit.active)
        unwanted = {unit.name for unit in off if not unit.name.startswith(_OURS)}
        units = tuple(WantedUnit(unit, "base", False, False) for unit in sorted(brought | unwanted))
        file = preset(units)
        files[file.path] = file
        return Kind(
            roles=("base",),
            files=tuple(files[path] for path in sorted(files)),
            directories=(),
            units=units,
            packages=tuple(sorted({package for kind in kinds for package in kind.packages})),
            held=tuple(sorted({package for kind in kinds for package in kind.held})),
            package_format=package_format(self._handoff),
            users=(),
            accounting=None,
            roles_digest=digest(INSTALL),
            archives=tuple(sorted({one for kind in kinds for one in kind.archives})),
            nccl_tests=together(kind.nccl_tests for kind in kinds),
        )

    def _representatives(self) -> Iterator[Node]:
        seen = set()
        for node in self._handoff.nodes:
            if (key := self._key(node)) not in seen:
                seen.add(key)
                yield node

    def _key(self, node: Node) -> tuple[object, ...]:
        return node.roles, node.pool, node.name == self._server, node.name == self._first_controller

    def _kind(self, node: Node) -> Kind:
        key = self._key(node)
        if key not in self._kinds:
            self._kinds[key] = self._made.of(node)
        return self._kinds[key]


def _agree(kinds: Iterable[Kind]) -> bool:
    """Whether no package is locked to two versions."""
    locked = {package for kind in kinds for package in kind.packages if "=" in package}
    return len({package.partition("=")[0] for package in locked}) == len(locked)
