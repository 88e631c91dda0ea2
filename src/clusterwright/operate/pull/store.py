"""A store: objects first, the pointer last; what nothing points at is taken away afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from clusterwright.bundle import index
from clusterwright.bundle import pointer as pointers
from clusterwright.bundle.pointer import Pointer, Reference
from clusterwright.operate.pull.signing import signed_by

_POINTER, _OBJECTS, _SECRETS, _REPORTS = "current.json", "objects", "secrets", "reports"
_NAMES = "names"
"""By ID of a machine of a group."""
PROOF = "cluster.gates"
"""The report on the cluster as a whole; no node is called so."""
_AT_ONCE = 16


class Shelf(Protocol):
    """What holds the files of a store: a folder, or a bucket. Names are like `objects/SHA256`."""

    @property
    def pause(self) -> float:
        """Seconds between two looks at what nodes reported."""

    def read(self, name: str) -> bytes | None:
        """None where there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Readers see the old content or the new."""

    def take(self, name: str, file: Path) -> None:
        """A copy of a file of this machine, as `write`."""

    def versions(self, folder: str) -> Mapping[str, str]:
        """Of the files in a folder such as `objects`: name there → what changes with its content."""

    def remove(self, name: str) -> None:
        """One that is not there is removed already."""


@dataclass(frozen=True)
class Store:
    """The objects of one cluster, where its nodes find them."""

    shelf: Shelf
    url: str
    authority: str | None = None
    """The certificate that vouches for the address, where machines trust none that does."""

    def pointer(self, key: str) -> Pointer | None:
        """What nodes are pointed at, when it is there and this key signed it."""
        try:
            text = signed_by(self._text(_POINTER), key, pointers.NAMESPACE)
            return pointers.loads(text) if text else None
        except ValueError:
            return None

    def point(self, envelope: str) -> None:
        self.shelf.write(_POINTER, envelope.encode())

    def put(self, objects: Mapping[str, bytes], files: Mapping[str, Path]) -> None:
        """Objects by their digests, from memory and from this machine's files; those that are there stay."""
        there = self.shelf.versions(_OBJECTS)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            made = [pool.submit(self._put, name, objects[name]) for name in sorted({*objects} - {*there})]
            made += [pool.submit(self._take, name, files[name]) for name in sorted({*files} - {*there})]
        for one in made:
            one.result()

    def get(self, reference: Reference) -> Any:
        """Raises ValueError where it is not there, or is no JSON."""
        return json.loads(self._text(f"{_OBJECTS}/{reference.sha256}"))

    def keep_only(self, digests: Iterable[str]) -> None:
        self._keep_only(_OBJECTS, digests)

    def forget_all_but(self, nodes: Iterable[str]) -> None:
        """Nodes that are gone leave neither secrets nor words."""
        kept = set(nodes)
        self._keep_only(_SECRETS, kept)
        self._keep_only(_REPORTS, {*kept, PROOF})

    def node(self, name: str, pointer: Pointer | None) -> Mapping[str, Any] | None:
        """What is published for a node."""
        if pointer is None:
            return None
        try:
            reference = index.find(name, self._index(pointer), self.get)
            found: Mapping[str, Any] | None = self.get(reference) if reference else None
        except (ValueError, KeyError):
            return None
        return found

    def secret(self, node: str) -> bytes | None:
        """A node's secrets, encrypted to it."""
        return self.shelf.read(f"{_SECRETS}/{node}")

    def hide(self, node: str, encrypted: bytes) -> None:
        self.shelf.write(f"{_SECRETS}/{node}", encrypted)

    def hidden(self) -> set[str]:
        """Nodes that have secrets here."""
        return set(self.shelf.versions(_SECRETS))

    def named(self) -> set[str]:
        """Machines that were given a name."""
        return set(self.shelf.versions(_NAMES))

    def name(self, machine: str) -> str:
        """As it was signed; empty where the machine has none."""
        return self._text(f"{_NAMES}/{machine}")

    def give_name(self, machine: str, envelope: str) -> None:
        self.shelf.write(f"{_NAMES}/{machine}", envelope.encode())

    def forget_names_but(self, machines: Iterable[str]) -> None:
        self._keep_only(_NAMES, machines)

    def reported(self) -> Mapping[str, str]:
        """Nodes that left a report → what changes with it."""
        return self.shelf.versions(_REPORTS)

    def report(self, node: str) -> str:
        """As the node left it; empty when it left none."""
        return self._text(f"{_REPORTS}/{node}")

    def _put(self, digest: str, content: bytes) -> None:
        self.shelf.write(f"{_OBJECTS}/{digest}", content)

    def _take(self, digest: str, file: Path) -> None:
        self.shelf.take(f"{_OBJECTS}/{digest}", file)

    def _text(self, name: str) -> str:
        return (self.shelf.read(name) or b"").decode(errors="replace")

    def _index(self, pointer: Pointer) -> Reference:
        return Reference(**self.get(pointer.tree)["index"])

    def _keep_only(self, folder: str, kept: Iterable[str]) -> None:
        for name in sorted({*self.shelf.versions(folder)} - set(kept)):
            self.shelf.remove(f"{folder}/{name}")
