"""Clouds: machines that do not fit together, and what a machine cannot be given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterwright.catalog.choice import CLOUDS
from clusterwright.catalog.cloud import GIB
from clusterwright.checks.cloud import cloud_pools
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.aws.build import NO_GROUP
from clusterwright.plan.images import is_built
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role
from clusterwright.spec.site import AwsSite, GcpSite, OnpremSite

_AMAZONS_IMAGE = re.compile(r"ami-[0-9a-f]{8,17}|resolve:ssm:/[A-Za-z0-9_./:-]+")
_LARGEST_DISK = 64 * 1024
"""GiB of gp3, of pd-balanced and of hyperdisk-balanced."""
_ENOUGH, _ENOUGH_WITH_GPUS = 20, 50


@rule(
    "CW1531",
    "A fabric whose machines stand apart",
    source="aws-parallelcluster 451cc53, EfaPlacementGroup; Amazon EC2 User Guide, placement groups",
    example="pools: {gpu: {machine: p5.48xlarge, count: 4, placement: spread}}",
    severity=Severity.WARNING,
)
def fabric_set_apart(outline: Outline) -> Iterator[Problem]:
    """The cards are paid for, and the network between the machines has further to go."""
    for name, site, kind in cloud_pools(outline):
        pool = outline.spec.pools[name]
        apart = pool.placement not in (None, "cluster") and "cluster" in kind.placement
        grouped = isinstance(site, AwsSite) and outline.capacity(name) not in NO_GROUP
        together = kind.fabric_gbps and Role.COMPUTE in pool.roles and outline.count(name) > 1
        if apart and grouped and together and not _refused(outline, name):
            what = f"{outline.count(name)} '{kind.name}' have a fabric, and are placed as '{pool.placement}'"
            yield Problem(f"pools.{name}.placement", what, "Leave `placement` out, or write `cluster`")


def _refused(outline: Outline, name: str) -> bool:
    """CW1343 says so."""
    return outline.spec.pools[name].placement == "spread" and outline.count(name) > 7


@rule(
    "CW1532",
    "A partition mixes fabrics",
    source="aws-parallelcluster 451cc53, InstancesEFA and InstancesNetworking validators",
    example="pools: {a: {machine: p5.48xlarge, partitions: gpu}, b: {machine: p5.4xlarge, partitions: gpu}}",
    severity=Severity.WARNING,
)
def partition_mixes_fabrics(outline: Outline) -> Iterator[Problem]:
    """A job over both runs at the speed of the slower network, and nothing says why."""
    first: dict[str, tuple[str, int | None]] = {}
    for name, _, kind in cloud_pools(outline):
        pool = outline.spec.pools[name]
        for partition in (pool.partitions or [name]) if Role.COMPUTE in pool.roles else ():
            other, gbps = first.setdefault(partition, (name, kind.fabric_gbps))
            gpu = outline.hardware[other]
            if gbps != kind.fabric_gbps and gpu is not None and gpu.gpu_type == kind.hardware.gpu_type:
                ours, theirs = (f"{rate or 0:,} Gbit/s" for rate in (kind.fabric_gbps, gbps))
                what = f"the partition '{partition}' has a fabric of {theirs}, and of {ours} here"
                yield Problem(f"pools.{name}.partitions", what, "Give each type a partition of its own")


@rule(
    "CW1533",
    "Not an image of this cloud",
    source="Amazon EC2 API Reference, RunInstances: ImageId; Google Compute Engine: initializeParams.image",
    example="site: {provider: aws, …}, pools: {gpu: {image: debian-13}}",
)
def image_of_another_cloud(outline: Outline) -> Iterator[Problem]:
    """AWS takes IDs that begin with `ami-`, Google Cloud names, families and paths."""
    for name, site, _ in cloud_pools(outline):
        image = outline.spec.pools[name].image
        if image is None or is_built(outline.spec.pools[name]):
            continue
        if isinstance(site, AwsSite) and not _AMAZONS_IMAGE.fullmatch(image):
            what = f"'{image}' is not the ID of an image on AWS"
            yield Problem(f"pools.{name}.image", what, "Write `ami-…`, or `resolve:ssm:` and a parameter")
        elif isinstance(site, GcpSite) and _AMAZONS_IMAGE.fullmatch(image):
            what = f"'{image}' is an image of AWS"
            yield Problem(f"pools.{name}.image", what, "Write a name or `projects/…/global/images/…`")


@rule(
    "CW1534",
    "What only a cloud takes",
    source="machines of one's own and of the lab have their disks and their system already",
    example="site: {provider: onprem}, pools: {gpu: {disk: 500 GiB}}",
)
def cloud_only(outline: Outline) -> Iterator[Problem]:
    """It would do nothing, and its reader would believe that it does."""
    for name, pool in outline.spec.pools.items():
        site = outline.sites.get(outline.site_names[name] or "")
        if site is None or site.provider in CLOUDS:
            continue
        boots = isinstance(site, OnpremSite)  # what it boots over the network is judged by CW1700
        for key in ("disk",) if boots else ("image", "disk"):
            if getattr(pool, key) is not None:
                what = f"'{key}' is for machines of a cloud, and the site is of '{site.provider}'"
                yield Problem(f"pools.{name}.{key}", what, "Leave it out")


@rule(
    "CW1535",
    "Racks of a cloud",
    source="a cloud tells no rack; AWS placement groups and Google's placement policies stand for it",
    example="site: {provider: aws, …}, pools: {gpu: {racks: {nodes_per_rack: 4}}}",
)
def racks_of_a_cloud(outline: Outline) -> Iterator[Problem]:
    """Slurm and the power plan would be told of racks that nobody knows."""
    for name, _, _ in cloud_pools(outline):
        if outline.spec.pools[name].racks is not None:
            what = "which rack a machine of a cloud stands in is the cloud's to decide"
            yield Problem(f"pools.{name}.racks", what, "Leave it out; AWS takes a `placement`")


@rule(
    "CW1536",
    "A small disk to boot from",
    source=f"a choice of this project: {_ENOUGH} GiB, {_ENOUGH_WITH_GPUS} with drivers and CUDA beside it",
    example="pools: {gpu: {machine: p5.48xlarge, disk: 16 GiB}}",
    severity=Severity.WARNING,
)
def small_disk(outline: Outline) -> Iterator[Problem]:
    """An image has 8 to 20 GiB, and a disk below its image is refused; a full one takes the node down."""
    for name, _, kind in cloud_pools(outline):
        disk = outline.spec.pools[name].disk
        enough = _ENOUGH_WITH_GPUS if kind.hardware.gpus else _ENOUGH
        if disk is not None and disk < enough * GIB:
            what = f"{disk / GIB:.3g} GiB for the system, its packages and its logs"
            yield Problem(f"pools.{name}.disk", what, f"Take {enough} GiB or more")


@rule(
    "CW1537",
    "A larger disk than a cloud makes",
    source="Amazon EBS User Guide, General Purpose SSD: 64 TiB; Google Cloud, Persistent Disk: 64 TiB",
    example="pools: {gpu: {disk: 100 TiB}}",
)
def large_disk(outline: Outline) -> Iterator[Problem]:
    """The first machine of the pool is refused."""
    for name, _, _ in cloud_pools(outline):
        disk = outline.spec.pools[name].disk
        if disk is not None and disk > _LARGEST_DISK * GIB:
            what = f"{disk / GIB / 1024:,.4g} TiB, and a disk has {_LARGEST_DISK // 1024} at most"
            yield Problem(f"pools.{name}.disk", what, "Keep data on a share, see `storage`")
