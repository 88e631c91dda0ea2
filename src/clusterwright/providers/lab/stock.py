"""The images that were baked on this machine: how much they take, and which labs stand on them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clusterwright.finding import Finding, Refused, Where
from clusterwright.providers.lab import state
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import remove_tree
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.image import images

NO_SUCH_IMAGE = "CW7061"
IMAGE_IN_USE = "CW7062"
_LAB = re.compile(r"/labs/([^/]+)/nodes/")


@dataclass(frozen=True, slots=True)
class Stocked:
    """An image that may be removed where no lab stands on it; whoever needs it again bakes it again."""

    digest: str
    size: int
    """Bytes on the disk."""
    baked: float
    """Seconds since 1970."""
    labs: tuple[str, ...]


def stock(home: LabHome, processes: Path = Path("/proc")) -> list[Stocked]:
    """Those that nobody uses first, the oldest of them first."""
    used = _used(home, processes)
    found = [
        Stocked(digest, _size(home.images / digest), (home.images / digest).stat().st_mtime, used[digest])
        for digest in used
    ]
    return sorted(found, key=lambda image: (bool(image.labs), image.baked, image.digest))


def remove(home: LabHome, digests: Iterable[str], processes: Path = Path("/proc")) -> None:
    """All of them or, where one is unknown or in use, none. Raises Refused."""
    wanted = sorted(set(digests))
    if findings := list(_objections(wanted, _used(home, processes))):
        raise Refused(findings)
    for digest in wanted:
        with state.shared_resource(home, f"image-{digest}"):
            # Gone in one step: a lab that comes up meanwhile bakes it again and never sees half of it.
            away = home.images / f".{digest}.removed"
            if (home.images / digest).exists():
                (home.images / digest).rename(away)
            remove_tree(away)


def _objections(wanted: Iterable[str], used: dict[str, tuple[str, ...]]) -> Iterator[Finding]:
    for digest in wanted:
        where = Where(path=digest)
        if digest not in used:
            yield Finding(NO_SUCH_IMAGE, where, "there is no such image", "See `clusterwright image list`")
        elif used[digest]:
            labs = ", ".join(used[digest])
            remedy = f"Run `clusterwright destroy {used[digest][0]}` first, or keep it"
            yield Finding(IMAGE_IN_USE, where, f"nodes of {labs} stand on it", remedy)


def _used(home: LabHome, processes: Path) -> dict[str, tuple[str, ...]]:
    """Labs on each image: what is on record here, and what runs, also where it is on record elsewhere."""
    rows = _overlays(processes)
    records = home.labs.glob("*/nodes/*/node.json")
    rows += [f"{file} {json.loads(file.read_text(encoding='utf-8'))['layers']}" for file in records]
    return {digest: _standing(f"{home.images / digest}", rows) for digest in images(home)}


def _overlays(processes: Path) -> list[str]:
    """Mounted by any process: a node's root is seen in its own mount namespace only."""
    found: set[str] = set()
    for mounts in processes.glob("[0-9]*/mounts"):
        with suppress(OSError):
            rows = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
            found |= {row for row in rows if row.startswith("overlay ")}
    return sorted(found)


def _standing(image: str, rows: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({found[1] for row in rows if image in row and (found := _LAB.search(row))}))


def _size(folder: Path) -> int:
    return int(run(["du", "--summarize", "--block-size=1", str(folder)]).split()[0])
