"""A wiring as ibsim's net file, with what somebody did to the cables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clusterwright.catalog.switches import infiniband_speeds
from clusterwright.plan.wiring import Wiring

Plug = tuple[str, int]
"""An ibsim node and its port. A card is a node of its own there, as it is for InfiniBand."""


@dataclass
class Wire:
    """What a cable joins, and how fast."""

    a: Plug
    b: Plug
    speed: str


class Fabric:
    """The cables of a wiring, to be changed before they are written."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        names = {gbps: name for name, gbps in infiniband_speeds().items()}
        self.ports = {switch.name: switch.model.ports for switch in wiring.switches}
        self.said = {name: f"MF0;{name}:{s.model.model.upper()}/U1" for name, s in wiring.by_name.items()}
        self.wires: list[Wire] = []
        for cable in wiring.cables:
            lower = (f"{cable.lower.device} {cable.lower.card}", 1) if cable.lower.card else None
            if lower:
                self.ports.setdefault(lower[0], 1)
            ends = lower or (cable.lower.device, cable.lower.port), (cable.upper.device, cable.upper.port)
            self.wires.append(Wire(*ends, names[cable.gbps]))

    def at(self, end: str) -> Wire:
        """The wire in a port, told as `gpu-001 mlx5_0` or `spine-01/3`."""
        device, _, port = end.rpartition("/") if "/" in end else (end, "", "1")
        plug = (device, int(port))
        return next(wire for wire in self.wires if plug in (wire.a, wire.b))

    def swap(self, one: str, other: str) -> None:
        """The upper ends of two cables change places."""
        first, second = self.at(one), self.at(other)
        first.b, second.b = second.b, first.b

    def move(self, one: str, to: str) -> None:
        device, _, port = to.rpartition("/")
        self.at(one).b = (device, int(port))

    def pull(self, one: str) -> None:
        self.wires.remove(self.at(one))

    def slow(self, one: str, speed: str) -> None:
        self.at(one).speed = speed

    def off(self, device: str) -> None:
        """A switch, or a node with all its cards, without power."""
        mine = {name for name in self.ports if name == device or name.startswith(f"{device} ")}
        self.wires = [wire for wire in self.wires if not {wire.a[0], wire.b[0]} & mine]
        for name in mine:
            del self.ports[name]

    def plug(self, name: str, to: str) -> None:
        """A card that nobody described, in a port."""
        self.ports.setdefault(name, 1)
        device, _, port = to.rpartition("/")
        self.wires.append(Wire((name, 1), (device, int(port)), "NDR"))

    def call(self, device: str, said: str) -> None:
        self.said[device] = said

    def text(self) -> str:
        """ibsim begins at the first device, which must be a card: the subnet manager's."""
        joined: dict[str, list[tuple[int, Plug, str]]] = {name: [] for name in self.ports}
        for wire in self.wires:
            for (name, port), peer in ((wire.a, wire.b), (wire.b, wire.a)):
                joined[name].append((port, peer, wire.speed))
        cards = [name for name in self.ports if " " in name]
        return (
            "\n\n".join("\n".join(self._device(name, joined[name])) for name in _cards_first(cards, joined))
            + "\n"
        )

    def _device(self, name: str, links: list[tuple[int, Plug, str]]) -> Iterator[str]:
        kind = "Hca" if " " in name else "Switch"
        yield f'{kind}\t{self.ports[name]} "{_id(name)}"\t\t# "{self.said.get(name, name)}"'
        for port, (peer, peer_port), speed in sorted(links):
            yield f'[{port}]\t"{_id(peer)}"[{peer_port}]\t\t# "{self.said.get(peer, peer)}" lid 0 4x{speed}'


def _id(name: str) -> str:
    return name.replace(" ", ":")


def _cards_first(cards: list[str], joined: dict[str, list[tuple[int, Plug, str]]]) -> Iterable[str]:
    return [*cards, *(name for name in joined if " " not in name)]
