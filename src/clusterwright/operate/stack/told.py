"""What a stack's state tells of the cluster in our own terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clusterwright.handoff import Handoff, Node, loads
from clusterwright.operate.stack.failures import ACCEPTANCE

if TYPE_CHECKING:
    from clusterwright.providers.engine.kept import Kept


def handoff_of(kept: Kept) -> Handoff | None:
    """As the program told it last; None before it ever ended."""
    text = kept.outputs.get("cluster")
    return loads(str(text)) if text else None


def made_nodes(handoff: Handoff) -> tuple[Node, ...]:
    """Those that a stack makes; own machines beside them were there."""
    own = {name for name, site in handoff.site.items() if site["provider"] == "onprem"}
    return tuple(node for node in handoff.nodes if node.site not in own)


def members_of(kept: Kept) -> Mapping[str, str]:
    """Node → ID of the machine of a group that has its name."""
    return {
        str(node): str(machine)
        for acceptance in kept.of_type(ACCEPTANCE)
        for node, machine in acceptance.outputs.get("members", {}).items()
    }


def said_by_nodes(kept: Kept) -> Mapping[str, str]:
    """Node → `accepted`, or what it was instead when it was asked last."""
    return {
        str(node): str(words)
        for acceptance in kept.of_type(ACCEPTANCE)
        for node, words in acceptance.outputs.get("nodes", {}).items()
    }


def host_keys_of(kept: Kept) -> Mapping[str, str]:
    """Node → the key that its machine showed on its console, for which the cloud vouches."""
    return {
        str(node): str(key)
        for acceptance in kept.of_type(ACCEPTANCE)
        for node, key in (acceptance.outputs.get("hostKeys") or {}).items()
    }
