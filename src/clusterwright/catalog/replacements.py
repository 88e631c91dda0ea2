"""What a change of a property of a cloud's resource means: it lives on, or another takes its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class Changes:
    """Of one type of resource. Properties as Pulumi spells them; one stands for all that is within it."""

    replace: frozenset[str]
    update: frozenset[str]
    source: str
    date: str

    def replaces(self, path: str) -> bool:
        """Raises KeyError for a property of which no row tells; the longest one that fits decides."""
        parts = path.split(".")
        for length in range(len(parts), 0, -1):
            name = ".".join(parts[:length])
            if name in self.replace or name in self.update:
                return name in self.replace
        raise KeyError(path)


@cache
def replacements() -> Mapping[str, Changes]:
    """By type."""
    return {
        row["type"]: Changes(
            frozenset(row["replace"].split()), frozenset(row["update"].split()), row["source"], row["date"]
        )
        for row in rows("replacements")
    }


@cache
def stops() -> Mapping[str, frozenset[str]]:
    """By type of machine, the properties whose change stops it and starts it again."""
    return {row["type"]: frozenset(row["properties"].split()) for row in rows("stops")}
