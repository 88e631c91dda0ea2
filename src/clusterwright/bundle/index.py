"""Where a node finds its own object: an index split by the hash of names, so that no node reads all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from clusterwright.bundle.pointer import Reference

LEAF = 32
"""So many nodes stand in one object before it is split by the next hexadecimal digit."""

Put = Callable[[bytes], Reference]
"""Adds an object, and says what it is known by."""


def write(nodes: Mapping[str, Reference], put: Put, depth: int = 0) -> Reference:
    """The root of an index of these nodes: the same nodes, the same objects."""
    if len(nodes) <= LEAF:
        rows = {name: asdict(nodes[name]) for name in sorted(nodes)}
        return put(encoded({"nodes": rows}))
    parts: dict[str, dict[str, Reference]] = {}
    for name, reference in nodes.items():
        parts.setdefault(place(name)[depth], {})[name] = reference
    split = {digit: asdict(write(parts[digit], put, depth + 1)) for digit in sorted(parts)}
    return put(encoded({"split": split}))


def find(name: str, root: Reference, get: Callable[[Reference], Any]) -> Reference | None:
    """The object of one node, as a node itself finds it."""
    index, depth = get(root), 0
    while "split" in index:
        row = index["split"].get(place(name)[depth])
        if row is None:
            return None
        index, depth = get(Reference(**row)), depth + 1
    row = index["nodes"].get(name)
    return Reference(**row) if row else None


def place(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def encoded(document: object) -> bytes:
    return json.dumps(document, sort_keys=True).encode()
