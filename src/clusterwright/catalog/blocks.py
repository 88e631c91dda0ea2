"""How long before its end a Capacity Block of Amazon EC2 has no machines any more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """Of one family of machine types, or of all (`*`)."""

    family: str
    minutes: int
    source: str
    date: str


@cache
def block_ends() -> tuple[BlockEnd, ...]:
    return tuple(
        BlockEnd(row["family"], int(row["minutes"]), row["source"], row["date"]) for row in rows("block_ends")
    )


def minutes_early(machine: str) -> int:
    """For a machine type such as `p5.48xlarge`."""
    known = {row.family: row.minutes for row in block_ends()}
    return known.get(machine.partition(".")[0], known["*"])
