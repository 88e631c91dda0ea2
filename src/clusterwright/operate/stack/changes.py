"""What an `up` would do, told by node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from clusterwright.catalog.replacements import stops

if TYPE_CHECKING:
    from clusterwright.providers.engine.steps import Step

_MACHINES = ("aws:ec2/instance:Instance", "gcp:compute/instance:Instance")
_AWS_GROUP = "aws:autoscaling/group:Group"
_GCP_GROUP = "gcp:compute/instanceGroupManager:InstanceGroupManager"
_OURS = ("pulumi:", "clusterwright:")
_WEIGHT = ("update", "stop", "create", "delete", "replace")


def node_of(kind: str, name: str, cluster: str) -> str | None:
    """The node whose machine this is. On Google Cloud machines of all clusters share their name space."""
    if kind not in _MACHINES:
        return None
    return name.removeprefix(f"{cluster}-") if kind.startswith("gcp:") else name


def pool_of(kind: str, name: str, cluster: str) -> str | None:
    """The pool whose group of machines this is; on Google Cloud one of its groups."""
    if kind == _GCP_GROUP:
        return name.removeprefix(f"{cluster}-").rpartition("-")[0]
    return name if kind == _AWS_GROUP else None


def title(kind: str, name: str) -> str:
    """`Instance gpu-001`."""
    return f"{kind.rpartition(':')[2]} {name}"


def is_of_cloud(kind: str) -> bool:
    """As against what holds resources together, providers, and the acceptance."""
    return not kind.startswith(_OURS)


@dataclass(frozen=True)
class Changes:
    """From a preview."""

    cluster: str
    steps: tuple[Step, ...]

    @cached_property
    def nodes(self) -> Mapping[str, str]:
        """Node → what happens to its machine: `create`, `delete`, `replace`, `stop` (and start), `update`."""
        found: dict[str, str] = {}
        for step in self.steps:
            node = node_of(step.type, step.name, self.cluster)
            if node is not None:
                found[node] = max(found.get(node, "update"), _happens(step), key=_WEIGHT.index)
        return dict(sorted(found.items()))

    def of(self, *what: str) -> tuple[str, ...]:
        return tuple(node for node, happens in self.nodes.items() if happens in what)

    @property
    def disturbed(self) -> tuple[str, ...]:
        """Nodes on which a job would not live on."""
        return self.of("delete", "replace", "stop")

    @property
    def lost_groups(self) -> tuple[str, ...]:
        """Pools whose group goes with all its machines."""
        lost = (
            pool_of(step.type, step.name, self.cluster)
            for step in self.steps
            if _plain(step.op) in ("delete", "replace")
        )
        return tuple(dict.fromkeys(pool for pool in lost if pool))

    @cached_property
    def resources(self) -> Mapping[str, int]:
        """How many resources of the cloud are created, updated, replaced, deleted."""
        once = {step.urn: _plain(step.op) for step in self.steps if is_of_cloud(step.type)}
        return dict(sorted(Counter(once.values()).items()))

    @property
    def renews_bundle(self) -> bool:
        """Whether nodes are told of something, machines or not."""
        return any(step.type.startswith("clusterwright:pull:") for step in self.steps)

    def rows(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """What happens, to which resource, and which of its properties differ; once for each resource."""
        for step in {step.urn: step for step in self.steps if is_of_cloud(step.type)}.values():
            yield _plain(step.op), title(step.type, step.name), step.changed


def _happens(step: Step) -> str:
    op = _plain(step.op)
    return "stop" if op == "update" and _stops(step.type, step.changed) else op


def _plain(op: str) -> str:
    """Pulumi tells of a replacement in three steps."""
    return "replace" if "replace" in op else op


def _stops(kind: str, changed: Iterable[str]) -> bool:
    return bool(stops().get(kind, frozenset()) & {*changed})
