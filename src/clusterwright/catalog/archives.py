"""Packages that a vendor hands out as files, and in no repository: which, and what verifies each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Protocol

from clusterwright.catalog.distributions import Format
from clusterwright.catalog.repositories import installable
from clusterwright.catalog.table import DATA, rows

_SOURCE = ".tar.gz"
_OWN_DIGEST = "#sha256="
_MACHINES = {"x86_64": "x86_64", "arm64": "aarch64"}
"""Of an architecture, as `uname -m` says it."""


@dataclass(frozen=True, slots=True)
class Archive:
    """The files of one vendor for some distributions: members of a tar archive, or each by itself."""

    repository: str
    """A name of `repositories.csv`, or a pattern of names."""
    distributions: frozenset[str]
    architectures: frozenset[str]
    folder: str
    """Within the archive, with `{machine}` in it; empty for files that stand beside the address."""
    files: tuple[str, ...]
    """Patterns below the folder, or one file's name."""
    sha256: str
    """Of that one file; empty where a signature verifies."""
    signature: str
    """What follows an address to make that of its detached signature."""
    source: str
    date: str

    @property
    def is_source(self) -> bool:
        """What nodes build programs from, and install no package of."""
        return not self.folder and is_source(self.files[0])

    def members(self, architecture: str) -> tuple[str, ...]:
        """Patterns of the members that nodes of an architecture need."""
        folder = self.folder.format(machine=_MACHINES[architecture])
        return tuple(f"{folder}/{name}" for name in self.files)


def is_source(file_name: str) -> bool:
    return file_name.endswith(_SOURCE)


def builds(repository: str) -> bool:
    """Whether what comes from there is built on nodes: no package manager knows it."""
    return any(one.is_source and fnmatchcase(repository, one.repository) for one in archives())


def plain(url: str) -> str:
    """The address without the digest that it may carry, as those of what a lab plays do."""
    return url.partition(_OWN_DIGEST)[0]


def with_digest(url: str, sha256: str) -> str:
    return f"{url}{_OWN_DIGEST}{sha256}"


@cache
def archives() -> tuple[Archive, ...]:
    return tuple(
        Archive(
            row["repository"],
            frozenset(row["distributions"].split()),
            frozenset(row["architectures"].split()),
            row["folder"],
            tuple(row["files"].split()),
            *(row[name] for name in ("sha256", "signature", "source", "date")),
        )
        for row in rows("archives", DATA / "software")
    )


def archive(repository: str, distribution: str, architecture: str) -> Archive | None:
    """What is known of a repository that is none; None where no source tells."""
    return next(
        (
            row
            for row in archives()
            if fnmatchcase(repository, row.repository)
            and distribution in row.distributions
            and architecture in row.architectures
        ),
        None,
    )


class Address(Protocol):
    """What a lock has of a repository."""

    @property
    def url(self) -> str: ...
    @property
    def suite(self) -> str: ...
    @property
    def key_url(self) -> str: ...
    @property
    def fingerprint(self) -> str | None: ...


def handed_out(
    name: str, address: Address, distribution: str, architecture: str, packages: Format
) -> Archive | None:
    """The archive behind the address of what is no repository, where it can be verified."""
    has_key = bool(address.key_url)
    if installable(address.url, address.suite, has_key=has_key, packages=packages):
        return None
    found = archive(name, distribution, architecture)
    if found and found.sha256 and (own := address.url.partition(_OWN_DIGEST)[2]):
        found = replace(found, sha256=own)
    verified = found and (found.sha256 or (found.signature and has_key and address.fingerprint))
    return found if verified else None
