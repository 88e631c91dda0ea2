"""Images for network boot that were built on this machine, and whether machines are told to boot them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.home import ClusterHome
from clusterwright.providers.lab import state
from clusterwright.providers.lab.files import remove_tree, write_json
from clusterwright.providers.lab.home import LabHome
from clusterwright.spec.pool import BUILT

FILES = ("vmlinuz", "initrd.img", "root.squashfs")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One image. `digest` names what went in: the software, and the key that opens its machines."""

    digest: str
    image: str
    """As the scripts of machines name it: the software alone."""
    cluster: str
    distribution: str
    kernel: str
    built: int
    """Seconds since 1970."""
    files: Mapping[str, str]
    """Name → SHA-256."""

    @property
    def content(self) -> str:
        """Names what is in the files, so that another image never has this one's place."""
        return self.files["root.squashfs"][:16] + self.files["initrd.img"][:8] + self.files["vmlinuz"][:8]


@dataclass(frozen=True, slots=True)
class Stocked:
    """An image with its size in bytes; `used`: the cluster's machines are told to boot it."""

    manifest: Manifest
    size: int
    used: bool


def folder(home: LabHome, digest: str) -> Path:
    return home.netboot / digest


def find(home: LabHome, digest: str) -> Manifest | None:
    """The image, where it is whole."""
    try:
        return Manifest(**json.loads((folder(home, digest) / "manifest.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write(place: Path, manifest: Manifest) -> None:
    write_json(place / "manifest.json", asdict(manifest))


def stock(home: LabHome) -> list[Stocked]:
    """Those that nobody is told to boot first, the oldest of them first."""
    names = sorted(path.name for path in home.netboot.glob("[0-9a-f]*")) if home.netboot.is_dir() else []
    found = [manifest for name in names if (manifest := find(home, name))]
    rows = [Stocked(one, _size(folder(home, one.digest)), _is_used(one)) for one in found]
    return sorted(rows, key=lambda row: (row.used, row.manifest.built, row.manifest.digest))


def refuse_used(images: Iterable[Stocked], digests: Collection[str]) -> None:
    """Raises Refused with those of these that machines are told to boot."""
    used = [row.manifest for row in images if row.used and row.manifest.digest in digests]
    remedy = "Keep it: `up` brings it to a controller that was made anew"
    findings = [
        Finding("CW7062", Where(path=one.digest), f"machines of {one.cluster} boot it", remedy)
        for one in used
    ]
    if findings:
        raise Refused(findings)


def remove(home: LabHome, digests: Iterable[str]) -> None:
    """Each is gone in one step."""
    for digest in sorted(digests):
        with state.shared_resource(home, f"image-{digest}"):
            away = home.netboot / f".{digest}.removed"
            with suppress(FileNotFoundError):
                folder(home, digest).rename(away)
            remove_tree(away)


def _is_used(manifest: Manifest) -> bool:
    applied = ClusterHome.of(manifest.cluster).handoff()
    sites = applied.site.values() if applied else ()
    named = (image for site in sites if "boot" in site for image in site["boot"]["images"].values())
    return f"{BUILT}:{manifest.image}" in named


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.iterdir())
