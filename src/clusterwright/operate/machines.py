"""What `operate` needs of whoever makes or holds the machines of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from clusterwright.converge.target import Target
from clusterwright.event import Report
from clusterwright.finding import Finding
from clusterwright.handoff import Handoff

if TYPE_CHECKING:
    from clusterwright.operate.pull.store import Store
    from clusterwright.plan.model import Ground
    from clusterwright.plan.software import Lock

Install = Callable[[Target], None]
"""Installs everything a node may need, on a builder that then becomes the image."""


class Machines(Protocol):
    """The machines of one cluster."""

    def unmet(self) -> list[Finding]:
        """What this machine lacks to make them, all at once."""

    def ground(self, lock: Lock) -> Mapping[str, Ground]:
        """What only the edge knows of each site; reserves what has to be reserved. Idempotent."""

    def ensure_image(self, handoff: Handoff, key: str, install: Install, report: Report) -> str | None:
        """Bake the image `key` of this cluster's nodes; its digest, or None where it was there already."""

    def ensure(
        self, handoff: Handoff, images: Mapping[str, str], report: Report, user_data: str = ""
    ) -> Mapping[str, Target]:
        """Bring up the nodes that are missing, each from the image with its key. Idempotent.

        A machine that is made reads `user_data` at its first boot."""

    def store(self, _handoff: Handoff, *, serve: bool = True) -> Store:
        """Where this cluster's nodes find their bundle; to `serve`, it answers when this returns."""

    def targets(self, handoff: Handoff) -> Mapping[str, Target]:
        """How the nodes are reached, whether they answer or not."""

    def existing(self) -> Mapping[str, str]:
        """Node → `running`, `frozen`, `stopped`, or `half-made` when its making was interrupted."""

    def reboot(self, handoff: Handoff, images: Mapping[str, str], report: Report) -> None:
        """Shut these nodes down in order and boot them with the files they have; returns when they answer."""

    def remove(self, nodes: Collection[str], report: Report) -> None:
        """Remove nodes and all that was theirs."""

    def destroy(self, report: Report) -> None:
        """Leave nothing, also of a half-made cluster."""

    def logs(
        self, node: str, *, follow: bool = False, console: bool = False, last: int | None = None
    ) -> Iterator[str]:
        """Journal or console of a node, line by line, also of one that does not answer.

        `last`: no more than so many, the newest."""
