"""A small world of archives that an offline bundle is collected from, and what was collected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from clusterwright.event import Event
from clusterwright.handoff import from_plan
from clusterwright.operate.offline.collect import Collected, Wishes, collect
from clusterwright.operate.offline.signing import fingerprints
from clusterwright.operate.offline.subject import Subject
from clusterwright.plan import plan
from clusterwright.plan.model import Ground, Mirror
from clusterwright.plan.software.lock import Lock, Locked, Source
from clusterwright.spec.load import loads

DESCRIPTION = """
cluster: small
site: {provider: lab}
pools:
  controller: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100}
users:
  ada: {uid: 2001}
software: {monitoring: false}
"""
DRIVER = Locked("580.1", "open", {"nvidia-open": "580.1-1"}, (), (), "vendor", None, ())


def lock_of(source: Source, driver: Locked = DRIVER) -> Lock:
    architectures = {"controller": "x86_64", "gpu": "x86_64"}
    return Lock("debian-13", architectures, {"vendor": {"x86_64": source}}, {"gpu": {"driver": driver}})


def subject_of(lock: Lock) -> Subject:
    spec = loads(DESCRIPTION).spec
    ground = {"main": Ground("10.9.0.0/16", mirror=Mirror("http://mirror/", "./", (), "key.asc"))}
    return Subject(from_plan(plan(spec, ground=ground, lock=lock)), lock, "small.lock.yaml")


@dataclass(frozen=True)
class World:
    """Archives that are served from folders, and the operator's key."""

    archive: Path
    security: Path
    vendor: Path
    operator: Path

    @property
    def source(self) -> Source:
        key = self.vendor / "key.asc"
        [fingerprint] = fingerprints(key)
        return Source(f"file:{self.vendor}", "stable", ("main",), key.as_uri(), fingerprint)

    def wishes(self, out: Path) -> Wishes:
        """Of the distribution alone, without its updates of security."""
        key = self.archive / "key.asc"
        return Wishes(out, str(self.operator), f"file:{self.archive}", mirror_key=key, wheels=False)

    def collect(self, out: Path, source: Source | None = None) -> tuple[Collected, list[Event]]:
        events: list[Event] = []
        wishes = replace(self.wishes(out), security=f"file:{self.security}")
        return collect(subject_of(lock_of(source or self.source)), wishes, events.append), events


def packages(collected: Collected) -> set[str]:
    return {file.name.partition("_")[0] for file in collected.folder.rglob("*.deb")}


def manifest(collected: Collected) -> Mapping[str, object]:
    body: Mapping[str, object] = json.loads((collected.folder / "MANIFEST.json").read_text())
    return body


def codes(collected: Collected) -> list[str]:
    return [finding.code for finding in collected.findings]
