"""Network boot: what dnsmasq, nginx and iPXE on the controller are told of the machines of its site."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import Any

from clusterwright.catalog.boot_loaders import BootLoader, boot_loader
from clusterwright.catalog.distributions import distribution
from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile
from clusterwright.render.templates import fill
from clusterwright.spec.pool import BUILT

CONFIGURATION = "/etc/clusterwright/boot"
ROOT = "/srv/clusterwright/www"
"""What is served over HTTP; images stand in its folder `images`."""
_KINDS = {"x86_64": (("X86-64_EFI", 7), ("BC_EFI", 9)), "aarch64": (("ARM64_EFI", 11),)}
"""UEFI by architecture: dnsmasq's name and the number that DHCP's option 93 has (IANA, processor
architecture types; x86-64 is 7 in practice and 9 in what was first written)."""
_BIOS = ("x86PC", 0)
_ROLE = ("controller",)


@dataclass(frozen=True, slots=True)
class _Site:
    server: Node
    network: IPv4Network
    boot: Mapping[str, Any]
    loader: BootLoader

    @property
    def base(self) -> str:
        return f"http://{self.server.address}:{self.boot['http_port']}"


def server(handoff: Handoff) -> Node | None:
    """The controller, where machines of its site boot over the network."""
    controllers = handoff.with_role("controller")
    here = (node for node in controllers if handoff.site[node.site].get("boot"))
    return next(here, None)


def serves(handoff: Handoff, node: Node) -> bool:
    """Whether it answers machines that boot; two would answer each other's."""
    found = server(handoff)
    return found is not None and found.name == node.name


def script_of(mac: str) -> str:
    """Where it stands what a machine starts."""
    return f"{ROOT}/nodes/{mac.replace(':', '-')}.ipxe"


def order_of(mac: str) -> str:
    """Where it stands that a machine's disk is to be written."""
    return f"{ROOT}/orders/{mac.replace(':', '-')}.ipxe"


def order(image: str, write: str) -> str:
    """Has a machine start this image to write its disk; `write`: also over `rewrite` or `erase`."""
    return fill("boot/order.ipxe.j2", digest=image.partition(":")[2], write=write)


def files(handoff: Handoff) -> tuple[NodeFile, ...]:
    node = server(handoff)
    loader = boot_loader(distribution(handoff.software["distribution"]).family)
    if node is None or loader is None:
        return ()
    section = handoff.site[node.site]
    site = _Site(node, IPv4Network(section["network"]), section["boot"], loader)
    found = (*_services(handoff, site), *_scripts(handoff, site))
    return tuple(replace(file, node=node.name) for file in found)


def _services(handoff: Handoff, site: _Site) -> Iterator[NodeFile]:
    boot, address = site.boot, site.server.address
    restart, base = ("clusterwright-boot-dhcp:restart",), CONFIGURATION
    common = {"cluster": handoff.name, "server": address}
    uefi = [(*kind, file) for name, file in site.loader.uefi.items() if file for kind in _KINDS[name]]
    every = [(*_BIOS, site.loader.bios), *uefi]
    dnsmasq = fill(
        "boot/dnsmasq.conf.j2",
        **common,
        network=site.network,
        domain=f"{handoff.name}.{handoff.cluster['domain']}",
        loader=site.loader,
        dhcp_server=boot["dhcp_server"],
        unknown=boot["unknown"].split("-") if boot["unknown"] else None,
        gateway=boot["gateway"],
        name_servers=boot["name_servers"],
        first=[(kind, file) for kind, _, file in every],
        architectures=[(number, file) for _, number, file in every],
        start=f"{site.base}/start.ipxe",
    )
    yield NodeFile(f"{base}/dnsmasq.conf", dnsmasq, _ROLE, affects=restart)
    asked = json.dumps({"address": address, "dhcp_server": boot["dhcp_server"]}, sort_keys=True) + "\n"
    yield NodeFile(f"{base}/network.json", asked, _ROLE, affects=restart)
    hosts = fill("boot/hosts.j2", machines=list(_hosts(handoff, site)))
    yield NodeFile(f"{base}/hosts", hosts, _ROLE, affects=("clusterwright-boot-dhcp:reload",))
    nginx = fill("boot/nginx.conf.j2", **common, port=boot["http_port"], root=ROOT)
    yield NodeFile(f"{base}/nginx.conf", nginx, _ROLE, affects=("clusterwright-boot-http:restart",))
    yield NodeFile(f"{ROOT}/start.ipxe", fill("boot/start.ipxe.j2", **common, base=site.base), _ROLE)


def _booting(handoff: Handoff, site: _Site) -> Iterator[tuple[str, Node]]:
    """MAC and node of every machine that can be told what to start: all but the one that tells it."""
    for node in handoff.nodes:
        mac = handoff.machines.get(node.name, {}).get("mac")
        if mac and node.site == site.server.site and node.name != site.server.name:
            yield mac, node


def _hosts(handoff: Handoff, site: _Site) -> Iterator[tuple[str, str, str]]:
    for mac, node in _booting(handoff, site):
        yield mac, node.name, "" if site.boot["dhcp_server"] else node.address


def _scripts(handoff: Handoff, site: _Site) -> Iterator[NodeFile]:
    for mac, node in _booting(handoff, site):
        image = site.boot["images"].get(node.pool)
        text = _script(site, node, image) if image else fill("boot/disk.ipxe.j2", name=node.name)
        yield NodeFile(script_of(mac), text, _ROLE)


def _script(site: _Site, node: Node, image: str) -> str:
    """Kernel arguments as dracut reads them: the image is fetched whole into memory, and nothing is kept."""
    values = {"name": node.name, "base": site.base, "server": site.server.address}
    arguments = [
        "rd.neednet=1",
        "ip=dhcp",
        "BOOTIF=01-${netX/mac:hexhyp}",
        f"systemd.hostname={node.name}",
        *site.boot["arguments"],
    ]
    kind, _, digest = image.partition(":")
    if disk := site.boot.get("disks", {}).get(node.pool):
        return fill("boot/installed.ipxe.j2", **values, disk=disk, arguments=arguments)
    if kind == BUILT:
        return fill("boot/built.ipxe.j2", **values, digest=digest or BUILT, arguments=arguments)
    root = [
        "initrd=initrd.img",  # UEFI's way to find it; BIOS does not look
        f"root=live:{site.base}/images/{image}/root.squashfs",
        "rd.live.overlay.overlayfs=1",
    ]
    return fill("boot/image.ipxe.j2", **values, image=image, arguments=[*root, *arguments])
