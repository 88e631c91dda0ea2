"""What is asked of a vendor's archive: by the nodes of a hand-off, or by a lock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from clusterwright.bundle.archives import Taken, archive_of, source_of
from clusterwright.catalog.archives import Archive, handed_out, plain
from clusterwright.catalog.distributions import distribution
from clusterwright.handoff import Handoff
from clusterwright.plan.software.lock import Lock, Source


@dataclass(frozen=True)
class Asked:
    """An archive, as one cluster needs it."""

    taken: Taken
    source: Source
    archive: Archive
    packages: frozenset[str]
    """Those that nodes install by name."""

    @property
    def url(self) -> str:
        """Of the one file that is fetched."""
        url = plain(self.source.url)
        return url if self.archive.folder else f"{url}{self.archive.files[0]}"

    @property
    def patterns(self) -> tuple[str, ...]:
        return self.archive.members(self.taken[1])

    @property
    def place(self) -> str:
        """Names a folder: what is verified by another word is another thing."""
        said = [self.url, self.source.fingerprint, self.archive.sha256]
        return f"{self.taken[0]}-{_digest(said)}"

    @property
    def part(self) -> str:
        """Names what is needed out of it."""
        return _digest(self.patterns)


def of_nodes(handoff: Handoff, wanted: Iterable[Taken]) -> list[Asked]:
    named = _named(stack.values() for stack in handoff.software["stacks"].values())
    found = []
    for one in sorted(set(wanted)):
        archive, source = archive_of(handoff, one), source_of(handoff, one)
        if archive and source:
            found.append(Asked(one, source, archive, frozenset(named[one[0]])))
    return found


def of_lock(lock: Lock, architecture: str, sources: Mapping[str, Mapping[str, Source]]) -> list[Asked]:
    """`sources` by name and architecture: those of the lock, or what stands for them in a lab."""
    rows = (
        {"repository": row.repository, "packages": row.packages}
        for pool in lock.pools.values()
        for row in pool.values()
    )
    named = _named([rows])
    packages = distribution(lock.distribution).packages
    return [
        Asked((name, architecture), source, archive, frozenset(named[name]))
        for name, by_machine in sorted(sources.items())
        if (source := by_machine.get(architecture))
        and (archive := handed_out(name, source, lock.distribution, architecture, packages))
    ]


def _named(stacks: Iterable[Iterable[Mapping[str, object]]]) -> Mapping[str, set[str]]:
    """Packages by the repository that they come from."""
    found: dict[str, set[str]] = {}
    for row in (row for rows in stacks for row in rows):
        packages = row["packages"]
        assert isinstance(packages, Mapping)
        found.setdefault(str(row["repository"]), set()).update(packages)
    return found


def _digest(said: object) -> str:
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]
