"""Groups that a cloud keeps at a number of machines, and which of these has which name.

Names are planned, and machines come as they come. Whoever publishes gives each of them a name of its pool,
signed and for good, before it publishes what nodes of these names are to be. A name is free again when its
machine is no member any more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from clusterwright.bundle.pointer import NAME_NAMESPACE
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.pull.signing import Signing, signed_by
from clusterwright.operate.pull.store import Store
from clusterwright.providers.asking import NoAnswer
from clusterwright.spec.nodeset import fold

_AT_ONCE = 16
_Answer = TypeVar("_Answer")


class Crowds(Protocol):
    """The groups of a cloud. What it does not answer is raised as NoAnswer."""

    def members(self, group: str) -> Mapping[str, str]:
        """ID → address of the machines that are there, or are on their way with one."""

    def end(self, machine: str) -> None:
        """Another takes its place only where there are too few."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Those of one cluster."""

    by_pool: Mapping[str, str]
    """Pool → name of its group."""
    crowds: Crowds
    patience: float = 900.0
    pause: float = 10.0

    def members(self, pool: str) -> Mapping[str, str]:
        group = self.by_pool[pool]
        return _answered(group, lambda: self.crowds.members(group))

    def end(self, pool: str, machine: str) -> None:
        _answered(self.by_pool[pool], lambda: self.crowds.end(machine))


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

    def names(self, machines: Mapping[str, str]) -> Mapping[str, str]:
        """Machine → name, of those that have one."""
        unknown = sorted((machines.keys() & self.store.named()) - self._known.keys())
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for machine, name in zip(unknown, pool.map(self._read, unknown), strict=True):
                if name:
                    self._known[machine] = name
        return {machine: self._known[machine] for machine in machines if machine in self._known}

    def give(self, machine: str, name: str) -> None:
        body = {"schema": 1, "cluster": self.cluster, "machine": machine, "node": name}
        self.store.give_name(machine, self.signing.envelope(json.dumps(body, sort_keys=True), NAME_NAMESPACE))
        self._known[machine] = name

    def _read(self, machine: str) -> str | None:
        """One under a key of before is signed anew: machines that come to read it trust the present one."""
        envelope = self.store.name(machine)
        for key in (self.signing.public, *self.signing.revoked):
            text = signed_by(envelope, key, NAME_NAMESPACE)
            if text is not None:
                body = json.loads(text)
                if (body["cluster"], body["machine"]) != (self.cluster, machine):
                    return None
                if key != self.signing.public:
                    self.give(machine, body["node"])
                return str(body["node"])
        return None


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
        named, missing, strays = _look(groups, handoff, register, report)
        if not missing:
            store.forget_names_but(named.machines.values())
            return named
        if time.monotonic() > until:
            raise Refused([_nobody(node, strays, groups.patience) for node in missing])
        report(Event("nodes", "progress", "waits for a machine of its group", fold(missing)))
        time.sleep(groups.pause)


def _look(
    groups: Groups, handoff: Handoff, register: Register, report: Report
) -> tuple[Named, list[str], list[str]]:
    """Who has which name by now, names that nobody has, and machines whose names are not planned."""
    machines: dict[str, str] = {}
    addresses: dict[str, str] = {}
    missing: list[str] = []
    strays: list[str] = []
    for pool in sorted(groups.by_pool):
        planned = [node.name for node in handoff.nodes if node.pool == pool]
        members = groups.members(pool)
        held = _by_name(register.names(members))
        astray = [machine for name, machine in sorted(held.items()) if name not in planned]
        new = sorted(members.keys() - set(held.values()))
        for machine in _too_many(len(members) - len(planned), astray, new):
            groups.end(pool, machine)
            report(Event("nodes", "changed", "ended: its group is to have fewer", machine))
            members = {one: address for one, address in members.items() if one != machine}
        free = [name for name in planned if name not in held]
        coming = [machine for machine in new if machine in members]
        for name, machine in zip(free, coming, strict=False):
            register.give(machine, name)
            held[name] = machine
            report(Event("nodes", "ok", f"is {machine}", name))
        found = {name: held[name] for name in planned if held.get(name) in members}
        machines |= found
        addresses |= {name: members[machine] for name, machine in found.items()}
        missing += [name for name in planned if name not in found]
        strays += [machine for machine in astray if machine in members]
    return Named(machines, addresses), missing, strays


def _too_many(excess: int, astray: list[str], new: list[str]) -> Iterator[str]:
    """Those whose names are not planned any more, then those without one. As many as are too many, never
    more: a pool that is called otherwise ends no machine."""
    yield from [*reversed(astray), *reversed(new)][: max(0, excess)]


def _by_name(names: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for machine, name in sorted(names.items()):
        if name in found:
            what = f"{found[name]} and {machine} were both given this name"
            remedy = f"End one of them, for instance {machine}: its group makes another in its place"
            raise refuse("CW8152", Where(path=name), what, remedy)
        found[name] = machine
    return found


def _nobody(node: str, strays: list[str], patience: float) -> Finding:
    what = f"no machine of its group came for it in {patience:.0f} s"
    remedy = "Look at the group's activities for capacity and quotas; `pulumi up` goes on once it is there"
    if strays:
        what += f", and {', '.join(strays[:8])} have names that are not planned any more"
        remedy = "End these machines, and the group makes others in their place; then run this again"
    return Finding("CW8151", Where(path=node), what, remedy)


def _answered(group: str, ask: Callable[[], _Answer]) -> _Answer:
    try:
        return ask()
    except NoAnswer as error:
        remedy = f"Let these credentials do {error.why.permission}, then run the same command again"
        raise refuse("CW8150", Where(path=group), error.why.words, remedy) from error
