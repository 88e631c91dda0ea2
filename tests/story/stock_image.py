"""A machine as a cloud makes it from Debian's own image: what that has, and nothing of a lab's images."""

from __future__ import annotations

import hashlib
from ipaddress import IPv4Address

import pytest

from clusterwright.catalog.distributions import distribution
from clusterwright.handoff import Handoff
from clusterwright.operate.lab.hardware import simulated_hardware
from clusterwright.operate.lab.shares import lab_shares
from clusterwright.operate.lab.vendors import VENDOR_FOLDER
from clusterwright.operate.pull.converge import start_with
from clusterwright.operate.source import Source
from clusterwright.operate.work import begun
from clusterwright.providers.lab import ssh
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.image import bake
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import Bind, LabNode
from clusterwright.providers.lab.rootfs import Base

from .ground import Desk, archives

_PACKAGES = {
    "13/package_config/SYSTEM_BOOT": """
        apparmor apt-utils init iptables iputils-ping less libnss-myhostname libnss-resolve libpam-systemd
        linux-sysctl-defaults nano netbase netplan.io polkitd sudo systemd-resolved unattended-upgrades
        vim-tiny whiptail zstd""",
    "package_config/CLOUD": "openssh-server",
    "package_config/GENERIC": "cloud-guest-utils cloud-init",
}
"""By the file of Debian's cloud images that asks for each (cloud-team/debian-cloud-images, salsa.debian.org,
config_space, 2026-11), none with what it recommends. Left out is what a node of a lab cannot have: a kernel,
its initramfs and boot loader, and a clock."""
_NAMES = " ".join(" ".join(_PACKAGES.values()).split())
_INSTALL = f"""
apt-get update -qq
apt-get install -qq -y --no-install-recommends {_NAMES} >/dev/null
rm -r /var/lib/apt/lists/*
"""


def machine(desk: Desk, name: str) -> None:
    """Boot this node of the desk's description from it, with the user data that all nodes have."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(desk.state))
        with begun(Source(desk.folder / "cluster.yaml")) as work:
            assert work.store
            _boot(desk, work.handoff, name, start_with(work.store, work.desired))


def _boot(desk: Desk, handoff: Handoff, name: str, user_data: str) -> None:
    home, node = LabHome.of_user(desk.environment), handoff.by_name[name]
    base = Base(distribution(handoff.software["distribution"]).codename)
    digest = hashlib.sha256(f"stock {base.digest()} {_INSTALL}".encode()).hexdigest()[:16]
    image = bake(home, digest, _installed, _told, base)
    Lab(home, handoff.name).ensure(
        [LabNode(name, IPv4Address(node.address), simulated_hardware(node, handoff), user_data)],
        _told,
        image=image,
        shares=lab_shares(handoff),
        binds=[Bind(home.vendor, VENDOR_FOLDER), archives(home, desk.folder / "archives")],
        base=base,
    )


def _installed(builder: ssh.Target) -> None:
    run(builder.ssh_command(_INSTALL))


def _told(_subject: str, _text: str) -> None:
    """Nobody reads along."""
