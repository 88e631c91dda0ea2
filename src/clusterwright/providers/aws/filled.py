"""The hand-off with what only AWS knows, and only when it has made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clusterwright.handoff import loads


def filled(handoff: str, file_systems: Mapping[str, str]) -> str:
    """With the names of Lustre file systems by mount point."""
    document = loads(handoff)
    shares = dict(document.storage["shares"])
    for mount, name in file_systems.items():
        shares[mount] = {**shares[mount], "file_system": name}
    return replace(document, storage={**document.storage, "shares": shares}).dumps()
