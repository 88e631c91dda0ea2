"""A store as a folder: objects first, the pointer last; what nothing points at is taken away afterwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterwright.bundle import index
from clusterwright.bundle import pointer as pointers
from clusterwright.bundle.pointer import Pointer, Reference
from clusterwright.operate.home import write_atomically
from clusterwright.operate.pull.signing import signed_by


@dataclass(frozen=True)
class Store:
    """The objects of one cluster, where its nodes find them."""

    folder: Path
    url: str
    authority: str | None
    """The certificate that vouches for the address, where machines trust none that does."""

    def pointer(self, key: str) -> Pointer | None:
        """What nodes are pointed at, when it is there and this key signed it."""
        try:
            text = signed_by((self.folder / "current.json").read_text(), key, pointers.NAMESPACE)
            return pointers.loads(text) if text else None
        except (OSError, ValueError):
            return None

    def point(self, envelope: str) -> None:
        write_atomically(self.folder / "current.json", envelope)

    def put(self, digest: str, content: bytes) -> None:
        if not (self.folder / "objects" / digest).exists():
            write_atomically(self.folder / "objects" / digest, content)

    def take(self, digest: str, file: Path) -> None:
        """A file of this machine as an object."""
        target = self.folder / "objects" / digest
        if not target.exists():
            partial = target.with_name(f".{digest}")
            shutil.copyfile(file, partial)
            partial.rename(target)

    def get(self, reference: Reference) -> Any:
        return json.loads((self.folder / "objects" / reference.sha256).read_text())

    def keep_only(self, digests: Iterable[str]) -> None:
        kept = set(digests)
        for file in (self.folder / "objects").iterdir():
            if file.name not in kept:
                file.unlink(missing_ok=True)

    def forget_all_but(self, nodes: Iterable[str]) -> None:
        """Nodes that are gone leave neither secrets nor words."""
        kept = set(nodes)
        for file in (*(self.folder / "secrets").iterdir(), *(self.folder / "reports").iterdir()):
            if file.name not in kept:
                file.unlink(missing_ok=True)

    def node(self, name: str, pointer: Pointer | None) -> Mapping[str, Any] | None:
        """What is published for a node."""
        if pointer is None:
            return None
        try:
            reference = index.find(name, self._index(pointer), self.get)
            found: Mapping[str, Any] | None = self.get(reference) if reference else None
        except (OSError, ValueError, KeyError):
            return None
        return found

    def _index(self, pointer: Pointer) -> Reference:
        return Reference(**self.get(pointer.tree)["index"])

    def secret(self, node: str) -> Path:
        return self.folder / "secrets" / node

    def report(self, node: str) -> str:
        """As the node left it; empty when it left none."""
        try:
            return (self.folder / "reports" / node).read_text()
        except OSError:
            return ""
