"""Ways of fetching that apt does not have: a package brings each, from a repository that is read without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.software import repositories
from clusterwright.catalog.software_rows import Repository
from clusterwright.catalog.table import DATA, rows


@dataclass(frozen=True, slots=True)
class Transport:
    """Of addresses with a scheme of its own: the package, and where it comes from."""

    scheme: str
    package: str
    repository: Repository
    source: str
    date: str


@cache
def transports() -> Mapping[str, Transport]:
    """By scheme."""
    known = {row.name: row for row in repositories()}
    return {
        row["scheme"]: Transport(
            row["scheme"], row["package"], known[row["repository"]], row["source"], row["date"]
        )
        for row in rows("transports", DATA / "software")
    }


def transport_of(url: str) -> Transport | None:
    return transports().get(url.partition(":")[0])


def asked_for(urls: Iterable[str]) -> list[Transport]:
    """What these addresses need, each once."""
    found = {transport.scheme: transport for url in urls if (transport := transport_of(url))}
    return [found[scheme] for scheme in sorted(found)]


def without(url: str) -> str:
    """The same address for who has no transport and no identity, which is what public archives take.

    Source: Google Cloud, Artifact Registry, Manage Debian packages: a public repository is read
    without authentication."""
    return url.rpartition("+")[2] if transport_of(url) else url
