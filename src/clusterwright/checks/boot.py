"""Network boot of own machines: who gives which address, what is started, and whether it can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from clusterwright.catalog.boot_loaders import boot_loader
from clusterwright.catalog.distributions import distribution, distributions
from clusterwright.catalog.subnets import reserved
from clusterwright.checks.machine_file import nodes_of, own_sites, short
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.plan.address import assign
from clusterwright.plan.images import is_built
from clusterwright.plan.outline import Outline
from clusterwright.spec.boot import Boot
from clusterwright.spec.pool import Pool, Role
from clusterwright.spec.site import OnpremSite

_FOLDER = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_SERVER = "the controller serves what machines boot: dnsmasq, nginx and iPXE run there"


def _booting(outline: Outline) -> Iterator[tuple[str, OnpremSite, Boot]]:
    """Sites whose machines boot over their network."""
    return ((name, site, site.boot) for name, site in own_sites(outline) if site.boot)


def _with_image(outline: Outline) -> Iterator[tuple[str, Pool, OnpremSite]]:
    """Pools of own machines that name an image."""
    for name, pool in outline.spec.pools.items():
        site = outline.sites.get(outline.site_names[name] or "")
        if pool.image and isinstance(site, OnpremSite):
            yield name, pool, site


def _served(outline: Outline) -> set[str | None]:
    """Sites that have a controller, which serves what is booted."""
    return {outline.site_names[pool] for pool, _ in outline.pools_with(Role.CONTROLLER)}


def _addresses(outline: Outline, name: str, site: OnpremSite, network: IPv4Network) -> dict[IPv4Address, str]:
    """Whose each address of a site's network is, as the plan will give them."""
    file = site.known_machines
    written = {row.node: row.address for row in file.rows if row.address} if file else {}
    try:
        given = assign(nodes_of(outline, name), network, reserved(site.provider), written)
    except StopIteration:  # no room: CW1211
        given = written
    return {IPv4Address(address): node for node, address in given.items()}


@rule(
    "CW1700",
    "An image, and nothing that it could be booted from",
    source="machines of one's own have their system already, unless they boot one over the network",
    example="site: {provider: onprem}, pools: {gpu: {image: debian-13}}",
)
def image_without_boot(outline: Outline) -> Iterator[Problem]:
    """It would do nothing, and its reader would believe that it does."""
    for name, _, site in _with_image(outline):
        if site.boot is None:
            what = "an image of own machines is booted over the network, and the site has no `boot`"
            yield Problem(f"pools.{name}.image", what, "Add `boot: {}` to the site, or leave the image out")


@rule(
    "CW1701",
    "A machine that nobody will know when it boots",
    source="DHCP (RFC 2131) knows a machine by the MAC of the card that it asks from",
    example="site: {boot: {}}, and a file of machines with a blank MAC",
)
def no_mac(outline: Outline) -> Iterator[Problem]:
    """It would get no address, and be told that it is unknown."""
    for name, site, _ in _booting(outline):
        file = site.known_machines
        macs = {row.node for row in file.rows if row.mac} if file else set()
        servers = (outline.names[pool] or () for pool, _ in outline.pools_with(Role.CONTROLLER))
        unknown = sorted({*nodes_of(outline, name)} - macs - {node for names in servers for node in names})
        if unknown and name in _served(outline):
            what = f"the MAC of {len(unknown)} machines is not known: {short(unknown)}"
            remedy = "Fill in `mac` in the site's file of machines: of the card that it boots from"
            yield Problem(site_field(name, "boot"), what, remedy)


@rule(
    "CW1702",
    "Addresses for unknown machines that are somebody's",
    source="dnsmasq(8), dhcp-range: addresses of a range are lent to whoever asks",
    example="site: {network: 10.70.0.0/24, boot: {unknown: 10.70.0.2-10.70.0.9}}",
)
def range_taken(outline: Outline) -> Iterator[Problem]:
    """A stranger would get the address of a node that is off, and the node's traffic when it is back."""
    for name, site, boot in _booting(outline):
        network = outline.networks[name]
        if boot.unknown is None or network is None:
            continue
        first, last = map(IPv4Address, boot.unknown.split("-"))
        path, kept = site_field(name, "boot.unknown"), (network.network_address, network.broadcast_address)
        owners = _addresses(outline, name, site, network)
        taken = [node for address, node in owners.items() if first <= address <= last]
        ways = [boot.gateway] if boot.gateway and first <= IPv4Address(boot.gateway) <= last else []
        if first not in network or last not in network or first in kept or last in kept:
            what = f"'{boot.unknown}' is not within {network}"
            yield Problem(path, what, "Take addresses of the nodes' network, at its end")
        elif taken or ways:
            what = f"'{boot.unknown}' has addresses of {short(taken) if taken else 'the gateway'}"
            yield Problem(path, what, "Take addresses at the end of the network, above those of the nodes")


@rule(
    "CW1703",
    "What the other DHCP server gives",
    source="a proxy DHCP server gives no address and no route (PXE specification 2.1, 2.2.3)",
    example="boot: {dhcp_server: 10.70.0.1, gateway: 10.70.0.1}",
)
def said_to_nobody(outline: Outline) -> Iterator[Problem]:
    """It would do nothing: addresses, gateway and name servers come from the server that is there."""
    for name, _, boot in _booting(outline):
        for key in ("unknown", "gateway", "name_servers"):
            if boot.dhcp_server and getattr(boot, key):
                what = f"{boot.dhcp_server} gives addresses, and tells them nothing of '{key}'"
                yield Problem(site_field(name, f"boot.{key}"), what, "Set it there, and leave it out here")


@rule(
    "CW1704",
    "Network boot without a server",
    source=_SERVER,
    example="sites: {hall: {provider: onprem, boot: {}}}, with the controller on another site",
)
def nobody_serves(outline: Outline) -> Iterator[Problem]:
    """A machine asks with a broadcast, which reaches no other network."""
    for name, _, _ in _booting(outline):
        if name not in _served(outline):
            what = "the controller, which would serve it, is on another site"
            yield Problem(site_field(name, "boot"), what, "Leave it out, or give this site the controller")


@rule(
    "CW1705",
    "No known boot loader for the distribution",
    source="catalog/data/boot_loaders.csv and packages.csv: an empty cell is what no source tells",
    example="software: {distribution: amazon-2023}, site: {boot: {}}",
)
def loader_unknown(outline: Outline) -> Iterator[Problem]:
    """What a distribution calls iPXE and where it puts it is a fact with a source, never a guess."""
    row = distribution(outline.spec.software.distribution)
    if boot_loader(row.family) and row.parts["network-boot"].packages:
        return
    known = [one.name for one in distributions().values() if boot_loader(one.family)]
    for name, _, _ in _booting(outline):
        what = f"no source tells where {row.name} has iPXE"
        yield Problem(site_field(name, "boot"), what, f"Known for {', '.join(known)}")


@rule(
    "CW1706",
    "A server or gateway that nodes cannot reach",
    source="RFC 2131: DHCP begins with a broadcast; RFC 1122: a gateway is on a network of the host",
    example="site: {network: 10.70.0.0/24, boot: {gateway: 10.80.0.1}}",
)
def out_of_reach(outline: Outline) -> Iterator[Problem]:
    """It has to be in the nodes' own network, and nobody else may have its address."""
    for name, site, boot in _booting(outline):
        network = outline.networks[name]
        owners = _addresses(outline, name, site, network) if network else {}
        for key in ("dhcp_server", "gateway"):
            value = getattr(boot, key)
            if network is None or value is None:
                continue
            owner = owners.get(IPv4Address(value))
            if IPv4Address(value) not in network:
                what = f"'{value}' is not in the nodes' network, {network}"
                yield Problem(site_field(name, f"boot.{key}"), what, "Mend the address or the network")
            elif owner:
                what = f"'{value}' is the address of '{owner}'"
                yield Problem(site_field(name, f"boot.{key}"), what, "Give one of them another address")


@rule(
    "CW1707",
    "No boot loader for this processor",
    source="catalog/data/boot_loaders.csv: an empty cell is what no source tells",
    example="software: {distribution: debian-13}, pools: {gpu: {machine: gb200-nvl72-tray, image: arm}}",
)
def loader_of_another_processor(outline: Outline) -> Iterator[Problem]:
    """The firmware of these machines starts nothing that was made for another processor."""
    loader = boot_loader(distribution(outline.spec.software.distribution).family)
    for name, _, site in _with_image(outline):
        hardware = outline.hardware[name]
        if site.boot and loader and hardware and not loader.uefi.get(hardware.architecture):
            what = (
                f"no source tells of iPXE for {hardware.architecture} in {outline.spec.software.distribution}"
            )
            yield Problem(f"pools.{name}.image", what, "Take a distribution of Red Hat's family")


@rule(
    "CW1708",
    "A node that would forget what it keeps",
    source="an image that is not written to a disk runs from memory: nothing is left when the machine is off",
    example="pools: {store: {roles: storage, image: debian-13}}",
)
def forgets(outline: Outline) -> Iterator[Problem]:
    """The controller keeps Slurm's state and serves the image; a file server keeps people's files."""
    for name, pool, _ in _with_image(outline):
        keeps = [role for role in (Role.CONTROLLER, Role.STORAGE) if role in pool.roles]
        if keeps == [Role.STORAGE] and pool.install_to:
            continue
        if Role.CONTROLLER in keeps and pool.install_to:
            what = "the controller serves the image, and could not boot it from itself"
            yield Problem(f"pools.{name}.image", what, "Install its system otherwise, and leave both out")
        elif keeps:
            what = f"the image runs from memory, and a {keeps[0].value} keeps files"
            yield Problem(
                f"pools.{name}.image", what, "Give it a disk with a system, and leave the image out"
            )


@rule(
    "CW1709",
    "No folder's name",
    source="images stand in /srv/clusterwright/www/images of the controller, a folder each",
    example="pools: {gpu: {image: 'projects/company/debian-13'}}",
)
def image_no_folder(outline: Outline) -> Iterator[Problem]:
    """Machines fetch it by that name."""
    for name, pool, site in _with_image(outline):
        if site.boot and not is_built(pool) and not _FOLDER.fullmatch(pool.image or ""):
            what = f"'{pool.image}' is no name of a folder"
            yield Problem(f"pools.{name}.image", what, "Write letters, digits, dots and dashes: debian-13.2")


def _with_built(outline: Outline) -> Iterator[tuple[str, Pool, OnpremSite]]:
    """Pools of own machines whose image is built here."""
    return ((name, pool, site) for name, pool, site in _with_image(outline) if site.boot and is_built(pool))


@rule(
    "CW1710",
    "No image is built of this distribution",
    source="catalog/data/packages.csv, part boot-image: images are made on Debian's root file system",
    example="software: {distribution: ubuntu-24.04}, pools: {work: {image: built}}",
)
def image_of_another_distribution(outline: Outline) -> Iterator[Problem]:
    """The builder of images starts from a root file system of Debian's."""
    row = distribution(outline.spec.software.distribution)
    if row.parts["boot-image"].packages:
        return
    known = [one.name for one in distributions().values() if one.parts["boot-image"].packages]
    for name, _, _ in _with_built(outline):
        what = f"no image for network boot is built of {row.name}"
        remedy = f"Take {' or '.join(known)}, or name a folder with an image of your own"
        yield Problem(f"pools.{name}.image", what, remedy)


@rule(
    "CW1711",
    "An image without the modules that its machines need",
    source="a GPU's driver is a kernel module, built for the kernel that runs: that of the builder's host",
    example="pools: {gpu: {machine: rtx4090-workstation, image: built}}",
)
def image_without_driver(outline: Outline) -> Iterator[Problem]:
    """The machine would boot, and have no GPU."""
    for name, _, _ in _with_built(outline):
        hardware = outline.hardware[name]
        if hardware and hardware.gpus:
            what = "no image for network boot is built with the driver of a GPU"
            remedy = "Start these machines from their disks, or name a folder with an image of your own"
            yield Problem(f"pools.{name}.image", what, remedy)


@rule(
    "CW1795",
    "A disk, and no image that could be written to it",
    source="docs/netboot.md: what is written is the image that clusterwright builds",
    example="pools: {work: {install_to: /dev/disk/by-path/pci-0000:01:00.0-nvme-1}}, without `image: built`",
)
def disk_without_image(outline: Outline) -> Iterator[Problem]:
    """It would do nothing; of an image of one's own nobody knows how it is made to start from a disk."""
    for name, pool in outline.spec.pools.items():
        site = outline.sites.get(outline.site_names[name] or "")
        if not pool.install_to or site is None:
            continue
        if not isinstance(site, OnpremSite):
            what = f"'install_to' is for machines of one's own, and the site is of '{site.provider}'"
            yield Problem(f"pools.{name}.install_to", what, "Leave it out")
        elif not is_built(pool):
            what = "only an image that is built here can be written to a disk"
            yield Problem(f"pools.{name}.install_to", what, "Write `image: built` beside it, or leave it out")
