"""A description played in the lab: every machine keeps its type, everything around it shrinks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from clusterwright.catalog.distributions import distribution
from clusterwright.catalog.slurm import settings
from clusterwright.finding import Finding, Refused, Severity, Where
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import mounted_shares, shares_of_sites
from clusterwright.spec.buckets import BUCKETS
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.fabric import Fabric
from clusterwright.spec.nodeset import fold
from clusterwright.spec.parallel import PARALLEL
from clusterwright.spec.people import User
from clusterwright.spec.pool import Pool, Role
from clusterwright.spec.scheduler import Scheduler
from clusterwright.spec.site import LabSite, Site
from clusterwright.spec.software import Distribution, Software
from clusterwright.spec.storage import Served, Share, Storage
from clusterwright.spec.surroundings import Surroundings

_OUTSIDE = (*PARALLEL, *BUCKETS)
"""Kinds whose clients are there in the lab too."""
DISTRIBUTION: Distribution = "debian-13"
"""What the lab boots in place of a distribution that it cannot, or of a Slurm that comes from elsewhere."""
_NUMBERS = 50000
"""From here on people of a directory are numbered in a lab, which does not ask it."""
COMPUTE_NODES = 2
"""The least that shows two nodes talking."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A description for the lab, and what was replaced to make it one."""

    spec: ClusterSpec
    of: tuple[str, ...]
    """Providers of the original."""
    findings: tuple[Finding, ...]


def rehearse(spec: ClusterSpec, counts: Mapping[str, int] | None = None) -> Rehearsal:
    """The same cluster in the lab, with two nodes a compute pool and one elsewhere unless `counts` says.

    Raises Refused for counts of pools that do not exist or have fewer nodes.
    """
    outline = Outline(spec, {})
    providers = tuple(sorted({site.provider for site in outline.sites.values()}))
    _agree(outline, counts or {})
    pools = {name: _shrunk(outline, name, counts or {}) for name in spec.pools}
    software = _software(spec.software, providers)
    booted = software.distribution
    release = distribution(booted).slurm_release
    shares: dict[str, Any] = {mount: _folder(share) for mount, share in mounted_shares(spec).items()}
    own = shares_of_sites(spec)
    played = spec.model_copy(
        update={
            "site": _played(spec.site, {}) if spec.site else None,
            "sites": {name: _played(site, own.get(name, {})) for name, site in spec.sites.items()},
            "pools": pools,
            "fabric": _fabric(spec.fabric, spec.model_copy(update={"pools": pools})),
            "scheduler": _scheduler(spec.scheduler, release),
            "storage": Storage(shares=shares),
            "software": software,
            "surroundings": _surroundings(spec.surroundings, providers),
            "users": spec.users if providers == ("lab",) else _numbered(spec.users),
        }
    )
    return Rehearsal(played, providers, tuple(_notes(outline, played)))


def _played(site: Site, shares: Mapping[str, Share | None]) -> LabSite:
    """This machine stands in the network of its labs, and so is let in by any firewall of theirs."""
    played = {mount: share and _folder(share) for mount, share in shares.items()}
    return LabSite(provider="lab", firewall=site.firewall, shares=played)


def _folder(share: Share) -> Share:
    return share if isinstance(share, _OUTSIDE) else Served()


def _software(software: Software, providers: tuple[str, ...]) -> Software:
    """Of what the lab boots, and without the site's server of container images."""
    source = software.image_source if providers == ("lab",) else None
    changed = {"distribution": _booted(software), "slurm_repository": None, "image_source": source}
    return software.model_copy(update=changed)


def _booted(software: Software) -> Distribution:
    own = distribution(software.distribution).family == "debian" and software.slurm_repository is None
    return software.distribution if own else DISTRIBUTION


def _agree(outline: Outline, counts: Mapping[str, int]) -> None:
    findings = []
    for pool, count in sorted(counts.items()):
        if pool not in outline.spec.pools:
            what = f"there is no pool '{pool}'"
            findings.append(
                Finding("CW1351", Where(path=pool), what, f"Name one of: {', '.join(outline.spec.pools)}")
            )
        elif not 1 <= count <= outline.count(pool):
            what = f"the pool '{pool}' cannot be played with {count} nodes"
            findings.append(
                Finding("CW1351", Where(path=pool), what, f"It has 1 to {outline.count(pool)} of them")
            )
    if findings:
        raise Refused(findings)


def _shrunk(outline: Outline, name: str, counts: Mapping[str, int]) -> Pool:
    pool, names = outline.spec.pools[name], outline.names[name] or ()
    default = COMPUTE_NODES if Role.COMPUTE in pool.roles else 1
    count = counts.get(name, min(default, len(names)))
    of_a_cloud: dict[str, Any] = dict.fromkeys(
        ("capacity", "placement", "image", "install_to", "disk", "kept_from", "max_distance")
    )
    of_a_cloud["group"] = False
    if pool.nodes is not None:
        return pool.model_copy(update={**of_a_cloud, "nodes": fold(names[:count])})
    return pool.model_copy(update={**of_a_cloud, "count": None if pool.count is None else count})


def _fabric(fabric: Fabric, shrunk: ClusterSpec) -> Fabric:
    """Blocks as large as the shrunk pools can fill; switches are for own machines."""
    fabric = fabric.model_copy(update={"switches": None})
    if fabric.block_size is None:
        return fabric
    outline = Outline(shrunk, {})
    counts = [outline.count(name) for name, _ in outline.pools_with(Role.COMPUTE)]
    return fabric.model_copy(update={"block_size": gcd(fabric.block_size, *counts)})


def _scheduler(scheduler: Scheduler, release: str) -> Scheduler:
    kept = {
        key: value
        for key, value in scheduler.options.items()
        if (setting := settings().get(key.lower())) is None or setting.owned or setting.known_to(release)
    }
    return scheduler.model_copy(update={"release": None, "options": kept})


def _surroundings(surroundings: Surroundings, providers: tuple[str, ...]) -> Surroundings:
    """Without the servers that stand at the site; a cluster of the lab has the lab's own."""
    if providers == ("lab",):
        return surroundings
    outside: dict[str, Any] = {"http_proxy": None, "no_proxy": [], "time_servers": [], "directory": None}
    return surroundings.model_copy(update=outside)


def _numbered(users: Mapping[str, User]) -> dict[str, User]:
    """People of the site's directory are logins of the lab's nodes, with numbers that nobody else has."""
    taken = {user.uid for user in users.values()}
    free = (number for number in itertools.count(_NUMBERS) if number not in taken)
    return {
        name: user.model_copy(update={"uid": next(free)}) if user.uid is None else user
        for name, user in sorted(users.items())
    }


def _notes(outline: Outline, played: ClusterSpec) -> Iterator[Finding]:
    def note(path: str, what: str) -> Finding:
        remedy = "The lab boots Debian with its own Slurm, and has no servers outside"
        return Finding("CW1352", Where(path=path), f"played in the lab: {what}", remedy, Severity.NOTE)

    spec = outline.spec
    booted = played.software.distribution
    release = distribution(booted).slurm_release
    if spec.software.distribution != booted:
        yield note("software.distribution", f"{booted} instead of {spec.software.distribution}")
    if outline.slurm_release != release:
        yield note("scheduler.release", f"Slurm {release} instead of {outline.slurm_release}")
    for key in sorted(spec.scheduler.options.keys() - played.scheduler.options.keys()):
        yield note(f"scheduler.options.{key}", f"without '{key}', which Slurm {release} does not know")
    if spec.fabric != played.fabric:
        yield note("fabric.block_size", f"blocks of {played.fabric.block_size}")
    if spec.surroundings.http_proxy != played.surroundings.http_proxy:
        yield note("surroundings.http_proxy", "without the site's proxy")
    if spec.surroundings.time_servers != played.surroundings.time_servers:
        yield note("surroundings.time_servers", "without the site's time servers")
    if spec.surroundings.directory != played.surroundings.directory:
        yield note("surroundings.directory", "without the site's directory: its people are logins of the lab")
    if spec.software.image_source != played.software.image_source:
        yield note("software.image_source", "without the site's container images")
    for pool in (name for name, pool in spec.pools.items() if pool.capacity):
        yield note(f"pools.{pool}.capacity", "machines that cost nothing and stay")
    for mount, share in sorted(mounted_shares(spec).items()):
        if not isinstance(share, Served):
            servers = f", behind a simulated {share.kind} client" if isinstance(share, _OUTSIDE) else ""
            yield note(f"storage.shares.{mount}", f"a folder of the lab at '{mount}'{servers}")
