"""Packages that no repository has: which archives a node's stack takes, and the files that came of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from clusterwright.catalog.archives import Archive, handed_out, is_source
from clusterwright.catalog.distributions import distribution
from clusterwright.handoff import Handoff
from clusterwright.plan.software.lock import Source

Taken = tuple[str, str]
"""Name of a vendor's archive, and the architecture of those who need it."""
FOLDER = "/var/lib/clusterwright/packages"
"""Where they lie on a node."""


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A package that was verified, by its file's name."""

    name: str
    sha256: str
    size: int

    @property
    def package(self) -> str:
        """As dpkg and rpm name their files: `name_version_architecture.deb`, `name-version-release.….rpm`.

        Amazon names some as rpm does whatever they are: `name-version-architecture.deb`. A source has no
        release behind its version."""
        if is_source(self.name):
            return self.name.rpartition("-")[0]
        as_dpkg = self.name.endswith(".deb") and self.name.count("_") > 1
        return self.name.partition("_")[0] if as_dpkg else self.name.rsplit("-", 2)[0]


Files = Mapping[Taken, tuple[PackageFile, ...]]


@dataclass(frozen=True, slots=True)
class Packages:
    """Those of some archives, and the folder on this machine where each lies under its SHA-256."""

    files: Files
    store: PurePath


NO_PACKAGES = Packages({}, PurePath())


def taken(handoff: Handoff, architecture: str, stack: Mapping[str, Any]) -> tuple[Taken, ...]:
    """The archives that a stack comes from."""
    named = sorted({row["repository"] for row in stack.values() if row["repository"]})
    return tuple((name, architecture) for name in named if archive_of(handoff, (name, architecture)))


def archive_of(handoff: Handoff, one: Taken) -> Archive | None:
    """None for a repository, and for what cannot be verified."""
    source, name = source_of(handoff, one), handoff.software["distribution"]
    return handed_out(one[0], source, name, one[1], distribution(name).packages) if source else None


def source_of(handoff: Handoff, one: Taken) -> Source | None:
    """A vendor's address; None for what is a repository of the site."""
    row = handoff.software["repositories"].get(one[0], {}).get(one[1])
    if row is None or row["key"]:
        return None
    return Source(row["url"], row["suite"], tuple(row["components"]), row["key_url"], row["fingerprint"])


def files_of(archives: Collection[Taken], files: Files) -> tuple[PackageFile, ...]:
    """Of all these, each once."""
    return tuple(sorted({file for one in archives for file in files.get(one, ())}, key=lambda one: one.name))


def told(files: Iterable[PackageFile]) -> list[dict[str, Any]]:
    return [asdict(file) for file in files]
