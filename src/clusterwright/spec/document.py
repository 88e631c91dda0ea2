"""What a text holds, before anyone asks what it means: plain values and the place of each."""

from __future__ import annotations

from dataclasses import dataclass, field

from clusterwright.finding import Finding, Where

Path = tuple[str | int, ...]
"""Keys and list positions from the root of the document down to a value."""


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, counted from 1."""

    line: int
    column: int


@dataclass(slots=True)
class Document:
    """What a text holds: `places` of values (of a collection, its key) and of `keys`."""

    file: str
    value: object = None
    places: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def where(self, path: Path, key: bool = False) -> Where:
        """The place of a value (or of its key), or of the nearest thing around it that is written down."""
        for end in range(len(path), -1, -1):
            place = (self.keys if key else self.places).get(path[:end]) or self.places.get(path[:end])
            if place:
                return Where(self.file, place.line, place.column, dotted(path))
        return Where(self.file, 1, 1, dotted(path))


def dotted(path: Path) -> str:
    """`pools.gpu.count`. Printable and short even where a key is neither."""
    return ".".join(_line(str(part), 255) for part in path)


def shown(value: object) -> str:
    """A value as a message may quote it: one line, printable, short."""
    return _line(f"'{value}'" if isinstance(value, str) else str(value), 60)


def _line(text: str, limit: int) -> str:
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return text if text.isprintable() else "".join(one if one.isprintable() else "·" for one in text)
