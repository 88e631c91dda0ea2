"""AWS: what its network, its images and its file systems ask for."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from clusterwright.catalog.cloud import GIB, Sizes, storage_sizes
from clusterwright.catalog.images import image
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.aws.build import NO_GROUP, PARTITIONS
from clusterwright.plan.aws.storage import PER_TIB
from clusterwright.plan.outline import Outline
from clusterwright.spec.aws_storage import AMAZON, Efs, FsxLustre, FsxOpenZfs
from clusterwright.spec.site import AwsSite


def _sites(outline: Outline) -> Iterator[tuple[str, AwsSite]]:
    return ((name, site) for name, site in outline.sites.items() if isinstance(site, AwsSite))


def _shares(outline: Outline) -> Iterator[tuple[str, FsxLustre | Efs | FsxOpenZfs]]:
    return ((field, share) for field, _, share in outline.shares if isinstance(share, AMAZON))


@rule(
    "CW1353",
    "No image of the distribution on AWS",
    source="the table of images: names that distributions keep in AWS Systems Manager",
    example="site: {provider: aws, …}, software: {distribution: rocky-9}",
)
def no_image(outline: Outline) -> Iterator[Problem]:
    """There is nothing to boot the machines from."""
    distribution = outline.spec.software.distribution
    for pool, kind in outline.types.items():
        site = outline.sites.get(outline.site_names[pool] or "")
        if not isinstance(site, AwsSite) or kind is None or outline.spec.pools[pool].image:
            continue
        if image(distribution, "aws", kind.hardware.architecture) is None:
            what = f"no image of {distribution} for {kind.hardware.architecture} is known on AWS"
            remedy = "Name one with `image: ami-…`, or take another distribution"
            yield Problem(f"pools.{pool}.machine", what, remedy)


@rule(
    "CW1354",
    "A file system of AWS without a site there",
    source="Amazon FSx and EFS are reached from a VPC",
    example="site: {provider: onprem}, storage: {shares: {/home: {kind: efs}}}",
)
def share_of_another_cloud(outline: Outline) -> Iterator[Problem]:
    """Nobody would make it, and no node could reach it."""
    if outline.sites and not any(_sites(outline)):
        for field, share in _shares(outline):
            what = f"'{share.kind}' is made on AWS, and no site of this cluster is there"
            yield Problem(f"{field}.kind", what, "Take a kind of share that the site has")


@rule(
    "CW1355",
    "A size that Amazon does not make",
    source="the table of sizes: FSx for Lustre and FSx for OpenZFS, storage capacity",
    example="storage: {shares: {/scratch: {kind: fsx-lustre, size: 2 TiB}}}",
)
def size_not_offered(outline: Outline) -> Iterator[Problem]:
    """Amazon would refuse it after everything before it is made."""
    for field, share in _shares(outline):
        if isinstance(share, Efs):
            continue
        ranges = storage_sizes()[share.kind, _tier(share)]
        if not any(sizes.take(share.size / GIB) for sizes in ranges):
            what = f"'{share.kind}' is not made with {share.size / GIB:,.0f} GiB"
            yield Problem(f"{field}.size", what, f"Take {' or '.join(map(_told, ranges))}")


def _tier(share: FsxLustre | FsxOpenZfs) -> str:
    if isinstance(share, FsxOpenZfs):
        return "single-az-2"
    if share.efa and share.deployment == "persistent-2":
        return f"persistent-2-efa-{share.throughput_per_tib or PER_TIB}"
    return share.deployment


def _told(sizes: Sizes) -> str:
    if sizes.least == sizes.most:
        return f"{sizes.least:,} GiB"
    step = f" in steps of {sizes.step:,} GiB" if sizes.step > 1 else ""
    return f"{sizes.least:,} to {sizes.most:,} GiB{step}"


@rule(
    "CW1356",
    "What a scratch file system does not have",
    source="FSx for Lustre User Guide: tiers, data repository associations and EFA of Persistent 2",
    example="shares: {/scratch: {kind: fsx-lustre, deployment: scratch-2, throughput_per_tib: 500, …}}",
)
def scratch_asks_too_much(outline: Outline) -> Iterator[Problem]:
    """`scratch-2` has one throughput, follows no bucket and has no EFA: Amazon refuses all three."""
    for field, share in _shares(outline):
        if isinstance(share, FsxLustre) and share.deployment == "scratch-2":
            for key in ("throughput_per_tib", "repositories", "efa"):
                if getattr(share, key):
                    what = f"a file system of the deployment scratch-2 has no '{key}'"
                    yield Problem(f"{field}.{key}", what, "Remove it, or take `deployment: persistent-2`")


@rule(
    "CW1358",
    "The login nodes are open to everybody on AWS",
    source="AWS Security Hub control EC2.13: no 0.0.0.0/0 to port 22",
    example="site: {provider: aws, ssh_from: [0.0.0.0/0], …}",
    severity=Severity.WARNING,
)
def open_to_everybody(outline: Outline) -> Iterator[Problem]:
    """Passwords are guessed within minutes of the first boot, and so will be the next fault of the server."""
    for name, site in _sites(outline):
        if any(IPv4Network(network).prefixlen == 0 for network in site.ssh_from):
            what = "the login nodes may be reached from the whole internet"
            remedy = "Name your networks, or leave it out and use EC2 Instance Connect"
            yield Problem(site_field(name, "ssh_from"), what, remedy)


@rule(
    "CW1359",
    "A VPC of one's own that is told of in part",
    source="addresses of nodes are planned; a load balancer that the internet reaches is in a public subnet",
    example="site: {provider: aws, vpc: {id: vpc-…, nodes: subnet-…, …}, …}, without `network`",
)
def existing_network_in_part(outline: Outline) -> Iterator[Problem]:
    """Nodes would be given addresses that the subnet does not have, or people a way in that leads nowhere."""
    for name, site in _sites(outline):
        if site.vpc is None:
            continue
        if site.network is None:
            what = f"nobody says which part of {site.vpc.nodes} is free for nodes"
            yield Problem(site_field(name, "vpc"), what, "Add `network`: a part of the subnet's range")
        if site.ssh_from and site.vpc.public is None:
            what = "the load balancer for `ssh_from` has no subnet that the internet reaches"
            yield Problem(
                site_field(name, "ssh_from"), what, "Add `public` to `vpc`, or leave `ssh_from` out"
            )


@rule(
    "CW1360",
    "A name that AWS does not take",
    source="Elastic Load Balancing API Reference: names of 32 characters; Pulumi adds 8 of its own",
    example="cluster: a-name-of-twenty-four-characters, site: {provider: aws, ssh_from: […], …}",
)
def name_too_long(outline: Outline) -> Iterator[Problem]:
    """The load balancer is named after the cluster, and is refused after everything before it is made."""
    for _, site in _sites(outline):
        longest = 32 - len("-login") - 8
        if site.ssh_from and len(outline.spec.cluster) > longest:
            what = f"the name has {len(outline.spec.cluster)} characters, and a load balancer takes {longest}"
            yield Problem("cluster", what, "Shorten it, or leave `ssh_from` out")


@rule(
    "CW1343",
    "A placement that AWS does not make",
    source="Amazon EC2 User Guide, placement groups: strategies by instance type; seven a zone for `spread`",
    example="pools: {gpu: {machine: p5.48xlarge, count: 8, placement: spread}}",
)
def placement_not_made(outline: Outline) -> Iterator[Problem]:
    """Machines that do not fit their group are refused when the first of them is asked for."""
    for name, pool in outline.spec.pools.items():
        if pool.placement is None:
            continue
        field, kind = f"pools.{name}.placement", outline.types[name]
        if not isinstance(outline.sites.get(outline.site_names[name] or ""), AwsSite):
            yield Problem(field, "placement groups are made on AWS", "Leave `placement` out")
        elif pool.placement == "none":
            continue
        elif outline.capacity(name) in NO_GROUP:
            what = f"machines that are got as '{outline.capacity(name)}' stand where they were bought"
            yield Problem(field, what, "Leave `placement` out")
        elif kind is not None and kind.placement and pool.placement not in kind.placement:
            what = f"'{kind.name}' is not made in a group '{pool.placement}'"
            yield Problem(field, what, f"Take one of: {', '.join(kind.placement)}, or `none`")
        elif pool.placement == "spread" and outline.count(name) > PARTITIONS:
            what = f"a group 'spread' has {PARTITIONS} machines at most, and there are {outline.count(name)}"
            yield Problem(field, what, "Take `partition`")
