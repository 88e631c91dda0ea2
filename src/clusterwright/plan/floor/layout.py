"""From a description to what stands in each rack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clusterwright.plan.floor.model import Floor, Kind, Placed, RackPlan
from clusterwright.plan.outline import SINGLE_SITE, Outline
from clusterwright.plan.wiring import Switch, Unbuildable, design, switches_of
from clusterwright.plan.wiring.design import wired_pools
from clusterwright.plan.wiring.racks import node_spots
from clusterwright.spec.floor import Rack
from clusterwright.spec.nodeset import expand
from clusterwright.spec.site import OnpremSite


def floors(outline: Outline) -> Iterator[Floor]:
    """The floor of every site of own machines."""
    for name, site in outline.sites.items():
        if isinstance(site, OnpremSite):
            yield _Builder(outline, name, site).made()


@dataclass
class _Builder:
    outline: Outline
    name: str
    site: OnpremSite
    racks: dict[str, RackPlan] = field(default_factory=dict)
    unknown: list[Placed] = field(default_factory=list)
    homeless: list[tuple[Kind, int]] = field(default_factory=list)
    twice: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def path(self) -> str:
        return "site" if self.name == SINGLE_SITE and self.outline.spec.site else f"sites.{self.name}"

    def made(self) -> Floor:
        self._rooms()
        for pool in self.outline.spec.pools:
            if self.outline.site_names[pool] == self.name:
                self._pool(pool)
        self._switches()
        self._devices()
        return Floor(
            self.name,
            self.path,
            self.site.power_limit,
            self.site.cooling_limit,
            self.site.feeds,
            self.site.rooms,
            self.racks,
            tuple(self.unknown),
            tuple(self.homeless),
            tuple(self.twice),
        )

    def _rooms(self) -> None:
        for name, room in self.site.rooms.items():
            for row, described in room.rows.items():
                like = described.rack.over(room.rack) if described.rack else room.rack
                for rack in _expanded(described.racks):
                    if rack in self.racks:
                        self.twice.append((rack, name, row))
                    else:
                        self.racks[rack] = RackPlan(rack, like, name, row)

    def _pool(self, pool: str) -> None:
        wanted = self.outline.spec.pools[pool]
        racks = wanted.racks
        kind = Kind(
            sort="node",
            group=pool,
            model=wanted.machine,
            watts=self.outline.watts(pool),
            units=(racks.units if racks else None) or 1,
            plugs=tuple(racks.plugs) if racks else (),
            path=f"pools.{pool}.racks",
            racks=f"pools.{pool}.racks.names",
        )
        spots = node_spots(self.outline, pool)
        for node, spot in spots.items():
            self._put(Placed(node, kind, spot.rack, spot.unit))
        if missing := self.outline.count(pool) - len(spots):
            self.homeless.append((kind, missing))

    def _switches(self) -> None:
        switches, pools = self.outline.spec.fabric.switches, list(wired_pools(self.outline))
        if switches is None or not pools or self.outline.site_names[pools[0][0]] != self.name:
            return
        kinds: dict[str, Kind] = {}
        homeless: dict[str, int] = {}
        for switch in _designed(self.outline):
            if switch.level not in kinds:
                kinds[switch.level] = Kind(
                    sort="switch",
                    group=switch.level,
                    model=switch.model.model,
                    watts=switches.power or switch.model.watts,
                    units=switch.model.rack_units,
                    plugs=tuple(switches.racks.plugs) if switches.racks else (),
                    path="fabric.switches.racks",
                    racks="fabric.switches.racks.names",
                )
            if switch.spot:
                self._put(Placed(switch.name, kinds[switch.level], switch.spot.rack, switch.spot.unit))
            else:
                homeless[switch.level] = homeless.get(switch.level, 0) + 1
        self.homeless += [(kinds[level], count) for level, count in homeless.items()]

    def _devices(self) -> None:
        for name, device in self.site.devices.items():
            path = f"{self.path}.devices.{name}"
            kind = Kind(
                "device",
                name,
                name,
                device.power,
                device.units,
                tuple(device.plugs),
                path,
                f"{path}.racks",
            )
            for rack in _expanded(device.racks):
                self._put(Placed(f"{name}-{rack}", kind, rack, device.unit))

    def _put(self, placed: Placed) -> None:
        if placed.rack not in self.racks:
            if self.site.rooms:
                self.unknown.append(placed)
                return
            self.racks[placed.rack] = RackPlan(placed.rack, Rack())
        self.racks[placed.rack].placed.append(placed)


def _designed(outline: Outline) -> tuple[Switch, ...]:
    try:
        made = design(outline)
    except Unbuildable:
        return ()
    return switches_of(outline, made) if made else ()


def _expanded(names: str) -> list[str]:
    """Names in their order; each once, also where the set has one twice."""
    try:
        return expand(names)
    except ValueError:
        return []
