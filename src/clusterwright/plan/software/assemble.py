"""From chosen releases to a lock: packages by their names, where they come from, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clusterwright.catalog.archives import archive
from clusterwright.catalog.software import SoftwareCatalog, accepts, parsed
from clusterwright.catalog.software_rows import Package, Release
from clusterwright.plan.software.lock import Locked, Source
from clusterwright.plan.software.prefer import preferred_of
from clusterwright.plan.software.problem import (
    Candidate,
    Problem,
    component_of,
    identifier_of,
    pool_of,
)
from clusterwright.plan.software.question import Given
from clusterwright.plan.software.reason import Between, Machine, Wished
from clusterwright.plan.software.traits import PoolFacts

Answer = Mapping[str, Candidate]


@dataclass(frozen=True)
class Assembly:
    """An answer with all that its words and packages are taken from."""

    catalog: SoftwareCatalog
    distribution: str
    pools: Mapping[str, PoolFacts]
    problem: Problem
    answer: Answer
    settled: frozenset[str]
    """Components that are there by other means: they had a say, and are not installed from the lock."""

    def pool(self, pool: str) -> dict[str, Locked]:
        """What is locked in a pool, by component."""
        chosen = {
            component_of(identifier): candidate
            for identifier, candidate in self.answer.items()
            if pool_of(identifier) == pool and candidate.release is not None
        }
        names = sorted(chosen.keys() - self.settled)
        beside = {name: one.version for name, one in chosen.items() if name in ("cuda", "rocm")}
        return {name: self._locked(name, pool, chosen[name], beside) for name in names}

    def _locked(self, component: str, pool: str, candidate: Candidate, beside: Mapping[str, str]) -> Locked:
        release = candidate.release
        assert release is not None
        rows = self._packages(candidate)
        fields = _fields(release, beside)
        identifier = identifier_of(component, pool)
        repository = next((row.repository.format_map(fields) for row in rows if row.repository), None)
        return Locked(
            version=release.version,
            flavour=candidate.flavour,
            packages={row.package.format_map(fields): _filled(row.package_version, fields) for row in rows},
            services=tuple(dict.fromkeys(service for row in rows for service in row.services)),
            hold=tuple(row.package.format_map(fields) for row in rows if row.hold),
            repository=repository,
            sha256=release.sha256 or self._digest(repository, pool),
            why=tuple(
                dict.fromkeys(
                    [*self._why(identifier), *self._channel(identifier, candidate), *_moving(release, rows)]
                )
            ),
        )

    def _digest(self, repository: str | None, pool: str) -> str | None:
        """Of what a vendor hands out as one file, where a source tells it."""
        known = archive(repository or "", self.distribution, self.pools[pool].architecture)
        return known.sha256 or None if known else None

    def _packages(self, candidate: Candidate) -> list[Package]:
        release = candidate.release
        assert release is not None
        return [
            row
            for row in self.catalog.packages
            if row.component == release.component
            and self.distribution in row.distributions
            and (not row.flavours or candidate.flavour in row.flavours)
            and accepts(row.versions, release.version)
        ]

    def _why(self, identifier: str) -> Iterator[str]:
        """Wishes, then why it is there at all, then what narrows it.

        What was locked before is no reason: the same answer has the same words.
        """
        everything = self.problem.everything(identifier)
        left = [
            (demand.reason, demand.left(self._chosen(demand.source), everything))
            for demand in self.problem.demands
            if demand.target == identifier
        ]
        narrow = [reason for reason, mask in left if mask | 1 != everything]
        bring = [reason for reason, mask in left if not mask & 1]
        machines = [reason for reason in bring if isinstance(reason, Machine)]
        told = [
            *(reason for reason in narrow + bring if isinstance(reason, Wished)),
            *(machines or bring),
            *narrow,
        ]
        for reason in told:
            match reason:
                case Wished(wish=wish):
                    yield f"{wish.where.path} asks for it: {wish.text}"
                case Machine(rule=rule) | Between(rule=rule):
                    yield rule.why
                case Given(why=why):
                    yield why

    def _channel(self, identifier: str, candidate: Candidate) -> Iterator[str]:
        traits = self.pools[pool_of(identifier)].traits
        preferred = preferred_of(component_of(identifier), traits, self.catalog)
        channel = candidate.release.channel if candidate.release else ""
        if preferred and not {channel, candidate.flavour} & set(preferred):
            kind = f"of the channel {channel}" if channel else "of no channel"
            yield f"a release {kind}, taken only when asked for or when nothing else fits"

    def _chosen(self, identifier: str) -> int:
        if not identifier:
            return 1
        return 1 << self.problem.candidates[identifier].index(self.answer[identifier])

    def sources(self, pools: Mapping[str, Mapping[str, Locked]]) -> dict[str, dict[str, Source]]:
        """Repositories of what is locked, each as every architecture in use sees it."""
        wanted = sorted(
            {
                (locked.repository, self.pools[pool].architecture)
                for pool, rows in pools.items()
                for locked in rows.values()
                if locked.repository
            }
        )
        found: dict[str, dict[str, Source]] = {}
        for name, architecture in wanted:
            for row in self.catalog.repositories:
                here = self.distribution in row.distributions and architecture in row.architectures
                if row.name == name and here:
                    found.setdefault(name, {})[architecture] = Source(
                        row.url, row.suite, row.components, row.key_url, row.fingerprint or None
                    )
        return found


def _moving(release: Release, rows: Sequence[Package]) -> Iterator[str]:
    """A distribution's archive keeps the newest of a series only; a lock that named it would soon fail."""
    if release.channel == "series" and not any(row.package_version for row in rows):
        yield "archives drop old builds: the newest of the series is taken and held; a wish pins one"


def _fields(release: Release, beside: Mapping[str, str]) -> dict[str, str]:
    """What names and versions of packages, and names of repositories, may be made of."""
    cuda = beside.get("cuda", "")
    numbers = [*map(str, parsed(release.version).release), "0"]
    built = dict(release.built_for).get("cuda", "")
    fields = {
        "version": release.version,
        "branch": numbers[0],
        "major": numbers[0],
        "minor": numbers[1],
        "cuda": ".".join(cuda.split(".")[:2]),
        "cuda_major": built or cuda.partition(".")[0],
        "rocm": beside.get("rocm", ""),
    }
    return {name: value for name, value in fields.items() if value}


def _filled(template: str, fields: Mapping[str, str]) -> str | None:
    """None where the version is not known exactly, or hangs on a component that is not there."""
    try:
        return template.format_map(fields) or None
    except KeyError:
        return None
