"""What dnf has to be told of a vendor's repository beyond its address and its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import DATA, rows


@dataclass(frozen=True, slots=True)
class RpmRepository:
    """A repository that differs from most: signed packages, an unsigned index, no module streams."""

    name: str
    signed_index: bool
    ignores_modules: bool
    """Whether its packages are to be seen without enabling a module's stream first."""
    why: str
    source: str
    date: str


@cache
def rpm_repositories() -> Mapping[str, RpmRepository]:
    """By the name that `repositories.csv` gives it."""
    return {
        row["repository"]: RpmRepository(
            row["repository"],
            row["signed_index"] == "yes",
            row["ignores_modules"] == "yes",
            *(row[name] for name in ("why", "source", "date")),
        )
        for row in rows("rpm_repositories", DATA / "software")
    }
