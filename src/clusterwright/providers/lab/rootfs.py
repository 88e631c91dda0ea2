"""The base root file system of every node: a minimal Debian, built once and shared by all labs."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clusterwright.finding import Refused, Where, refuse
from clusterwright.providers.lab import state
from clusterwright.providers.lab.apt import sources_for
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import link, place, remove_tree
from clusterwright.providers.lab.home import LabHome

BASE_FAILED = "CW7060"
# What a machine needs to boot, to be reached over SSH and to run Ansible's modules; the rest is roles'.
PACKAGES = (
    "ca-certificates",
    "dbus",
    "iproute2",
    "iputils-ping",
    "openssh-server",
    "procps",
    "python3",
    "systemd",
    "systemd-sysv",
)
# Raise it when `_settle` changes what it writes, so that bases made before are not taken for current ones.
_LAYOUT = 4
_UNITS_WITHOUT_USE_IN_A_NODE = (
    "apt-daily-upgrade.timer",
    "apt-daily.timer",
    "console-getty.service",
    "dev-hugepages.mount",
    "dpkg-db-backup.timer",
    "systemd-ask-password-console.path",
    "systemd-ask-password-wall.path",
    "systemd-networkd-persistent-storage.service",
    "systemd-tmpfiles-clean.timer",
)

OnEvent = Callable[[str, str], None]
"""Told the subject (a node, `base`, `image`) and what happens to it now."""


@dataclass(frozen=True, slots=True)
class Base:
    """A Debian release, and where its packages come from: without a mirror, where the host's own do."""

    suite: str = "trixie"
    package_mirror: str = ""
    security_mirror: str = ""

    def sources(self) -> list[str]:
        return [str(source) for source in sources_for(self.suite, self.package_mirror, self.security_mirror)]

    def digest(self) -> str:
        """Names the base by everything that goes into it."""
        content = [_LAYOUT, self.suite, platform.machine(), sorted(PACKAGES), self.sources()]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


DEFAULT_BASE = Base()


def ensure_base(home: LabHome, on_event: OnEvent, base: Base) -> Path:
    """The base's folder; built on the first call, by one process at a time."""
    folder = home.rootfs / base.digest()
    if folder.is_dir():
        return folder
    with state.shared_resource(home, "rootfs"):
        if not folder.is_dir():
            on_event("base", f"building Debian {base.suite} with {len(PACKAGES)} packages")
            _build(home, folder, base)
            on_event("base", "built")
    return folder


def _build(home: LabHome, folder: Path, base: Base) -> None:
    partial = folder.with_name(f".{folder.name}.partial")
    remove_tree(partial)
    partial.parent.mkdir(parents=True, exist_ok=True)
    home.package_archives.mkdir(parents=True, exist_ok=True)
    try:
        with state.package_archives(home):
            run(_mmdebstrap(home, partial, base))
    except Refused as failed:
        remove_tree(partial)
        whose = f"the mirror {base.package_mirror}" if base.package_mirror else "its package mirror"
        raise refuse(
            BASE_FAILED,
            Where(path="surroundings.package_mirror" if base.package_mirror else "mmdebstrap"),
            f"the base root file system could not be built from {whose}: {failed.findings[0].what}",
            f"Check that this machine reaches {whose} and that it has Debian {base.suite}, "
            "or name another one as `surroundings.package_mirror`",
        ) from None
    _settle(partial)
    partial.rename(folder)


def _mmdebstrap(home: LabHome, target: Path, base: Base) -> list[str]:
    """In namespaces of its own that end with this process: no mount and no builder outlives a kill."""
    archives = "var/cache/apt/archives"
    return [
        "setpriv", "--pdeathsig", "KILL",
        "unshare", "--mount", "--propagation", "private",
        "--pid", "--fork", "--kill-child=KILL", "--mount-proc",
        "mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory",
        f"--include={','.join(PACKAGES)}",
        "--aptopt=APT::Install-Recommends \"false\"",
        "--aptopt=APT::Sandbox::User \"root\"",
        "--dpkgopt=force-unsafe-io",
        # Both stages object to packages that were in the cache before or stay in it.
        "--skip=download/empty,essential/unlink",
        f'--setup-hook=mkdir -p "$1/{archives}" && mount --bind "{home.package_archives}" "$1/{archives}"',
        f'--customize-hook=umount "$1/{archives}"',
        base.suite, str(target), *base.sources(),
    ]  # fmt: skip


def mark_updated(root: Path) -> None:
    """Say that what depends on /usr is current; else a first boot spends its time on rebuilding caches."""
    for name in ("/etc/.updated", "/var/.updated"):
        place(root, name, "")


def _settle(root: Path) -> None:
    """Make it a machine nobody has used yet, quick to boot in a container."""
    for unit in _UNITS_WITHOUT_USE_IN_A_NODE:
        link(root, f"/etc/systemd/system/{unit}", "/dev/null")
    wants = "/etc/systemd/system/multi-user.target.wants"
    link(root, f"{wants}/systemd-networkd.service", "/usr/lib/systemd/system/systemd-networkd.service")
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    place(root, "/etc/ssh/sshd_config.d/lab.conf", "HostKey /etc/ssh/ssh_host_ed25519_key\nUseDNS no\n")
    place(root, "/etc/apt/apt.conf.d/90lab", 'APT::Keep-Downloaded-Packages "true";\n')
    place(root, "/etc/machine-id", "")
    place(root, "/etc/hostname", "")
    (root / "var/log/journal").mkdir(parents=True, exist_ok=True)
    # Package lists are not kept, and Ansible's apt module takes a folder's age for theirs.
    os.utime(root / "var/lib/apt/lists", (0, 0))
    mark_updated(root)
    # A node's root file system is one host's scratch file: syncing every unpacked file gains nothing.
    place(root, "/etc/dpkg/dpkg.cfg.d/lab", "force-unsafe-io\n")
