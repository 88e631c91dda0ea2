"""Hand-off → whole-cluster files: the same bytes for the same hand-off, and nothing secret in them."""

from __future__ import annotations

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile

__all__ = ["NodeFile", "render"]


def render(handoff: Handoff) -> tuple[NodeFile, ...]:
    """Every whole-cluster file, sorted by path. Raises Refused for a Slurm release that is not supported."""
    from clusterwright.render import boot, database, ends, firewall, hosts, monitoring, node, slurm, stack
    from clusterwright.render.release import release

    slurm_release = release(str(handoff.scheduler["release"]))
    served = slurm.files(handoff, slurm_release)
    files = [
        *served,
        *database.files(handoff, slurm_release),
        *node.files(handoff, slurm_release, served),
        *stack.files(handoff),
        *hosts.files(handoff),
        *boot.files(handoff),
        *ends.files(handoff),
        *firewall.files(handoff, slurm_release),
        *monitoring.files(handoff, slurm_release),
    ]
    return tuple(sorted(files, key=lambda file: file.path))
