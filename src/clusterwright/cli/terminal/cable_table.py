"""A fabric in numbers, and the ports of one device."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from clusterwright.catalog.switch_ports import port_name
from clusterwright.cli.terminal.table import print_table
from clusterwright.plan.wiring import Cable, Wiring

_LEVELS = ("leaf", "spine", "core")


def print_fabric(wiring: Wiring) -> None:
    """To standard output: a line for each level, and what the whole is worth."""
    rows = [_level(wiring, level) for level in _LEVELS[: wiring.design.levels]]
    print_table(("LEVEL", "SWITCHES", "MODEL", "DOWN", "UP", "IN RACKS"), rows)
    joined = Counter(_kind(wiring, cable) for cable in wiring.cables)
    print(f"\n{len(wiring.cables):,} cables: " + ", ".join(f"{n:,} {kind}" for kind, n in joined.items()))
    print(_worth(wiring))


def as_json(wiring: Wiring) -> dict[str, Any]:
    """The fabric for a program: switches, and each cable with both ends."""
    return {
        "levels": wiring.design.levels,
        "oversubscription": wiring.design.ratio,
        "switches": [
            {"name": one.name, "level": one.level, "model": one.model.model, **_spot(wiring, one.name)}
            for one in wiring.switches
        ],
        "cables": [_cable(wiring, cable) for cable in wiring.cables],
    }


def print_ports(wiring: Wiring, device: str, *, as_json: bool) -> None:
    """What is in each port of one device, by its number."""
    mine = [cable for cable in wiring.cables if device in (cable.lower.device, cable.upper.device)]
    if as_json:
        print(json.dumps([_cable(wiring, cable) for cable in mine], indent=1))
        return
    pairs = [(c.lower, c.upper, c) if c.lower.device == device else (c.upper, c.lower, c) for c in mine]
    rows = []
    for own, other, cable in sorted(pairs, key=lambda pair: pair[0].port):
        model = wiring.by_name[device].model if device in wiring.by_name else None
        called = port_name(model, wiring.system, own.port) or model.label(own.port) if model else own.card
        rows.append((str(own.port), called or "", wiring.place(other), f"{cable.gbps}G"))
    print_table(("PORT", "PRINTED" if device in wiring.by_name else "CARD", "TO", "SPEED"), rows)


def _level(wiring: Wiring, level: str) -> tuple[str, ...]:
    switches = [switch for switch in wiring.switches if switch.level == level]
    names = {switch.name for switch in switches}
    down = Counter(c.upper.device for c in wiring.cables if c.upper.device in names)
    up = Counter(c.lower.device for c in wiring.cables if c.lower.device in names)
    racks = sorted({switch.spot.rack for switch in switches if switch.spot})
    most_down, most_up = max(down.values(), default=0), max(up.values(), default=0)
    return level, str(len(switches)), switches[0].model.model, str(most_down), str(most_up), " ".join(racks)


def _kind(wiring: Wiring, cable: Cable) -> str:
    below = "node" if cable.lower.card else wiring.by_name[cable.lower.device].level
    return f"{below} to {wiring.by_name[cable.upper.device].level}"


def _worth(wiring: Wiring) -> str:
    made = wiring.design
    pools = ", ".join(
        f"{pool.pool}: {pool.units} unit{'s' if pool.units > 1 else ''} of {pool.nodes_per_leaf} nodes, "
        f"{pool.rails} rail{'s' if pool.rails > 1 else ''}"
        for pool in made.pools
    )
    blocking = "non-blocking" if made.ratio <= 1 else f"oversubscribed {made.ratio:.3g} to 1"
    return f"{pools}; {blocking}"


def _cable(wiring: Wiring, cable: Cable) -> dict[str, Any]:
    return {
        "from": {
            **_end(cable.lower.device, cable.lower.port, cable.lower.card),
            **_spot(wiring, cable.lower.device),
        },
        "to": {**_end(cable.upper.device, cable.upper.port, None), **_spot(wiring, cable.upper.device)},
        "gbps": cable.gbps,
    }


def _end(device: str, port: int, card: str | None) -> dict[str, Any]:
    return {"device": device, "port": port, "card": card}


def _spot(wiring: Wiring, device: str) -> dict[str, Any]:
    spot = wiring.spot(device)
    return {"rack": spot.rack if spot else None, "unit": spot.unit if spot else None}
