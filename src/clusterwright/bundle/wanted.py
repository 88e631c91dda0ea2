"""What a node should be: files, directories, units, packages, people, and one digest over all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from clusterwright.bundle.built import Build
from clusterwright.catalog.distributions import Format


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A file. A key has no content here, only its hash: keys travel apart from everything else."""

    path: str
    mode: int
    owner: str
    group: str
    sha256: str
    content: str | None
    affects: tuple[str, ...] = ()
    """`<unit>:reload` or `<unit>:restart` once it changed; only units that are wanted on the node."""
    early: bool = False
    """Needed before packages are installed: repositories, proxy, trusted certificates."""


@dataclass(frozen=True, slots=True)
class WantedDirectory:
    """A directory that must exist; what is in it is not looked at."""

    path: str
    mode: int
    owner: str
    group: str


@dataclass(frozen=True, slots=True)
class WantedUnit:
    """A systemd unit. `role` is the Ansible role that brings it to this state."""

    name: str
    role: str
    enabled: bool
    active: bool


@dataclass(frozen=True, slots=True)
class WantedUser:
    """A login with a group of the same name and number."""

    name: str
    uid: int
    home: str
    shell: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """What all nodes with the same roles on the same site have in common; made once and shared."""

    roles: tuple[str, ...]
    """Ansible roles in the order in which they run."""
    files: tuple[WantedFile, ...]
    directories: tuple[WantedDirectory, ...]
    units: tuple[WantedUnit, ...]
    packages: tuple[str, ...]
    """`name`, or `name=version` for one that is locked."""
    held: tuple[str, ...]
    """Packages that no upgrade but a new lock may move; a name may be a pattern where dnf is."""
    package_format: Format
    users: tuple[WantedUser, ...]
    accounting: Mapping[str, Any] | None
    """Accounts and associations of Slurm's database, where this kind of node keeps it."""
    roles_digest: str
    """Of the roles, playbooks and modules themselves."""
    observed: Kind | None = None
    """What roles that the site keeps itself would bring: it is looked at, and never placed."""
    left_files: tuple[str, ...] = ()
    """Paths of those roles: what was placed there before is the site's now."""
    left_people: tuple[str, ...] = ()
    """Logins that the site keeps itself."""
    archives: tuple[tuple[str, str], ...] = ()
    """Vendors' archives, each with its architecture, that packages come from which no repository has."""
    nccl_tests: Build | None = None

    @cached_property
    def digest(self) -> str:
        return _digest(
            {
                "roles": self.roles,
                "files": [_identity(file) for file in self.files],
                "directories": [(d.path, d.mode, d.owner, d.group) for d in self.directories],
                "units": [(u.name, u.role, u.enabled, u.active) for u in self.units],
                "packages": self.packages,
                "held": self.held,
                "users": [(u.name, u.uid, u.home, u.shell, u.groups) for u in self.users],
                "accounting": self.accounting,
                "roles_digest": self.roles_digest,
                **({"observed": self.observed.digest} if self.observed else {}),
                **({"left": (self.left_files, self.left_people)} if self.left_files else {}),
                **({"archives": self.archives} if self.archives else {}),
                **({"nccl_tests": asdict(self.nccl_tests)} if self.nccl_tests else {}),
            }
        )


@dataclass(frozen=True)
class Image:
    """What is installed once, and the nodes that are made from it."""

    kind: Kind
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Wanted:
    """One node: what its kind has, and what only it has."""

    node: str
    kind: Kind
    own_files: tuple[WantedFile, ...] = field(default=())
    steps: tuple[tuple[str, str, str], ...] = field(default=())
    """The site's own: point, path and hash. One that changed runs again."""

    @cached_property
    def digest(self) -> str:
        own = [_identity(file) for file in self.own_files]
        return _digest([self.node, self.kind.digest, own, self.steps])

    @property
    def files(self) -> tuple[WantedFile, ...]:
        return self.kind.files + self.own_files

    @property
    def directories(self) -> tuple[WantedDirectory, ...]:
        return self.kind.directories

    @property
    def units(self) -> tuple[WantedUnit, ...]:
        return self.kind.units

    @property
    def active_units(self) -> tuple[str, ...]:
        """Names of the units that must run."""
        return tuple(unit.name for unit in self.kind.units if unit.active)

    @property
    def packages(self) -> tuple[str, ...]:
        return self.kind.packages

    @property
    def users(self) -> tuple[WantedUser, ...]:
        return self.kind.users


def _identity(file: WantedFile) -> list[Any]:
    return [file.path, file.mode, file.owner, file.group, file.sha256, file.affects, file.early]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
