"""The lock: every component of every pool with its exact version, packages and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clusterwright.finding import Refused, Where, refuse
from clusterwright.plan.software.emit import emit

SCHEMA = 1
DISTRIBUTION = "distribution"
"""In place of a repository's name: the distribution carries it itself."""
_HEAD = """\
# The software of every pool, as `clusterwright lock` chose it. Review it in the pull request; to change it,
# change `versions` in the description, or run `clusterwright lock --upgrade [NAME]`.
"""


@dataclass(frozen=True, slots=True)
class Locked:
    """One component of a pool."""

    version: str
    flavour: str
    packages: Mapping[str, str | None]
    """Package → version; None where no source tells it."""
    services: tuple[str, ...]
    hold: tuple[str, ...]
    """Packages that no update may touch."""
    repository: str | None
    """Its place in `repositories`, or `distribution`."""
    sha256: str | None
    """Of what it comes as, where that is one file and a source tells it."""
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A repository as one architecture of this distribution sees it."""

    url: str
    suite: str
    components: tuple[str, ...]
    key_url: str
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class Lock:
    """Everything that is installed beyond the distribution's base, by pool."""

    distribution: str
    architectures: Mapping[str, str]
    """By pool."""
    repositories: Mapping[str, Mapping[str, Source]]
    """By name, then by architecture; only those that some component comes from."""
    pools: Mapping[str, Mapping[str, Locked]]
    """Pool → component → what is locked."""

    def text(self) -> str:
        """The file, byte for byte."""
        return _HEAD + emit({"schema": SCHEMA, **asdict(self)})


def beside(description: Path) -> Path:
    """`cluster.yaml` → `cluster.lock.yaml`."""
    return description.with_name(f"{description.stem}.lock.yaml")


def load(file: Path) -> Lock:
    """Read a lock's file. Raises Refused for one that cannot be read, or that is none."""
    try:
        return loads(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(str(file), getattr(error, "strerror", None) or "it is not text") from error


def loads(text: str, file: str = "cluster.lock.yaml") -> Lock:
    """Read a lock. Raises Refused for a text that is none."""
    import yaml

    try:
        body = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if body["schema"] != SCHEMA:
            raise _unreadable(file, f"its schema is {body['schema']}, and this clusterwright reads {SCHEMA}")
        return Lock(
            distribution=str(body["distribution"]),
            architectures={str(pool): str(one) for pool, one in body["architectures"].items()},
            repositories={
                str(name): {str(architecture): _source(row) for architecture, row in rows.items()}
                for name, rows in body["repositories"].items()
            },
            pools={
                str(pool): {str(component): _locked(row) for component, row in rows.items()}
                for pool, rows in body["pools"].items()
            },
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unreadable(file, "it was not written by `clusterwright lock`") from error


def _unreadable(file: str, reason: str) -> Refused:
    remedy = "Remove it and run `clusterwright lock` on the description"
    return refuse("CW1366", Where(file), f"the lock cannot be read: {reason}", remedy)


def _source(row: dict[str, Any]) -> Source:
    return Source(**{**row, "components": tuple(row["components"])})


def _locked(row: dict[str, Any]) -> Locked:
    tuples = {key: tuple(row[key]) for key in ("services", "hold", "why")}
    return Locked(**{**row, **tuples, "packages": dict(row["packages"])})
