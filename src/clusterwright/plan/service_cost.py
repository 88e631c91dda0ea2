"""What is paid beside machines: their disks, file systems, the way out and the way in."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.cloud import GIB, boot_disk
from clusterwright.catalog.services import service_price
from clusterwright.plan.aws.identity import endpoints
from clusterwright.plan.aws.storage import FileSystem, file_systems
from clusterwright.plan.boot_disk import boot_gib
from clusterwright.plan.cost import Metered, Part, PoolCost, ServiceCost
from clusterwright.plan.kept import kept
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import seen_from
from clusterwright.spec.google_storage import GOOGLE
from clusterwright.spec.pool import Role
from clusterwright.spec.site import AwsSite, GcpSite

_NAT_MACHINES = 32
"""Cloud NAT is paid by the machine up to so many."""


def services(outline: Outline, pools: tuple[PoolCost, ...]) -> Iterator[ServiceCost]:
    """In the order of the description: disks, file systems, network."""
    for pool in pools:
        yield from _disks(outline, pool)
    for name, site in outline.sites.items():
        if isinstance(site, AwsSite):
            yield from _amazon_storage(outline, name, site)
            yield from _amazon_network(site)
        elif isinstance(site, GcpSite):
            yield from _google_storage(outline, site)
            yield from _google_network(outline, name, site)


def metered(outline: Outline) -> Iterator[Metered]:
    """What has a price and no amount."""
    for name, site in outline.sites.items():
        if isinstance(site, AwsSite):
            if site.vpc is None and site.nat:
                yield from _rate("NAT gateway", "aws", "nat-gateway", site.region, "traffic-gb")
            if _attached(site):
                yield from _rate("link to other sites", "aws", "transit-gateway", site.region, "traffic-gb")
            for one in file_systems(seen_from(outline.spec, name)):
                if one.kind == "efs":
                    yield from _rate(one.mount, "aws", "efs", site.region, "stored-gb-month")
            if site.link is None:
                yield from _rate("the store", "aws", "s3", site.region, "stored-gb-month")
        elif isinstance(site, GcpSite) and site.vpc is None:
            yield from _rate("Cloud NAT", "gcp", "cloud-nat", site.region, "traffic-gb")


def _rate(name: str, provider: str, service: str, region: str, unit: str) -> Iterator[Metered]:
    if (price := service_price(provider, service, region, unit)) is not None:
        yield Metered(name, price)


def _disks(outline: Outline, pool: PoolCost) -> Iterator[ServiceCost]:
    """Boot disks go with their machines; what is kept stays."""
    wanted, kind = outline.spec.pools[pool.pool], outline.types[pool.pool]
    site = outline.sites[outline.site_names[pool.pool] or ""]
    if kind is None:
        return
    service = "gp3" if site.provider == "aws" else boot_disk("gcp", pool.machine) or "disks"
    spent = Role.COMPUTE in wanted.roles
    price = service_price(site.provider, service, pool.region, "gib-month")
    gib = boot_gib(wanted, kind) * pool.nodes
    yield ServiceCost("storage", f"disks of {pool.pool}", service, gib, price, pool.region, not spent)
    roles = [role for other in outline.spec.pools.values() for role in [other.roles]]
    dedicated = any(Role.STORAGE in one and Role.CONTROLLER not in one for one in roles)
    lasting = kept(outline.spec, tuple(role.value for role in wanted.roles), dedicated)
    if lasting:
        gib = lasting.gib * pool.nodes
        yield ServiceCost("storage", f"kept by {pool.pool}", service, gib, price, pool.region)


def _amazon_storage(outline: Outline, name: str, site: AwsSite) -> Iterator[ServiceCost]:
    for made in file_systems(seen_from(outline.spec, name)):
        if made.kind != "efs":
            service = _amazon_service(made)
            price = service_price("aws", service, site.region, "gib-month")
            yield ServiceCost("storage", made.mount, service, made.gib or 0, price, site.region)


def _amazon_service(made: FileSystem) -> str:
    if made.kind != "fsx-lustre":
        return made.kind
    return f"fsx-lustre persistent-2 {made.throughput}" if made.lasts else "fsx-lustre scratch-2"


def _amazon_network(site: AwsSite) -> Iterator[ServiceCost]:
    def of(name: str, service: str, amount: int) -> ServiceCost:
        price = service_price("aws", service, site.region, "hour")
        return ServiceCost("network", name, service, amount, price, site.region)

    if site.vpc is None and site.nat:
        yield of("NAT gateway", "nat-gateway", 1)
        yield of("its address", "public-address", 1)
    if _attached(site):
        yield of("link to other sites", "transit-gateway", 1)
    if wanted := endpoints(site):
        yield of("interface endpoints", "interface-endpoint", len(wanted))
    if site.ssh_from:
        yield of("load balancer", "network-load-balancer", 1)
        yield of("address of the load balancer", "public-address", 1)


def _attached(site: AwsSite) -> bool:
    """To a transit gateway, that is: a virtual private gateway costs nothing by itself."""
    return site.link is not None and (site.link.gateway or "").startswith("tgw-")


def _google_storage(outline: Outline, site: GcpSite) -> Iterator[ServiceCost]:
    for mount, share in sorted(outline.spec.storage.shares.items()):
        if isinstance(share, GOOGLE):
            tier = getattr(share, "tier", None) or getattr(share, "throughput_per_tib", "")
            service = f"{share.kind} {tier}"
            price = service_price("gcp", service, site.region, "gib-month")
            yield ServiceCost("storage", mount, service, share.size / GIB, price, site.region)


def _google_network(outline: Outline, name: str, site: GcpSite) -> Iterator[ServiceCost]:
    def of(what: str, service: str, amount: int, unit: str = "hour") -> ServiceCost:
        part: Part = "network"
        price = service_price("gcp", service, site.region, unit)
        return ServiceCost(part, what, service, amount, price, site.region)

    pools = [pool for pool, home in outline.site_names.items() if home == name]
    machines = sum(map(outline.count, pools))
    if site.vpc is None:
        few = machines <= _NAT_MACHINES
        yield of("Cloud NAT", "cloud-nat", machines if few else 1, "machine-hour" if few else "hour")
        yield of("its address", "public-address", 1)
    login = [pool for pool in pools if Role.LOGIN in outline.spec.pools[pool].roles]
    doors = login or [pool for pool in pools if Role.CONTROLLER in outline.spec.pools[pool].roles]
    if site.ssh_from and doors:
        yield of("addresses of login nodes", "public-address", sum(map(outline.count, doors)))
