"""Container images that a component is shipped as, by its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a release. `sha256` is None where no source tells its digest: its tag is believed then."""

    component: str
    version: str
    part: str
    image: str
    sha256: str | None
    source: str
    date: str

    @property
    def reference(self) -> str:
        """What is pulled: by digest alone where it is known, as not every podman takes a tag with it."""
        return f"{self.image.rpartition(':')[0]}@sha256:{self.sha256}" if self.sha256 else self.image

    def taken_from(self, loaded: Mapping[str, Any] | None) -> str:
        """What a node runs: images that it loads itself, as the hand-off has them, are known there by tag."""
        return self.image if loaded and self.image in loaded["names"] else self.reference


@cache
def images() -> tuple[Image, ...]:
    return tuple(
        Image(
            row["component"],
            row["version"],
            row["part"],
            row["image"],
            row["sha256"] or None,
            row["source"],
            row["date"],
        )
        for row in rows("container_images")
    )


def images_of(component: str, version: str) -> Mapping[str, Image]:
    """Images of a release by their part; empty for what is shipped as packages alone."""
    return {row.part: row for row in images() if (row.component, row.version) == (component, version)}


def parts_of(component: str) -> frozenset[str]:
    """The parts that each release of a component must have an image of."""
    return frozenset(row.part for row in images() if row.component == component)
