"""Why something is demanded of the stack, in words: facts of machines, rules between releases, wishes."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.catalog.software_rows import HardwareRule, Rule
from clusterwright.plan.software.question import Given
from clusterwright.plan.software.wish import Wish


@dataclass(frozen=True, slots=True)
class Machine:
    """A pool's machines ask for it."""

    pool: str
    machine: str
    rule: HardwareRule

    def __str__(self) -> str:
        return f"{self.machine} in pool '{self.pool}': {self.rule.why}"


@dataclass(frozen=True, slots=True)
class Carried:
    """Releases exist for some distributions and architectures only."""

    title: str
    distribution: str
    architecture: str
    known: str
    """Its releases there, shortened; empty for none."""

    def __str__(self) -> str:
        place = f"{self.distribution} on {self.architecture}"
        if not self.known:
            return f"no release of {self.title} is known for {place}"
        return f"releases of {self.title} for {place} are {self.known}"


@dataclass(frozen=True, slots=True)
class OneVersion:
    """Jobs and services of all pools share it."""

    title: str

    def __str__(self) -> str:
        return f"{self.title} has one version in the whole cluster"


@dataclass(frozen=True, slots=True)
class BuiltFor:
    """Its releases are built for a major version of another component."""

    title: str
    needs: str

    def __str__(self) -> str:
        return f"each release of {self.title} is built for a major version of {self.needs}"


@dataclass(frozen=True, slots=True)
class Between:
    """A rule between releases."""

    rule: Rule

    def __str__(self) -> str:
        return self.rule.why


@dataclass(frozen=True, slots=True)
class Wished:
    """Somebody asks for it."""

    wish: Wish

    def __str__(self) -> str:
        return f"you asked for {self.wish} in {self.wish.where.path}"


Reason = Machine | Given | Carried | OneVersion | BuiltFor | Between | Wished
