"""Racks as a picture (SVG): rooms with their rows, every rack from the front, and what its PDUs carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from clusterwright.plan.floor.model import Floor, Limits, Placed, RackPlan, Watts
from clusterwright.plan.floor.power import kw, pdu_loads, site_watts, watts, worst_loads

_WIDTH, _IN_LINE = 1400, 17
_STEP, _RACK, _UNIT = 80, 72, 9
_PDU = 13
_BAR = 600
_POOLS = ("#d7e8d4", "#cfe0f3", "#f6e3c5", "#e6d9f0", "#d5ecec", "#f3d3d3", "#ece7c8", "#dde3ea")
"""Fills of pools and devices, in the order in which they come."""
_SWITCH, _EDGE, _LOAD, _OVER = "#c3ccd6", "#5b6670", "#9db8a0", "#e58f84"


def svg(floors: Iterable[Floor], title: str) -> str:
    """The picture's text."""
    parts: list[str] = []
    y = 56.0
    for floor in floors:
        drawn = _Drawing(floor, y)
        parts += drawn.parts()
        y = drawn.y
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y:.0f}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{y:.0f}" fill="white"/>',
        f'<text x="20" y="30" font-size="18">{escape(title)}</text>',
    )
    return "\n".join([*head, *parts, "</svg>"]) + "\n"


class _Drawing:
    """One site. `y` is where the next thing begins."""

    def __init__(self, floor: Floor, y: float) -> None:
        self.floor, self.y = floor, y
        groups = dict.fromkeys(
            (one.kind.group, one.kind.model)
            for rack in floor.racks.values()
            for one in rack.placed
            if one.kind.sort != "switch"
        )
        self.fills = {group: _POOLS[at % len(_POOLS)] for at, (group, _) in enumerate(groups)}
        self.models = dict(list(groups))

    def parts(self) -> list[str]:
        floor = self.floor
        parts = [*self._key(), *self._sum(f"site {floor.site}", site_watts(floor), floor, 15)]
        if not floor.rooms:
            return [*parts, *self._racks(list(floor.racks.values()))]
        for name, room in floor.rooms.items():
            parts += self._sum(f"room {name}", watts(floor.of(name)), room, 15)
            for row, one in room.rows.items():
                racks = list(floor.of(name, row))
                parts += [*self._sum(f"row {row}", watts(racks), one, 12), *self._racks(racks)]
        return parts

    def _sum(self, of: str, found: Watts, limits: Limits, size: int) -> Iterator[str]:
        """What is drawn in words, and as a bar where there is a limit."""
        self.y += size + 9
        words = escape(_words(of, found, limits))
        yield f'<text x="20" y="{self.y - 6:.0f}" font-size="{size}">{words}</text>'
        if limits.power_limit:
            full = 0.9 * _BAR / max(limits.power_limit, found.known)
            fill = _OVER if found.known > limits.power_limit else _LOAD
            top, at = self.y - 6 - size * 0.85, _WIDTH - 20 - _BAR
            yield (
                f'<rect x="{at}" y="{top:.1f}" width="{found.known * full:.1f}" height="{size}" '
                f'fill="{fill}"/>'
                f'<rect x="{at}" y="{top:.1f}" width="{limits.power_limit * full:.1f}" height="{size}" '
                f'fill="none" stroke="{_EDGE}"/>'
            )

    def _key(self) -> Iterator[str]:
        x = 20.0
        named = {group: own if own == group else f"{group}: {own}" for group, own in self.models.items()}
        for group, words in {**named, "": "switches"}.items():
            fill = self.fills.get(group, _SWITCH)
            width = 36 + 6.4 * len(words)
            if x + width > _WIDTH - 20:
                x, self.y = 20.0, self.y + 18
            yield (
                f'<rect x="{x:.0f}" y="{self.y - 10:.0f}" width="12" height="12" fill="{fill}" '
                f'stroke="{_EDGE}"/>'
                f'<text x="{x + 17:.0f}" y="{self.y:.0f}" font-size="11">{escape(words)}</text>'
            )
            x += width
        self.y += 18
        words = "PDUs: what each carries, and with another feed gone, of what it can, in kW"
        yield f'<text x="20" y="{self.y:.0f}" font-size="11">{words}</text>'
        self.y += 6

    def _racks(self, racks: list[RackPlan]) -> Iterator[str]:
        for first in range(0, len(racks), _IN_LINE):
            line = racks[first : first + _IN_LINE]
            top = max(rack.top for rack in line)
            pdus = max(len(rack.like.pdus) for rack in line)
            for place, rack in enumerate(line):
                yield from self._rack(rack, 20.0 + place * _STEP, top)
            self.y += top * _UNIT + 34 + pdus * _PDU + 14

    def _rack(self, rack: RackPlan, x: float, top: int) -> Iterator[str]:
        bottom = self.y + 16 + top * _UNIT
        height = rack.top * _UNIT
        yield _text(x + _RACK / 2, self.y + 11, 11, rack.name)
        yield (
            f'<rect x="{x:.0f}" y="{bottom - height:.0f}" width="{_RACK}" height="{height}" '
            f'fill="#fafbfc" stroke="{_EDGE}"/>'
        )
        for one in rack.placed:
            if one.unit:
                yield from self._device(one, x, bottom)
        yield _text(x + _RACK / 2, bottom + 12, 10, _drawn(watts([rack])))
        now, worst = pdu_loads(rack), worst_loads(rack)
        for place, pdu in enumerate(rack.like.pdus):
            limit = rack.like.pdus[pdu].limit
            yield from _pdu(pdu, now[pdu], worst[pdu], limit, x, bottom + 17 + place * _PDU)

    def _device(self, one: Placed, x: float, bottom: float) -> Iterator[str]:
        fill = _SWITCH if one.kind.sort == "switch" else self.fills[one.kind.group]
        top = bottom - ((one.unit or 1) + one.kind.units - 1) * _UNIT
        height = one.kind.units * _UNIT
        drawn = "watts unknown" if one.kind.watts is None else kw(one.kind.watts)
        yield (
            f'<rect x="{x + 2:.0f}" y="{top:.0f}" width="{_RACK - 4}" height="{height}" fill="{fill}" '
            f'stroke="{_EDGE}" stroke-width="0.6"><title>{escape(one.name)}: {escape(one.kind.model)}, '
            f"unit {one.unit}, {drawn}</title></rect>"
        )
        size = min(9.0, height - 2, (_RACK - 8) / max(4, len(one.name)) * 1.75)
        yield _text(x + _RACK / 2, top + height / 2 + size * 0.35, size, one.name)


def _pdu(name: str, now: int, worst: int, limit: int, x: float, y: float) -> Iterator[str]:
    """Dark: what it carries. Light: what comes to it when another feed fails."""
    full = _RACK / max(limit, worst)
    fill = _OVER if worst > limit else _LOAD
    yield (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{worst * full:.1f}" height="{_PDU - 2}" fill="{fill}" '
        f'fill-opacity="0.45"/><rect x="{x:.0f}" y="{y:.0f}" width="{now * full:.1f}" height="{_PDU - 2}" '
        f'fill="{fill}"/><rect x="{x:.0f}" y="{y:.0f}" width="{limit * full:.1f}" height="{_PDU - 2}" '
        f'fill="none" stroke="{_EDGE}" stroke-width="0.6"><title>PDU {escape(name)}: {kw(now)}, '
        f"{kw(worst)} when another feed fails, of {kw(limit)}</title></rect>"
    )
    yield _text(
        x + _RACK / 2, y + 8.5, 7.5, f"{name} {now / 1000:.3g}/{worst / 1000:.3g} of {limit / 1000:.3g}"
    )


def _text(x: float, y: float, size: float, words: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.1f}" font-size="{size:.1f}" text-anchor="middle">{escape(words)}</text>'


def _drawn(found: Watts) -> str:
    return kw(found.known) + (f" + {found.unknown}?" if found.unknown else "")


def _words(of: str, found: Watts, limits: Limits) -> str:
    unknown = f", and {found.unknown} devices of unknown draw" if found.unknown else ""
    power = f" of {kw(limits.power_limit)}" if limits.power_limit else ""
    cooled = f", cooled for {kw(limits.cooling_limit)}" if limits.cooling_limit else ""
    return f"{of}: {kw(found.known)}{power}{unknown}{cooled}"
