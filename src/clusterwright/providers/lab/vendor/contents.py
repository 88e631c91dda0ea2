"""From what a lock names to the packages of a repository: what each depends on and carries."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from clusterwright.providers.lab.vendor.package import TRIPLETS, VendorPackage


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package that a lock names. `version` is None where no source tells it: the lab makes one up."""

    component: str
    release: str
    package: str
    version: str | None = None


_DISTRIBUTION = "distribution"
"""Carried by what the lab takes from the distribution as it is: the real program runs on simulated ground."""

_NUMBERS = dict.fromkeys(("kernel", "release"), r"[0-9.]+(?:-[0-9]+)?")
"""Ubuntu numbers its builds of a kernel behind a dash."""


@dataclass(frozen=True, slots=True)
class _Row:
    pattern: str
    component: str
    depends: tuple[str, ...]
    carries: tuple[str, ...]


def packages(wanted: Iterable[Wanted], architecture: str = "amd64") -> tuple[VendorPackage, ...]:
    """The wanted packages and all they depend on, once each. One that no row describes carries nothing."""
    found: dict[tuple[str, str], VendorPackage] = {}
    left = sorted(set(wanted), key=lambda each: (each.package, each.version or "", each.release))
    named = {(each.release, each.package): each.version for each in left if each.version}
    while left:
        each = left.pop(0)
        version = each.version or f"{each.release}-1"
        if (each.package, version) in found:
            continue
        row = _row_of(each.package)
        if row and row.carries == (_DISTRIBUTION,):
            continue
        words = _words(each, architecture) | (_read_off(row.pattern, each.package) if row else {})
        names = [_filled(name, words) for name in row.depends] if row else []
        # A package may have a version of its own, as libfabric has in Amazon's installer. What two depend on
        # has one, also where a source tells the version of one of them only (`rocm` and `rocm-core`).
        depends = {name: named.setdefault((each.release, name), version) for name in names}
        carries = tuple(_filled(entry, words) for entry in row.carries) if row else ()
        found[each.package, version] = VendorPackage(
            name=each.package,
            version=version,
            component=each.component,
            architecture=architecture,
            depends=tuple(sorted(_relation(name, exact) for name, exact in depends.items())),
            carries=carries,
            release=each.release,
        )
        left += [Wanted(each.component, each.release, name, exact) for name, exact in depends.items()]
    return tuple(found[key] for key in sorted(found))


def _relation(name: str, exact: str) -> str:
    """What the distribution carries is of whatever version it has."""
    row = _row_of(name)
    return name if row and row.carries == (_DISTRIBUTION,) else f"{name} (= {exact})"


def _words(each: Wanted, architecture: str) -> dict[str, str]:
    major, _, rest = each.release.partition(".")
    return {
        "branch": major, "major": major, "minor": rest.partition(".")[0], "release": each.release,
        "triplet": TRIPLETS[architecture],
    }  # fmt: skip


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _row_of(package: str) -> _Row | None:
    """A row with the very name stands before one whose placeholders fit it."""
    rows = [row for row in _rows() if _fits(row.pattern, package)]
    return min(rows, key=lambda row: row.pattern.count("{"), default=None)


def _fits(pattern: str, package: str) -> bool:
    return _matched(pattern, package) is not None


def _read_off(pattern: str, package: str) -> dict[str, str]:
    """A package of modules is named after the kernel that they are for, whatever release it is of."""
    match = _matched(pattern, package)
    found = match.groupdict() if match else {}
    return {"kernel": found["kernel"]} if "kernel" in found else {}


def _matched(pattern: str, package: str) -> re.Match[str] | None:
    parts = re.split(r"\{(\w+)\}", pattern)
    written = [
        f"(?P<{part}>{_NUMBERS.get(part, r'[0-9.]+')})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    ]
    return re.fullmatch("".join(written), package)


@cache
def _rows() -> tuple[_Row, ...]:
    return tuple(_read())


def _read() -> Iterator[_Row]:
    text = (files("clusterwright.providers.lab.vendor") / "contents.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        yield _Row(
            row["package"], row["component"], tuple(row["depends"].split()), tuple(row["carries"].split())
        )
