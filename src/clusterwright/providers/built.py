"""Images that clusterwright built in a cloud, as whoever asks for them sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from clusterwright.finding import Finding, Refused, Where


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image that has the tag or label of a digest."""

    digest: str
    name: str
    """As the cloud knows it: an ID, or a path."""
    made: str
    """When, in ISO 8601."""
    gib: int
    ready: bool
    machines: tuple[str, ...]
    """IDs or names of machines that were made from it and are still there."""


class Images(Protocol):
    """Of one region or project."""

    def known(self) -> list[BuiltImage]:
        """Those that nothing was made from first, the oldest of them first. Raises Refused."""

    def remove(self, image: BuiltImage) -> None:
        """The image and what it consists of; again where it was interrupted. Raises Refused."""


def in_order(found: Iterable[BuiltImage]) -> list[BuiltImage]:
    return sorted(found, key=lambda image: (bool(image.machines), image.made, image.digest))


def remove(images: Images, digests: Iterable[str]) -> list[BuiltImage]:
    """All of them or, where one is unknown or in use, none. Raises Refused."""
    known = {image.digest: image for image in images.known()}
    wanted = sorted(set(digests))
    if objections := list(_objections(wanted, known)):
        raise Refused(objections)
    for digest in wanted:
        images.remove(known[digest])
    return [known[digest] for digest in wanted]


def _objections(wanted: Iterable[str], known: Mapping[str, BuiltImage]) -> Iterator[Finding]:
    for digest in wanted:
        image, where = known.get(digest), Where(path=digest)
        if image is None:
            remedy = f"There are: {', '.join(sorted(known)) or 'none'}"
            yield Finding("CW7061", where, "there is no image with this digest", remedy)
        elif image.machines:
            what = f"machines were made from it: {', '.join(image.machines[:5])}"
            yield Finding("CW7062", where, what, "Remove them first, or leave it")
