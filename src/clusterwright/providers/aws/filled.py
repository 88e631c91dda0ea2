"""The hand-off with what only AWS knows, and only when it has made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clusterwright.handoff import loads
from clusterwright.plan.shares import NOT_YET


def filled(handoff: str, file_systems: Mapping[str, str]) -> str:
    """With the names of Lustre file systems by mount point."""
    document = loads(handoff)
    storage = {
        **document.storage,
        "shares": _named(document.storage["shares"], file_systems),
        **(
            {"sites": {site: _named(rows, file_systems) for site, rows in document.storage["sites"].items()}}
            if "sites" in document.storage
            else {}
        ),
    }
    return replace(document, storage=storage).dumps()


def _named(shares: Mapping[str, Any], file_systems: Mapping[str, str]) -> Mapping[str, Any]:
    return {
        mount: {**row, "file_system": file_systems[mount]} if _waits(row) and mount in file_systems else row
        for mount, row in shares.items()
    }


def _waits(row: Mapping[str, Any] | None) -> bool:
    return row is not None and row.get("file_system") == NOT_YET
