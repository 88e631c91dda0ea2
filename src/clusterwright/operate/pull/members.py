"""Groups that a cloud keeps at a number of machines, and which of these has which name.

Names are planned, and machines come as they come. Whoever publishes gives each of them a name of its pool,
signed and for good, before it publishes what nodes of these names are to be. A name is free again when its
machine is no member any more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from clusterwright.bundle.pointer import NAME_NAMESPACE
from clusterwright.catalog.hardware import Hardware
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.handoff.document import Node
from clusterwright.operate.pull.crowds import Groups, nodes_of
from clusterwright.operate.pull.dealing import deal
from clusterwright.operate.pull.signing import Signing, signed_by
from clusterwright.operate.pull.store import Store
from clusterwright.plan.domains import machines_of_a_domain
from clusterwright.providers.member import Member
from clusterwright.spec.nodeset import fold

_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Named:
    """Machines of groups, by node."""

    machines: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Register:
    """The names in a store: each under the operator's signature, as the machine itself reads it."""

    store: Store
    signing: Signing
    cluster: str
    _known: dict[str, str] = field(default_factory=dict)
    """Machine → name."""

    def names(self, machines: Mapping[str, Member]) -> Mapping[str, str]:
        """Machine → name, of those that have one."""
        there = self.store.named()
        unknown = sorted(one for one in machines.keys() - self._known.keys() if own_id(one) in there)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for machine, name in zip(unknown, pool.map(self._read, unknown), strict=True):
                if name:
                    self._known[machine] = name
        return {machine: self._known[machine] for machine in machines if machine in self._known}

    def give(self, machine: str, name: str) -> None:
        body = {"schema": 1, "cluster": self.cluster, "machine": own_id(machine), "node": name}
        envelope = self.signing.envelope(json.dumps(body, sort_keys=True), NAME_NAMESPACE)
        self.store.give_name(own_id(machine), envelope)
        self._known[machine] = name

    def _read(self, machine: str) -> str | None:
        """One under a key of before is signed anew: machines that come to read it trust the present one."""
        envelope = self.store.name(own_id(machine))
        for key in (self.signing.public, *self.signing.revoked):
            text = signed_by(envelope, key, NAME_NAMESPACE)
            if text is not None:
                body = json.loads(text)
                if (body["cluster"], body["machine"]) != (self.cluster, own_id(machine)):
                    return None
                if key != self.signing.public:
                    self.give(machine, body["node"])
                return str(body["node"])
        return None


def own_id(machine: str) -> str:
    """By which it knows itself: on Google Cloud the number that ends its path."""
    return machine.rpartition("/")[2]


def name_members(
    groups: Groups | None, handoff: Handoff, store: Store, signing: Signing, report: Report
) -> Named:
    """Every node of a group with its machine. Raises Refused with the nodes that no machine came for.

    Killed anywhere, the next call goes on: a name that was given is kept."""
    if groups is None:
        return Named()
    register = Register(store, signing, handoff.name)
    until = time.monotonic() + groups.patience
    while True:
        looks = [_look(groups, key, handoff, register, report) for key in sorted(groups.by_nodes)]
        missing = [node for look in looks for node in look.missing]
        if not missing:
            machines = {name: machine for look in looks for name, machine in look.machines.items()}
            store.forget_names_but(map(own_id, machines.values()))
            return Named(machines, {name: where for look in looks for name, where in look.addresses.items()})
        if time.monotonic() > until:
            raise Refused(_nobody(node, look, groups.patience) for look in looks for node in look.missing)
        report(Event("nodes", "progress", "waits for a machine of its group", fold(missing)))
        time.sleep(groups.pause)


@dataclass(frozen=True, slots=True)
class _Look:
    """At one group."""

    machines: Mapping[str, str]
    """By node."""
    addresses: Mapping[str, str]
    missing: Sequence[str]
    """Names that no machine has."""
    strays: Sequence[str]
    """Machines whose names are not planned."""
    said: Mapping[str, str]
    """What the cloud says of nodes that it has no machine for."""


def _look(groups: Groups, key: str, handoff: Handoff, register: Register, report: Report) -> _Look:
    planned = {node.name: node for node in nodes_of(key, handoff)}
    members = dict(groups.members(key))
    _refuse_strangers(members, planned, handoff)
    held = _by_name(register.names(members))
    astray = [machine for name, machine in sorted(held.items()) if name not in planned]
    new = sorted(members.keys() - set(held.values()))
    gone = [*_not_as_planned(members, planned), *_too_many(members, len(planned), astray, new)]
    if gone:
        groups.end(key, gone)
        for machine in gone:
            report(Event("nodes", "changed", "ended: the description has it no more", machine))
            del members[machine]
    coming = {machine: members[machine] for machine in new if machine in members}
    held = {name: machine for name, machine in held.items() if machine in members and name in planned}
    settled = {name: members[machine] for name, machine in held.items()}
    for name, machine in _dealt(handoff.hardware, planned, settled, coming):
        register.give(machine, name)
        held[name] = machine
        report(Event("nodes", "ok", f"is {machine}", name))
    missing = [name for name in planned if name not in held]
    return _Look(
        {name: held[name] for name in planned if name in held},
        {name: members[held[name]].address for name in planned if name in held},
        missing,
        [machine for machine in astray if machine in members],
        groups.call(key, {name: planned[name].address for name in missing}),
    )


def _dealt(
    hardware: Mapping[str, Hardware],
    planned: Mapping[str, Node],
    held: Mapping[str, Member],
    coming: Mapping[str, Member],
) -> list[tuple[str, str]]:
    trays = max((machines_of_a_domain(hardware[node.machine]) for node in planned.values()), default=0)
    return list(deal(list(planned), held, coming, trays))


def _not_as_planned(members: Mapping[str, Member], planned: Mapping[str, Node]) -> Iterator[str]:
    """Of those that the cloud made as a node, with its address: another description wants others."""
    for machine, member in sorted(members.items()):
        node = planned.get(member.node)
        if member.node and (node is None or member.address != node.address):
            yield machine


def _too_many(members: Mapping[str, Member], wanted: int, astray: list[str], new: list[str]) -> Iterator[str]:
    """Of machines that are alike: those whose names are not planned any more, then those without one. As many
    as are too many, never more: a pool that is called otherwise ends no machine."""
    alike = [one for one in (*reversed(astray), *reversed(new)) if not members[one].node]
    yield from alike[: max(0, len(members) - wanted)]


def _refuse_strangers(members: Mapping[str, Member], planned: Mapping[str, Node], handoff: Handoff) -> None:
    """Who is let in, by file servers and elsewhere, follows from the network of the description."""
    for site in sorted({node.site for node in planned.values()}):
        network = IPv4Network(handoff.site[site]["network"])
        out = [one for one, found in sorted(members.items()) if IPv4Address(found.address) not in network]
        if out:
            what = (
                f"its cloud gave it {members[out[0]].address}, which is not in the nodes' network, {network}"
            )
            if len(out) > 1:
                what += f"; the same is so of {len(out) - 1} more"
            remedy = "Let `network` be the whole subnet that the group makes its machines in"
            raise refuse("CW8154", Where(path=own_id(out[0])), what, remedy)


def _by_name(names: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for machine, name in sorted(names.items()):
        if name in found:
            what = f"{found[name]} and {machine} were both given this name"
            remedy = f"End one of them, for instance {machine}: its group makes another in its place"
            raise refuse("CW8152", Where(path=name), what, remedy)
        found[name] = machine
    return found


def _nobody(node: str, look: _Look, patience: float) -> Finding:
    what = f"no machine of its group came for it in {patience:.0f} s"
    remedy = "Look at the group's activities for capacity and quotas; `pulumi up` goes on once it is there"
    if words := look.said.get(node):
        what += f": {words}"
    if look.strays:
        what += f", and {', '.join(look.strays[:8])} have names that are not planned any more"
        remedy = "End these machines, and the group makes others in their place; then run this again"
    return Finding("CW8151", Where(path=node), what, remedy)
