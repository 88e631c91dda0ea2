"""Container images that components of a lock are shipped as, as far as an offline bundle can bring them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clusterwright.catalog.container_images import Image, images_of
from clusterwright.plan.software.lock import Lock
from clusterwright.spec.software import image_name


@dataclass(frozen=True, slots=True)
class Shipped:
    """By whether anybody told their digest: a source of the catalog, or the description's `images`."""

    known: tuple[str, ...]
    """Each in full, `NAME:TAG@sha256:…`."""
    unknown: tuple[Image, ...]


def shipped(lock: Lock, named: Iterable[str]) -> Shipped:
    """`named` are the images of the description."""
    told = {image_name(image): image for image in named}
    used = {(name, row.version) for rows in lock.pools.values() for name, row in rows.items()}
    images = [image for component in sorted(used) for image in images_of(*component).values()]
    full = {
        image.image: told.get(image.image) or f"{image.image}@sha256:{image.sha256}"
        for image in images
        if image.sha256 or image.image in told
    }
    return Shipped(tuple(sorted(full.values())), tuple(row for row in images if row.image not in full))
