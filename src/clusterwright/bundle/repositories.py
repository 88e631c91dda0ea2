"""Package repositories of a node, in the words of its package manager. No other module tells apt from dnf."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from clusterwright.catalog.distributions import Format, distribution
from clusterwright.catalog.exclusions import excluded
from clusterwright.catalog.repositories import installable
from clusterwright.catalog.rpm_repositories import rpm_repositories
from clusterwright.catalog.transports import transport_of
from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile

_BEFORE_ALL_OTHERS = 10
"""dnf's default is 99, and of a package that two repositories have it sees that of the lower number only."""
_HOST = re.compile(r"[a-z+]+://([^/:]+)")
_TRANSPORTS = "/etc/clusterwright/apt-transports"
"""Where the module `debs` looks for what it installs before it reads all sources."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository beside the distribution's own."""

    name: str
    row: Mapping[str, Any]
    """As the hand-off has it."""
    key: str | None
    """Text of its key, where that lies beside the description."""
    vendor_key: str | None = None
    """Text of a vendor's, once it was compared with its fingerprint."""

    @property
    def has_key(self) -> bool:
        return bool(self.key or self.vendor_key or self.row["key_url"])


class Manager(Protocol):
    """Apt or dnf."""

    certificates: str
    """Folder of certificate authorities that the site adds."""

    def files(self, repository: Repository) -> Iterator[NodeFile]:
        """What makes the repository known, and its key; nothing where it is none that can be installed from.

        The lock's findings name what comes from such an address.
        """

    def pins(self, component: str, packages: Mapping[str, str | None], /) -> Iterator[NodeFile]:
        """What keeps a package of another version from being taken, whatever else is installed."""


class Apt:
    certificates = "/usr/local/share/ca-certificates"

    def files(self, repository: Repository) -> Iterator[NodeFile]:
        row, keyring = repository.row, f"/etc/apt/keyrings/clusterwright-{repository.name}.asc"
        if not installable(row["url"], row["suite"], has_key=repository.has_key, packages="deb"):
            return
        if placed := repository.key or repository.vendor_key:
            yield NodeFile(keyring, placed, ())
        fields = {
            "Types": "deb",
            "URIs": row["url"],
            "Suites": row["suite"],
            "Components": " ".join(row["components"]),
            "Signed-By": keyring,
        }
        text = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
        yield NodeFile(f"/etc/apt/sources.list.d/clusterwright-{repository.name}.sources", text, ())
        if transport := transport_of(row["url"]):
            yield NodeFile(f"{_TRANSPORTS}/{transport.scheme}", f"{transport.package}\n", ())
        if (others := excluded(repository.name)) and (host := _HOST.match(row["url"])):
            pin = f'Package: {" ".join(others)}\nPin: origin "{host[1]}"\nPin-Priority: -1\n'
            yield NodeFile(f"/etc/apt/preferences.d/clusterwright-not-from-{repository.name}", pin, ())

    def pins(self, component: str, packages: Mapping[str, str | None], /) -> Iterator[NodeFile]:
        pins = "\n".join(
            f"Package: {package}\nPin: version {version}\nPin-Priority: 1000\n"
            for package, version in sorted(packages.items())
            if version
        )
        if pins:
            yield NodeFile(f"/etc/apt/preferences.d/clusterwright-{component}", pins, ())


class Dnf:
    certificates = "/etc/pki/ca-trust/source/anchors"

    def files(self, repository: Repository) -> Iterator[NodeFile]:
        row, own = repository.row, repository.key is not None
        if not installable(row["url"], row["suite"], has_key=repository.has_key, packages="rpm"):
            return
        key = f"/etc/pki/rpm-gpg/clusterwright-{repository.name}.asc"
        placed = repository.key or repository.vendor_key
        if placed:
            yield NodeFile(key, placed, ())
        signs = rpm_repositories().get(repository.name)
        fields = {
            "name": f"{repository.name}, named by clusterwright",
            # dnf looks for the signature of `file:/folder` in a folder called "file:".
            "baseurl": re.sub(r"^file:/+", "file:///", row["url"]),
            "enabled": 1,
            # A site's key signs the index, which has every package's digest; a vendor's, the packages.
            "gpgcheck": int(not own),
            "repo_gpgcheck": int(own or bool(signs and signs.signed_index)),
            "gpgkey": f"file://{key}" if placed else row["key_url"],
            "priority": _BEFORE_ALL_OTHERS,
            "metadata_expire": "1h",
            "skip_if_unavailable": 0,
            "excludepkgs": " ".join(excluded(repository.name)),
            "module_hotfixes": int(bool(signs and signs.ignores_modules)) or None,
        }
        lines = [f"{name}={value}\n" for name, value in fields.items() if value not in (None, "")]
        text = f"[clusterwright-{repository.name}]\n{''.join(lines)}"
        yield NodeFile(f"/etc/yum.repos.d/clusterwright-{repository.name}.repo", text, ())

    def pins(self, _component: str, _packages: Mapping[str, str | None], /) -> Iterator[NodeFile]:
        """None: a transaction names exact versions, and what is installed is held where it is."""
        yield from ()


_MANAGERS: Mapping[Format, Manager] = {"deb": Apt(), "rpm": Dnf()}


def manager(handoff: Handoff) -> Manager:
    return _MANAGERS[package_format(handoff)]


def package_format(handoff: Handoff) -> Format:
    return distribution(handoff.software["distribution"]).packages
