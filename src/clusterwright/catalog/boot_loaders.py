"""Where a distribution keeps iPXE, and which of its files a machine's firmware can start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class BootLoader:
    """iPXE as a family of distributions packs it. A file that no source names is empty."""

    folder: str
    bios: str
    uefi: Mapping[str, str]
    """By architecture, as the catalog's hardware says it."""
    source: str
    date: str


@cache
def _loaders() -> Mapping[str, BootLoader]:
    return {
        row["family"]: BootLoader(
            folder=row["folder"],
            bios=row["bios"],
            uefi={"x86_64": row["uefi_x86_64"], "aarch64": row["uefi_aarch64"]},
            source=row["source"],
            date=row["date"],
        )
        for row in rows("boot_loaders")
    }


def boot_loader(family: str) -> BootLoader | None:
    """None where no source tells of one."""
    return _loaders().get(family)
