"""The hand-off's software: wishes, and the lock as nodes need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clusterwright.catalog.archives import builds
from clusterwright.plan.model import Mirror
from clusterwright.plan.software.lock import DISTRIBUTION, Lock, Locked, Source

if TYPE_CHECKING:
    from clusterwright.plan.model import ClusterPlan
    from clusterwright.spec.software import Software

MIRROR = "mirror"
"""The name of the one repository that stands for all of the vendors'."""
SOURCES = "sources"
"""The folder of a mirror with what nodes build."""


def software_section(plan: ClusterPlan) -> dict[str, Any]:
    """`software` of the hand-off."""
    wishes, mirror = plan.spec.software, _mirror(plan)
    return {
        "distribution": wishes.distribution,
        "packages": list(wishes.packages),
        "slurm_source": plan.slurm_source,
        "slurm_repository": wishes.slurm_repository.model_dump() if wishes.slurm_repository else None,
        "containers": wishes.containers,
        "images": _images(wishes, plan.lock),
        "monitoring": wishes.monitoring,
        "stacks": _stacks(plan.lock, mirror),
        "repositories": _mirrored(plan.lock, mirror) if mirror else _vendors(plan.lock.repositories),
        **({"treatments": treatments} if (treatments := _treatments(plan)) else {}),
        **({"module_signing": wishes.module_signing.model_dump()} if wishes.module_signing else {}),
    }


def _treatments(plan: ClusterPlan) -> dict[str, Mapping[str, str]]:
    """Pool → Ansible role → `observe` or `skip`, where the site keeps a role itself."""
    kept: dict[str, Mapping[str, str]] = {
        name: {role: how for role, how in sorted(pool.ansible_roles.items()) if how != "manage"}
        for name, pool in plan.spec.pools.items()
    }
    return {name: roles for name, roles in sorted(kept.items()) if roles}


def _images(wishes: Software, lock: Lock) -> Mapping[str, Any] | None:
    """What nodes load by themselves, and from where."""
    from clusterwright.plan.software.shipped import shipped
    from clusterwright.spec.software import image_name

    if not wishes.image_source:
        return None
    source, _, digest = wishes.image_source.partition("@")
    bundled = (*wishes.images, *shipped(lock, wishes.images).known)
    names = sorted({image_name(image) for image in bundled})
    return {"source": source.rstrip("/"), "digest": digest, "names": names}


def locked_in(software: Mapping[str, Any]) -> Lock:
    """The lock of a hand-off, as far as a hand-off has it: what was installed, without its reasons."""
    pools = {
        pool: {
            component: Locked(
                version=row["version"],
                flavour=row["flavour"],
                packages=row["packages"],
                services=tuple(row["services"]),
                hold=tuple(row["hold"]),
                repository=row["repository"],
                sha256=None,
                why=(),
            )
            for component, row in rows.items()
        }
        for pool, rows in software["stacks"].items()
    }
    return Lock(software["distribution"], architectures={}, repositories={}, pools=pools)


def _mirror(plan: ClusterPlan) -> Mirror | None:
    """A site's own comes first: what the lab simulates is in no other."""
    of_site = next((site.ground.mirror for site in plan.sites if site.ground.mirror), None)
    own = plan.spec.software.mirror
    if of_site or own is None:
        return of_site
    sources = _sources(plan.lock, own.url)
    return Mirror(own.url, own.suite, tuple(own.components), own.key, sources)


def _sources(lock: Lock, mirror: str) -> Mapping[str, Mapping[str, Source]]:
    """What nodes build is no package: a mirror has it in a folder beside them."""
    return {
        name: {one: replace(row, url=f"{mirror.rstrip('/')}/{SOURCES}/") for one, row in rows.items()}
        for name, rows in lock.repositories.items()
        if builds(name)
    }


def _stacks(lock: Lock, mirror: Mirror | None) -> dict[str, Any]:
    return {
        pool: {
            component: {
                "version": row.version,
                "flavour": row.flavour,
                "packages": dict(row.packages),
                "services": list(row.services),
                "hold": list(row.hold),
                "repository": MIRROR if mirror and _is_in(mirror, row) else row.repository,
            }
            for component, row in rows.items()
            if row.packages
        }
        for pool, rows in lock.pools.items()
        if any(row.packages for row in rows.values())
    }


def _vendors(repositories: Mapping[str, Mapping[str, Source]]) -> dict[str, Any]:
    return {
        name: {architecture: _vendor(source) for architecture, source in rows.items()}
        for name, rows in repositories.items()
    }


def _vendor(source: Source) -> Mapping[str, Any]:
    return {
        "url": source.url,
        "suite": source.suite,
        "components": list(source.components),
        "key": None,
        "key_url": source.key_url,
        "fingerprint": source.fingerprint,
    }


def _mirrored(lock: Lock, mirror: Mirror) -> dict[str, Any]:
    row = {
        "url": mirror.url,
        "suite": mirror.suite,
        "components": list(mirror.components),
        "key": mirror.key,
        "key_url": None,
        "fingerprint": None,
    }
    architectures = sorted(set(lock.architectures.values()))
    return {MIRROR: dict.fromkeys(architectures, row), **_vendors(mirror.beside)} if architectures else {}


def _is_in(mirror: Mirror, row: Locked) -> bool:
    elsewhere = row.repository in mirror.beside or builds(row.repository or "")
    return row.repository != DISTRIBUTION and not elsewhere
