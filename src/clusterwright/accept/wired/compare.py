"""A fabric as it is described against the one that answers: a finding for each cable that is not as drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from clusterwright.accept.wired.discovered import BY_LLDP, Discovered, Link, Port, switch_name
from clusterwright.accept.wired.identify import identify
from clusterwright.accept.wired.port_states import MEANING, PortStates
from clusterwright.finding import Finding, Severity, Where
from clusterwright.plan.wiring import Cable, End, Wiring


def compare(
    wiring: Wiring,
    found: Discovered,
    states: PortStates | None = None,
    looked_at: Collection[str] | None = None,
) -> list[Finding]:
    """Everything that differs, by device and port. `states` tell why a port has no link.

    Nothing is said to be missing between devices that are not `looked_at`; None means all of them.
    """
    everything = {*wiring.nodes, *wiring.by_name}
    looked = frozenset(everything if looked_at is None else everything & set(looked_at))
    return _Comparison(wiring, found, states or {}, looked).findings()


class _Comparison:
    def __init__(
        self, wiring: Wiring, found: Discovered, states: PortStates, looked_at: frozenset[str]
    ) -> None:
        self._wiring, self._found, self._states, self._looked_at = wiring, found, states, looked_at
        self._cables = {Port.of(cable.lower): cable for cable in wiring.cables}
        self._lower_of = {Port.of(cable.upper): cable.lower for cable in wiring.cables}
        self._is = identify(wiring, found)
        cards = {
            Port(lower.device, 0, f"HCA-{cable.lower.port}"): lower for lower, cable in self._cables.items()
        }
        self._links = {
            self._known(port, cards): link._replace(to=self._known(link.to, cards))
            for port, link in found.links.items()
        }
        named = {name: guid for name, guid in found.switches.items() if name not in self._is}
        self._guids = named | {name: self._guid(called) for called, name in self._is.items()}
        self._told: set[Port] = set()

    def findings(self) -> list[Finding]:
        gone = self._seen_from_where_we_looked() - (self._found.nodes | self._guids.keys())
        found = [*self._names(), *(self._absent(device) for device in sorted(gone))]
        for lower, cable in self._cables.items():
            if not {cable.lower.device, cable.upper.device} & gone and lower not in self._told:
                found += self._cable(lower, cable)
        return [*found, *self._undescribed()]

    def _seen_from_where_we_looked(self) -> frozenset[str]:
        """Devices of which something would be heard if all were as described."""
        ends = ({cable.lower.device, cable.upper.device} for cable in self._cables.values())
        near = (pair for pair in ends if pair & self._looked_at)
        return self._looked_at.union(*near)

    def _known(self, port: Port, cards: Mapping[Port, Port]) -> Port:
        """Cards that an older driver calls `HCA-3`, and switches that their cables tell, by their names."""
        if port.card:
            return cards.get(port, port)
        return port._replace(device=self._is[port.device]) if port.device in self._is else port

    def _names(self) -> Iterator[Finding]:
        said = self._found.unnamed | {called: called for called in self._is if called in self._found.switches}
        times = Counter(map(switch_name, said.values()))
        for called, words in sorted(said.items()):
            name = self._is.get(called)
            if name == switch_name(words):
                continue
            what = f"a switch with {self._found.known_by} {self._guid(called)} calls itself '{words}'"
            what += (
                f"; by its cables it is {self._at(name)}"
                if name
                else ", as no switch of the description does"
            )
            remedy = f"Name it {name}" if name else "Name it as the description does, or describe it"
            code = "CW6108" if times[switch_name(words)] > 1 else "CW6107"
            yield Finding(code, Where(path=called), what, remedy)

    def _guid(self, called: str) -> str:
        known = self._found.switches.get(called) or self._found.ids.get(called)
        return known or called.removeprefix(f"{self._found.known_by} ")

    def _at(self, device: str) -> str:
        spot = self._wiring.spot(device)
        return f"{device} ({spot})" if spot else device

    def _absent(self, device: str) -> Finding:
        kind = "switch" if device in self._wiring.by_name else "node"
        what = f"the {kind} {self._at(device)} does not answer on any of its ports"
        remedy = "Look whether it has power, and what its first cable shows"
        if self._found.known_by == BY_LLDP:
            remedy += ", and whether it announces itself by LLDP"
        return Finding("CW6104", Where(path=device), what, remedy)

    def _cable(self, lower: Port, cable: Cable) -> Iterator[Finding]:
        link = self._links.get(lower)
        wanted = Port.of(cable.upper)
        if link is None:
            if {cable.lower.device, cable.upper.device} & self._looked_at:
                yield self._no_link(lower, cable)
        elif link.to != wanted:
            yield self._misplaced(lower, cable, link)
        elif link.gbps is not None and link.gbps < cable.gbps:
            yield self._slow(cable, link)

    def _misplaced(self, lower: Port, cable: Cable, link: Link) -> Finding:
        where, wanted, seen = self._place(cable.lower), self._place(cable.upper), self._seen(link.to)
        harmless = link.to.device == cable.upper.device and not cable.lower.card
        other = self._lower_of.get(link.to)
        back = self._links.get(Port.of(other)) if other else None
        if other and back and back.to == Port.of(cable.upper):
            self._told.add(Port.of(other))
            harmless = harmless and other.device == lower.device
            what = f"the cables of {where} and {self._place(other)} are swapped: "
            what += f"the first is in {seen}, the second in {wanted}"
        else:
            what = f"the cable of {where} is in {seen}, and should be in {wanted}"
        severity = Severity.WARNING if harmless else Severity.ERROR
        return _finding("CW6101", cable.lower, what, _SAME if harmless else "Move it", severity)

    def _no_link(self, lower: Port, cable: Cable) -> Finding:
        there = self._links.get(Port.of(cable.upper))
        what = f"there is no link from {self._place(cable.lower)} to {self._place(cable.upper)}"
        if there and there.to != lower:
            what += f"; {self._seen(there.to)} is in that port"
        causes = [self._state(end) for end in (cable.lower, cable.upper)]
        what += "".join(f"; {cause}" for cause in causes if cause)
        return _finding(
            "CW6102", cable.lower, what, "Look for a missing or loose cable, or a dead transceiver"
        )

    def _state(self, end: End) -> str:
        guid = self._guids.get(end.device, "")
        state = self._states.get((guid, end.port), "")
        return f"{end} is {state}: {MEANING[state]}" if state in MEANING else ""

    def _slow(self, cable: Cable, link: Link) -> Finding:
        ends = f"{self._place(cable.lower)} to {self._place(cable.upper)}"
        words = f"{link.words}, " if link.words else ""
        what = f"the link from {ends} runs at {words}{link.gbps} Gbit/s of {cable.gbps}"
        remedy = (
            "Clean or exchange the cable or its transceivers; look at the speeds that both ports are allowed"
        )
        return _finding("CW6103", cable.lower, what, remedy)

    def _undescribed(self) -> Iterator[Finding]:
        """Links whose ends are no lower end of a cable: what hangs where nothing should."""
        nameless = self._found.unnamed.keys()
        for port, link in sorted(self._links.items(), key=lambda pair: pair[0]):
            ends = {port, link.to}
            if port > link.to or ends & self._cables.keys() or {end.device for end in ends} & nameless:
                continue
            what = f"{self._seen(port)} is joined to {self._seen(link.to)}, and no such cable is described"
            remedy = "Describe what hangs there, or take the cable out"
            yield Finding("CW6105", Where(path=str(port)), what, remedy, Severity.WARNING)

    def _place(self, end: End) -> str:
        return self._wiring.place(end)

    def _seen(self, port: Port) -> str:
        return f"{port}{self._wiring.about(port.device, port.port)}"


_SAME = "Move it when you are there: it joins the same two switches, so nothing runs slower"


def _finding(code: str, end: End, what: str, remedy: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code, Where(path=str(end)), what, remedy, severity)
