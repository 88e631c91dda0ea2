"""A fabric as a picture (SVG): units of nodes at the bottom, then leaves, spines and cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from clusterwright.plan.wiring.cables import Switch, Wiring
from clusterwright.plan.wiring.design import PoolLeaves

_WIDTH, _MOST, _BOX, _ROW = 1400, 32, 34, 130
_FILL = {"unit": "#eef2f7", "leaf": "#d7e8d4", "spine": "#f6e3c5", "core": "#f3d3d3"}


@dataclass(frozen=True, slots=True)
class _Box:
    name: str
    words: str
    level: str
    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def svg(wiring: Wiring, title: str) -> str:
    """The picture's text. Above 32 on a level, the first and the last stand for all."""
    rows = [*_levels(wiring), _units(wiring)]
    height = _ROW * (len(rows) - 1) + 60 + _BOX + 20
    placed = [list(_placed(row, 60 + _ROW * number)) for number, row in enumerate(rows)]
    by_name = {box.name: box for row in placed for box in row}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="20" y="30" font-size="18">{escape(title)}</text>',
        *_lines(wiring, by_name),
        *(part for row in placed for box in row for part in _drawn(box)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _levels(wiring: Wiring) -> Iterator[list[tuple[str, str, str]]]:
    for level in ("core", "spine", "leaf"):
        found = [switch for switch in wiring.switches if switch.level == level]
        if found:
            yield _some([(switch.name, _at(switch), level) for switch in found])


def _at(switch: Switch) -> str:
    return f"{switch.spot.rack} U{switch.spot.unit}" if switch.spot else switch.model.model


def _units(wiring: Wiring) -> list[tuple[str, str, str]]:
    return _some([row for pool in wiring.design.pools for row in _units_of(wiring, pool)])


def _units_of(wiring: Wiring, pool: PoolLeaves) -> Iterator[tuple[str, str, str]]:
    sizes: dict[int, int] = {}
    for own, unit in wiring.units.values():
        if own == pool.pool:
            sizes[unit] = sizes.get(unit, 0) + 1
    for unit, count in sorted(sizes.items()):
        yield f"{pool.pool}-unit-{unit + 1:02d}", f"{count} nodes", "unit"


def _some(row: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    if len(row) <= _MOST:
        return row
    left_out = len(row) - _MOST + 1
    return [*row[: _MOST - 2], ("", f"{left_out} more", row[0][2]), row[-1]]


def _placed(row: Sequence[tuple[str, str, str]], y: float) -> Iterator[_Box]:
    step = (_WIDTH - 40) / len(row)
    width = min(step - 6, 150)
    for place, (name, words, level) in enumerate(row):
        yield _Box(name, words, level, 20 + place * step + (step - width) / 2, y, width)


def _lines(wiring: Wiring, boxes: dict[str, _Box]) -> Iterator[str]:
    """One line for all cables between two boxes, thicker where they are many."""
    counted: dict[tuple[str, str], int] = {}
    for cable in wiring.cables:
        below = cable.lower.device
        if cable.lower.card:
            pool, unit = wiring.units[below]
            below = f"{pool}-unit-{unit + 1:02d}"
        pair = (below, cable.upper.device)
        counted[pair] = counted.get(pair, 0) + 1
    for (below, above), count in counted.items():
        if below in boxes and above in boxes:
            low, high = boxes[below], boxes[above]
            yield (
                f'<line x1="{low.middle:.0f}" y1="{low.y:.0f}" x2="{high.middle:.0f}" '
                f'y2="{high.y + _BOX:.0f}" '
                f'stroke="#7a8794" stroke-width="{min(4, 0.6 + count / 12):.1f}" stroke-opacity="0.6">'
                f"<title>{escape(below)} to {escape(above)}: {count} cables</title></line>"
            )


def _drawn(box: _Box) -> Iterator[str]:
    size = min(11, box.width / max(6, len(box.name), len(box.words)) * 1.7)
    yield (
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{_BOX}" rx="3" '
        f'fill="{_FILL[box.level]}" stroke="#5b6670"/>'
    )
    for text, y in ((box.name, 14), (box.words, 27)):
        if text:
            yield (
                f'<text x="{box.middle:.0f}" y="{box.y + y:.0f}" font-size="{size:.1f}" text-anchor="middle">'
                f"{escape(text)}</text>"
            )
