"""What makes an Ethernet fabric lossless for RoCE, as data: for a document, never pushed to a switch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows

NODES = "nodes"
"""In place of a switch's system: what cards are told, by their family."""
NEEDED = {
    "trust": "trust of DSCP, and its map to queues",
    "pfc": "priority flow control",
    "ecn": "thresholds of ECN",
    "buffer": "memory for what is paused",
}
"""Without one of them a fabric drops under load, or pauses more than it must."""
TITLES = NEEDED | {"check": "how to look at it"}


@dataclass(frozen=True, slots=True)
class LosslessSetting:
    """One thing to set under a system. No lines: it is so by itself, or by lines of another topic."""

    system: str
    topic: str
    why: str
    lines: tuple[str, ...]
    source: str
    date: str


@cache
def lossless_settings() -> tuple[LosslessSetting, ...]:
    return tuple(
        LosslessSetting(
            system=row["system"],
            topic=row["topic"],
            why=row["why"],
            lines=tuple(row["lines"].splitlines()),
            source=row["source"],
            date=row["date"],
        )
        for row in rows("lossless")
    )


def settings_of(system: str) -> tuple[LosslessSetting, ...]:
    return tuple(setting for setting in lossless_settings() if setting.system == system)


def untold(system: str) -> tuple[str, ...]:
    """What no source tells of a system, in words."""
    told = {setting.topic for setting in settings_of(system)}
    return tuple(words for topic, words in NEEDED.items() if topic not in told)
