"""An Ethernet fabric as its devices announce themselves to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from clusterwright.accept.wired.discovered import BY_LLDP, Discovered, Link, Port
from clusterwright.accept.wired.identify import identify
from clusterwright.accept.wired.neighbours import Heard, Neighbour
from clusterwright.catalog.switch_ports import port_numbers
from clusterwright.plan.wiring import Wiring


def announced(wiring: Wiring, heard: Mapping[str, Heard]) -> Discovered:
    """What the devices of `heard` are joined to. Not of a node's other interfaces."""
    return _Announced(wiring, heard).fabric()


def fabric_interfaces(wiring: Wiring) -> dict[str, list[str]]:
    """What each node is described to call its cards on the fabric."""
    found: dict[str, list[str]] = {}
    for cable in wiring.cables:
        if cable.lower.card:
            found.setdefault(cable.lower.device, []).append(cable.lower.card)
    return found


class _Announced:
    def __init__(self, wiring: Wiring, heard: Mapping[str, Heard]) -> None:
        self._wiring, self._heard = wiring, heard
        self._interfaces = {node: set(cards) for node, cards in fabric_interfaces(wiring).items()}
        self._found = Discovered(known_by=BY_LLDP)

    def fabric(self) -> Discovered:
        rows = [*self._rows()]
        chassis = {neighbour.chassis: _short(neighbour.name) for _, _, neighbour in rows}
        times = Counter(chassis.values())
        called = {
            identifier: self._called(identifier, name, times[name]) for identifier, name in chassis.items()
        }
        for device, interface, neighbour in rows:
            self._join(device, interface, neighbour, called[neighbour.chassis])
        for device in self._heard:
            (self._found.nodes.add if device in self._wiring.nodes else self._answered)(device)
        self._leave_strangers()
        return self._found

    def _rows(self) -> Iterator[tuple[str, str, Neighbour]]:
        """Of several that are heard on one cable, the one that the description knows."""
        known = {*self._wiring.nodes, *self._wiring.by_name}
        for device, heard in sorted(self._heard.items()):
            for interface, neighbours in sorted(heard.neighbours.items()):
                if self._of_fabric(device, interface) and neighbours:
                    named = [one for one in neighbours if _short(one.name) in known]
                    yield device, interface, (named or neighbours)[0]

    def _of_fabric(self, device: str, interface: str) -> bool:
        if device in self._wiring.nodes:
            return interface in self._interfaces.get(device, ())
        return bool(self._number(device, interface))

    def _number(self, switch: str, name: str) -> int:
        return port_numbers(self._wiring.by_name[switch].model, self._wiring.system).get(name, 0)

    def _called(self, identifier: str, name: str, times: int) -> str:
        """Its name, unless two have the same, or the description has none like it."""
        if name in self._wiring.nodes:
            self._found.nodes.add(name)
            return name
        if name in self._wiring.by_name and times == 1:
            self._found.switches[name] = identifier
            return name
        called = name if name and times == 1 else f"chassis {identifier}"
        self._found.unnamed[called] = name
        self._found.ids[called] = identifier
        return called

    def _leave_strangers(self) -> None:
        """What has a name of its own and no switch's cables is no switch of the fabric."""
        known = identify(self._wiring, self._found)
        for called, name in list(self._found.unnamed.items()):
            if called == name and called not in known:
                del self._found.unnamed[called]

    def _answered(self, switch: str) -> None:
        self._found.switches.setdefault(switch, "")

    def _join(self, device: str, interface: str, neighbour: Neighbour, called: str) -> None:
        here, there = self._port(device, interface), self._other_end(neighbour, called)
        mbps = self._heard[device].mbps.get(interface)
        gbps = mbps // 1000 if mbps else None
        self._found.links[here] = Link(there, gbps, "")
        back = self._found.links.get(there)
        if back is None or back.gbps is None:
            self._found.links[there] = Link(here, gbps, "")

    def _port(self, device: str, interface: str) -> Port:
        if device in self._wiring.nodes:
            return Port(device, 0, interface)
        return Port(device, self._number(device, interface))

    def _other_end(self, neighbour: Neighbour, called: str) -> Port:
        if called in self._wiring.nodes:
            cards = self._interfaces.get(called, set())
            named = [name for name in (neighbour.port, neighbour.description) if name in cards]
            return Port(called, 0, (named or [neighbour.description or neighbour.port])[0])
        for name in (neighbour.port, neighbour.description):
            number = self._number_on(called, name)
            if number:
                return Port(called, number)
        return Port(called, 0, neighbour.port)

    def _number_on(self, called: str, name: str) -> int:
        """A switch that tells no name of the description's has ports like the others."""
        if called in self._wiring.by_name:
            return self._number(called, name)
        numbers = {self._number(switch, name) for switch in self._one_of_each_model()}
        return numbers.pop() if len(numbers) == 1 else 0

    def _one_of_each_model(self) -> list[str]:
        return [*{switch.model.model: switch.name for switch in self._wiring.switches}.values()]


def _short(name: str) -> str:
    return name.partition(".")[0]
