"""What the lab needs of the machine it runs on, checked all at once, each with its remedy."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

from clusterwright.finding import Finding, Where
from clusterwright.providers.lab.command import quiet, run
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.network import filtered

NOT_LINUX = "CW7001"
NOT_ROOT = "CW7002"
PROGRAM_MISSING = "CW7003"
KERNEL_FEATURE_MISSING = "CW7004"
DISK_IS_FULL = "CW7005"
KEYRING_MISSING = "CW7006"
_WAY_ON = "`clusterwright plan` and `render` work on any machine"
# Debian 13 base, one image with Slurm and its database, the package archives, and a few nodes' own layers.
_DISK_BYTES = 6 * 1024**3
_PACKAGE_OF_PROGRAM = {
    "apt-ftparchive": "apt-utils",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "gpg": "gpg",
    "gpg-agent": "gpg-agent",
    "gpgconf": "gpgconf",
    "ip": "iproute2",
    "journalctl": "systemd",
    "mmdebstrap": "mmdebstrap",
    "nft": "nftables",
    "nsenter": "util-linux",
    "openssl": "openssl",
    "setpriv": "util-linux",
    "setsid": "util-linux",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "systemd-nspawn": "systemd-container",
    "unshare": "util-linux",
}
_KEYRING = "debian-archive-keyring"
_KEYRING_FILES = "debian-archive-keyring.*"


def missing(home: LabHome) -> list[Finding]:
    """Every precondition that does not hold, in the order in which a person would meet them."""
    if platform.system() != "Linux":
        return [
            Finding(
                NOT_LINUX,
                Where(path="lab"),
                f"a lab's nodes need Linux, and this machine runs {platform.system()}",
                f"Run it in a Linux virtual machine; {_WAY_ON}",
            )
        ]
    found = [*_privilege(), *_programs(), *_keyring(), *_disk(home)]
    # Trying kernel features needs root and the programs; a guess about them would only be noise.
    return found or [*_kernel(home), *filtered()]


def packages_to_install() -> list[str]:
    """The Debian or Ubuntu packages that `install_dependencies` would install; empty when all are there."""
    packages = {package for program, package in _PACKAGE_OF_PROGRAM.items() if not _which(program)}
    if not _has_keyring():
        packages.add(_KEYRING)
    return sorted(packages)


def install_dependencies() -> None:
    """Install what `packages_to_install` names, without a question; refuses with apt's own words."""
    packages = packages_to_install()
    if not packages:
        return
    environ = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    run(["apt-get", "update", "-q"], environ=environ)
    run(["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages], environ=environ)


def _privilege() -> Iterator[Finding]:
    if os.geteuid() != 0:
        yield Finding(
            NOT_ROOT,
            Where(path="lab"),
            "the lab mounts file systems and makes network interfaces, which only root may do",
            f"Run the command with sudo, or as root in a virtual machine of your own; {_WAY_ON}",
        )


def _programs() -> Iterator[Finding]:
    for program, package in sorted(_PACKAGE_OF_PROGRAM.items()):
        if not _which(program):
            yield Finding(
                PROGRAM_MISSING,
                Where(path=program),
                f"the program {program} is not installed",
                f"Install the package {package}, or run again with --install-deps",
            )


def _keyring() -> Iterator[Finding]:
    if not _has_keyring():
        yield Finding(
            KEYRING_MISSING,
            Where(path=_KEYRING),
            "the keys that Debian signs its packages with are not installed",
            f"Install the package {_KEYRING}, or run again with --install-deps",
        )


def _disk(home: LabHome) -> Iterator[Finding]:
    for folder in sorted({home.cache, home.state}):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if free < _DISK_BYTES:
            yield Finding(
                DISK_IS_FULL,
                Where(file=str(folder)),
                f"{free // 1024**2} MiB are free and a lab needs about {_DISK_BYTES // 1024**2} MiB",
                "Free some space, or set XDG_CACHE_HOME and XDG_STATE_HOME to folders on a larger disk",
            )


def _kernel(home: LabHome) -> Iterator[Finding]:
    """Try each feature in namespaces that vanish with the trial."""
    home.state.mkdir(parents=True, exist_ok=True)
    trials = {
        "new namespaces": ["unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "true"],
        "overlay file systems on the folder of the lab's state": _overlay_trial(home.state),
        "network bridges and veth pairs": [
            "unshare", "--net", "sh", "-ec",
            "ip link add trial0 type bridge; ip link add trial1 type veth peer name trial2",
        ],
        "address translation in nftables": [
            "unshare", "--net", "nft",
            "add table ip t; add chain ip t p { type nat hook postrouting priority srcnat; }; "
            "add rule ip t p masquerade",
        ],
    }  # fmt: skip
    for feature, trial in trials.items():
        if not quiet(trial):
            yield Finding(
                KERNEL_FEATURE_MISSING,
                Where(path="kernel"),
                f"this machine does not allow {feature}",
                "Use a machine or a virtual machine of your own; a container must run privileged, with the "
                f"lab's folders on a volume; {_WAY_ON}",
            )


def _overlay_trial(folder: Path) -> list[str]:
    # Some file systems cannot be an overlay's upper layer, so it is tried where the nodes' own will be.
    script = (
        'd=$(mktemp -d "$1/.trial.XXXXXX"); trap \'umount "$d/m" 2>/dev/null; rm -rf "$d"\' EXIT; '
        'mkdir "$d/l" "$d/u" "$d/w" "$d/m"; '
        'mount -t overlay overlay -o "lowerdir=$d/l,upperdir=$d/u,workdir=$d/w" "$d/m"'
    )
    return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh", str(folder)]


def _which(program: str) -> str | None:
    # A user's PATH may lack the folders where root's programs are.
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")


def _has_keyring() -> bool:
    return any(Path("/usr/share/keyrings").glob(_KEYRING_FILES))
