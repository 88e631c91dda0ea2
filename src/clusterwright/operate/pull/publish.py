"""Publish: what nodes should be, as objects, and the signed pointer to them. Nothing new, nothing written."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clusterwright.bundle import pointer as pointers
from clusterwright.bundle.pointer import Awaited, Pointer, Reference
from clusterwright.bundle.publication import Proving, Publication, Wheels, publish
from clusterwright.bundle.turns import AT_ONCE, InTurn, Order, order
from clusterwright.bundle.wanted import Wanted
from clusterwright.catalog.distributions import distribution
from clusterwright.event import Event, Report
from clusterwright.handoff import Handoff
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome, write_atomically
from clusterwright.operate.offline.store import sha256_of
from clusterwright.operate.pull.secrets import hide
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.pull.store import Store
from clusterwright.operate.pull.wheels import NEEDED, NEEDED_TO_PROVE, wheels


@dataclass
class _Record:
    """What the operator remembers of publications; without it nothing is taken away."""

    file: Path
    serial: int = 0
    objects: list[str] = field(default_factory=list)
    hidden: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, home: ClusterHome) -> _Record:
        file = home.keys / "published.json"
        try:
            body: dict[str, Any] = json.loads(file.read_text())
            return cls(file, body["serial"], body["objects"], body["hidden"])
        except (OSError, ValueError, KeyError):
            return cls(file)

    def write(self) -> None:
        body = {"serial": self.serial, "objects": self.objects, "hidden": self.hidden}
        write_atomically(self.file, json.dumps(body), 0o600)


_Files = Mapping[str, Mapping[str, Path]]
"""Of Python packages, by processor and name."""


def wheels_of(handoff: Handoff, needed: Collection[str] = NEEDED) -> _Files:
    """Without more words, of those that run the roles."""
    python = distribution(handoff.software["distribution"]).runs_roles
    machines = sorted({handoff.hardware[node.machine].architecture for node in handoff.nodes})
    return {machine: wheels(python, machine, needed) for machine in machines}


def referenced(files: Mapping[str, Path]) -> Wheels:
    return Wheels({name: Reference(sha256_of(file), file.stat().st_size) for name, file in files.items()})


def publish_to(
    store: Store,
    desired: Desired,
    host_keys: Mapping[str, str],
    impacts: Mapping[str, str],
    report: Report,
    roll: InTurn | None = None,
) -> Pointer:
    """Bring the store to what is desired of the nodes that are there; returns what nodes are pointed at.

    Without `roll` what is published already stays as it is, in the turns that it was published with; what is
    new holds for all of a pool at the same time.
    """
    signing, record = Signing.of(desired.home), _Record.of(desired.home)
    before = store.pointer(signing.public)
    wanted = {name: desired.wanted[name] for name in sorted(host_keys)}
    files = (wheels_of(desired.handoff), wheels_of(desired.handoff, NEEDED_TO_PROVE))
    roles, proof = ({machine: referenced(rows) for machine, rows in part.items()} for part in files)
    proving = Proving(host_keys, proof)
    vendors = desired.packages([one.kind for one in wanted.values()], report)
    earlier = {name: store.node(name, before) for name in wanted}

    def described(roll: InTurn) -> tuple[Publication, Pointer]:
        publication, turns = Publication(), order_of(desired.handoff, host_keys, roll)
        tree = publish(
            publication,
            desired.handoff,
            wanted,
            roles,
            desired.attachments,
            impacts,
            earlier.__getitem__,
            proving,
            turns,
            vendors.files,
        )
        pointer = _pointer(desired.handoff, wanted, host_keys, tree, signing, turns)
        return publication, replace(pointer, roll=roll, asked=before.asked if before else 0)

    known = before.roll if before else AT_ONCE
    publication, pointer = described(known if roll is None else roll)
    if roll is None and known.width and before and pointer.tree != before.tree:
        publication, pointer = described(AT_ONCE)
    store.forget_all_but(host_keys)
    record.hidden = hide(store, wanted, desired.keys, host_keys, record.hidden)
    if before and before.same_but_serial(pointer):
        record.serial = max(record.serial, before.serial)
        record.write()
        return before
    packages = {sha256_of(file): file for part in files for rows in part.values() for file in rows.values()}
    of_vendors = {file.sha256 for rows in vendors.files.values() for file in rows}
    packages |= {digest: Path(vendors.store / digest) for digest in of_vendors}
    return _publish(store, record, signing, publication, packages, _numbered(pointer, before, record), report)


def order_of(handoff: Handoff, nodes: Iterable[str], roll: InTurn) -> Order:
    """Who waits for whom, of the nodes that are there."""
    there = [handoff.by_name[name] for name in nodes]
    return order({node.name: node.roles for node in there}, {node.name: node.pool for node in there}, roll)


def ask_again(store: Store, home: ClusterHome) -> Pointer | None:
    """Have the cluster proven once more as it is; None where nothing was published yet."""
    signing, record = Signing.of(home), _Record.of(home)
    before = store.pointer(signing.public)
    if before is None:
        return None
    pointer = _numbered(replace(before, asked=before.asked + 1), before, record)
    record.serial = pointer.serial
    record.write()
    store.point(signing.envelope(pointer.dumps(), pointers.NAMESPACE))
    return pointer


def _publish(
    store: Store,
    record: _Record,
    signing: Signing,
    publication: Publication,
    packages: Mapping[str, Path],
    pointer: Pointer,
    report: Report,
) -> Pointer:
    objects = sorted({*publication.objects, *packages})
    store.put(publication.objects, packages)
    # Before the pointer: a serial is never given twice, whatever is killed here.
    record.serial = pointer.serial
    known, record.objects = record.objects, objects
    record.write()
    store.point(signing.envelope(pointer.dumps(), pointers.NAMESPACE))
    if known:
        store.keep_only({*known, *objects})
    report(Event("publish", "changed", f"serial {pointer.serial}, {len(objects)} objects"))
    return pointer


def _numbered(pointer: Pointer, before: Pointer | None, record: _Record) -> Pointer:
    highest = max(record.serial, before.serial if before else 0)
    return replace(pointer, serial=highest + 1)


def _pointer(
    handoff: Handoff,
    wanted: Mapping[str, Wanted],
    host_keys: Mapping[str, str],
    tree: Reference,
    signing: Signing,
    order: Order,
) -> Pointer:
    def awaited(name: str) -> Awaited:
        return Awaited(name, host_keys[name], wanted[name].digest)

    return Pointer(
        cluster=handoff.name,
        serial=0,
        tree=tree,
        first=tuple(map(awaited, order.first)),
        canaries={pool: awaited(name) for pool, name in order.canaries.items()},
        revoked=signing.revoked,
        next=signing.next,
    )
