"""A distribution's own signed index, beside as many of its packages as are needed.

Nodes trust their distribution's key already; so its index is carried as it is, byte for byte. It names
more than the bundle has, and only what nodes ask for is there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

from clusterwright.operate.offline.apt import Apt, Archive, Origin

_FORMS = (".xz", ".gz", "")
_FILES = (
    "{component}/binary-{architecture}/Packages",
    # apt asks for these on a node that has not been told otherwise, and takes their absence for an error.
    "{component}/i18n/Translation-en",
    "{component}/cnf/Commands-{architecture}",
)
_DATE = re.compile(r"^Date: (.+)$", re.MULTILINE)
_SHA256 = re.compile(r"^SHA256:\n((?: .*\n)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Index:
    """Files of one suite for one architecture, by their path below the mirror's root."""

    release: tuple[str, Path]
    files: dict[str, Archive]
    date: int
    """When the distribution made it, in seconds since 1970."""


def indices(apt: Apt, origin: Origin) -> list[Index]:
    """Of a distribution whose index was read."""
    found = []
    for suite in origin.suites:
        file = apt.index(origin, suite)
        if file:
            found.append(_index(apt, origin, suite, file))
    return found


def _index(apt: Apt, origin: Origin, suite: str, file: Path) -> Index:
    text = file.read_text(encoding="utf-8", errors="replace")
    listed = _listed(text)
    files = {}
    for component in origin.components:
        for pattern in _FILES:
            stem = pattern.format(component=component, architecture=apt.architecture)
            form = next((form for form in _FORMS if stem + form in listed), None)
            if form is not None:
                digest, size = listed[stem + form]
                archive = Archive(digest, f"{origin.url}/dists/{suite}/{stem}{form}", size)
                folder = f"dists/{suite}/{stem.rpartition('/')[0]}"
                files[f"dists/{suite}/{stem}{form}"] = archive
                files[f"{folder}/by-hash/SHA256/{digest}"] = archive
    dated = _DATE.search(text)
    date = int(parsedate_to_datetime(dated[1]).timestamp()) if dated else 0
    return Index((f"dists/{suite}/InRelease", file), files, date)


def _listed(text: str) -> dict[str, tuple[str, int]]:
    section = _SHA256.search(text)
    rows = (line.split() for line in section[1].splitlines()) if section else ()
    return {row[2]: (row[0], int(row[1])) for row in rows if len(row) == 3}
