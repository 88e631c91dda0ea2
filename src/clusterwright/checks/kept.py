"""Volumes that outlive their machines: what they are made from, and what encrypts them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.plan.kept import kept
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Pool, Role
from clusterwright.spec.site import AwsSite, GcpSite, Site

_SNAPSHOTS = {
    "aws": r"snap-[0-9a-f]{8,17}",
    "gcp": r"projects/[^/]+/global/snapshots/[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
}


def _made_from(outline: Outline) -> Iterator[tuple[str, Pool, Site | None]]:
    for name, pool in outline.spec.pools.items():
        if pool.kept_from is not None:
            yield name, pool, outline.sites.get(outline.site_names[name] or "")


@rule(
    "CW1760",
    "A snapshot for what keeps no volume",
    source="a cloud's controller and storage nodes keep what is theirs on a volume of their own",
    example="pools: {gpu: {roles: compute, kept_from: snap-0123456789abcdef0}}",
)
def nothing_kept(outline: Outline) -> Iterator[Problem]:
    """Nobody would look at it, and what it holds would be believed to be back."""
    dedicated = any(Role.STORAGE in one.roles and Role.CONTROLLER not in one.roles for one in _pools(outline))
    for name, pool, site in _made_from(outline):
        roles = tuple(role.value for role in pool.roles)
        if not isinstance(site, AwsSite | GcpSite) or kept(outline.spec, roles, dedicated) is None:
            what = f"the machines of '{name}' have no volume that outlives them"
            yield Problem(
                f"pools.{name}.kept_from", what, "Take it away, or give it to the pool that keeps one"
            )


@rule(
    "CW1761",
    "A snapshot of another cloud",
    source="Amazon EC2, IDs of snapshots; Compute Engine, names of snapshots",
    example="site: {provider: gcp, …}, pools: {head: {roles: controller, kept_from: snap-0123456789abcdef0}}",
)
def snapshot_of_another_cloud(outline: Outline) -> Iterator[Problem]:
    """The cloud would refuse the volume."""
    for name, pool, site in _made_from(outline):
        form = _SNAPSHOTS.get(site.provider) if site else None
        if form is not None and not re.fullmatch(form, pool.kept_from or ""):
            remedy = (
                "Write its ID, `snap-…`"
                if isinstance(site, AwsSite)
                else "Write it as `projects/ID/global/snapshots/NAME`"
            )
            yield Problem(
                f"pools.{name}.kept_from", f"'{pool.kept_from}' is no snapshot of this cloud", remedy
            )


@rule(
    "CW1762",
    "A key of another region",
    source="AWS KMS; Cloud KMS with Filestore and Cloud Storage: a key encrypts in its own region",
    example="site: {provider: aws, region: us-east-2, kms_key: 'arn:aws:kms:eu-west-1:…', …}",
)
def key_of_another_region(outline: Outline) -> Iterator[Problem]:
    """The first disk would be refused."""
    for name, site in outline.sites.items():
        if not isinstance(site, AwsSite | GcpSite) or site.kms_key is None:
            continue
        region = site.kms_key.split(":" if site.provider == "aws" else "/")[3]
        if region != site.region:
            what = f"the key is in {region}, and what it should encrypt in {site.region}"
            yield Problem(site_field(name, "kms_key"), what, "Name a key of the site's region")


def _pools(outline: Outline) -> Iterator[Pool]:
    return iter(outline.spec.pools.values())
