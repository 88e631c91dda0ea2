"""Publish: what nodes should be, as objects, and the signed pointer to them. Nothing new, nothing written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clusterwright.bundle import pointer as pointers
from clusterwright.bundle.pointer import Awaited, Pointer, Reference
from clusterwright.bundle.publication import Publication, Wheels, publish
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
from clusterwright.operate.pull.wheels import wheels


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


def wheels_of(handoff: Handoff) -> Mapping[str, Mapping[str, Path]]:
    """By processor, the files of the Python packages that run the roles."""
    python = distribution(handoff.software["distribution"]).python
    machines = sorted({handoff.hardware[node.machine].architecture for node in handoff.nodes})
    return {machine: wheels(python, machine) for machine in machines}


def referenced(files: Mapping[str, Path]) -> Wheels:
    return Wheels({name: Reference(sha256_of(file), file.stat().st_size) for name, file in files.items()})


def publish_to(
    store: Store,
    desired: Desired,
    host_keys: Mapping[str, str],
    impacts: Mapping[str, str],
    report: Report,
) -> Pointer:
    """Bring the store to what is desired of the nodes that are there; returns what nodes are pointed at."""
    signing, record = Signing.of(desired.home), _Record.of(desired.home)
    before = store.pointer(signing.public)
    wanted = {name: desired.wanted[name] for name in sorted(host_keys)}
    files = wheels_of(desired.handoff)
    publication = Publication()
    tree = publish(
        publication,
        desired.handoff,
        wanted,
        {machine: referenced(rows) for machine, rows in files.items()},
        desired.attachments,
        impacts,
        lambda name: store.node(name, before),
    )
    store.forget_all_but(host_keys)
    record.hidden = hide(store, wanted, desired.keys, host_keys, record.hidden)
    pointer = _pointer(desired.handoff, wanted, host_keys, tree, signing)
    if before and before.same_but_serial(pointer):
        record.serial = max(record.serial, before.serial)
        record.write()
        return before
    return _publish(store, record, signing, publication, files, _numbered(pointer, before, record), report)


def _publish(
    store: Store,
    record: _Record,
    signing: Signing,
    publication: Publication,
    files: Mapping[str, Mapping[str, Path]],
    pointer: Pointer,
    report: Report,
) -> Pointer:
    packages = {sha256_of(file): file for rows in files.values() for file in rows.values()}
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
) -> Pointer:
    roles = {name: handoff.by_name[name].roles for name in host_keys}
    pools = {name: handoff.by_name[name].pool for name in host_keys}
    first, canaries = pointers.order(roles, pools, host_keys)

    def awaited(name: str) -> Awaited:
        return Awaited(name, host_keys[name], wanted[name].digest)

    return Pointer(
        cluster=handoff.name,
        serial=0,
        tree=tree,
        first=tuple(map(awaited, first)),
        canaries={pool: awaited(name) for pool, name in canaries.items()},
        revoked=signing.revoked,
        next=signing.next,
    )
