"""`destroy` of a cluster on a cloud: say what goes, what stays and what it cost, then take it away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import applied, recorded
from clusterwright.operate.stack.changes import is_of_cloud, node_of, title
from clusterwright.operate.stack.failures import findings_of, refused
from clusterwright.operate.stack.folder import StackFolder
from clusterwright.operate.stack.follow import Follow
from clusterwright.operate.stack.left import looked
from clusterwright.operate.stack.locks import unlocked
from clusterwright.operate.stack.spent import Spent, spent
from clusterwright.operate.stack.told import handoff_of, members_of
from clusterwright.plan.cost import Cost

if TYPE_CHECKING:
    from clusterwright.providers.engine.kept import Kept, Resource
    from clusterwright.providers.engine.stack import Stack

_DATA = ("Volume", "Disk", "FileSystem", "LustreFileSystem", "OpenZfsFileSystem", "filestore", "lustre")


@dataclass(frozen=True)
class Ending:
    """A stack that is to go; its lock is held."""

    home: ClusterHome
    stack: Stack
    before: Kept
    unprotect: bool
    """Whether also what is protected goes."""

    @property
    def name(self) -> str:
        return self.home.name

    @property
    def nodes(self) -> tuple[str, ...]:
        found = (node_of(one.type, one.name, self.name) for one in self.before.resources)
        return tuple(sorted({*(node for node in found if node), *members_of(self.before)}))

    @property
    def going(self) -> Mapping[str, int]:
        """How many there are of each type that is taken away."""
        kinds = (one.type.rpartition(":")[2] for one in _of_cloud(self.before) if one not in self.staying)
        return dict(sorted(Counter(kinds).items()))

    @property
    def staying(self) -> tuple[Resource, ...]:
        """What is protected, or stays with the cloud when it leaves the stack."""
        return tuple(
            one for one in _of_cloud(self.before) if one.retained or (one.protected and not self.unprotect)
        )

    @property
    def lost(self) -> tuple[Resource, ...]:
        """What holds files, and goes with them."""
        return tuple(one for one in _of_cloud(self.before) if holds_files(one) and one not in self.staying)

    def spent(self) -> Spent:
        """So far."""
        return spent(self.before, handoff_of(self.before), _cost(self.home), datetime.now(UTC))


@contextmanager
def ending(cluster: Cluster, report: Report, *, unprotect: bool) -> Iterator[Ending]:
    """Also of a stack that never was finished."""
    home = cluster.home
    with home.locked("stack"):
        stack = StackFolder(home).stack(report)
        report(Event("stack", "started", "the state of the cluster is read"))
        stack.write_project()
        with refused(home.name):
            before = _before(stack)
        yield Ending(home, stack, before, unprotect)


def destroy(work: Ending, report: Report) -> tuple[Finding, ...]:
    """Take it away; run again, it goes on. Returns what stands in the way, or warnings of what stays."""
    from clusterwright.providers.engine.stack import Failed

    if work.stack.is_open:
        report(Event("destroy", "started", f"{len(work.nodes)} nodes"))
        follow = Follow(work.name, work.nodes, report)
        try:
            if work.unprotect:
                unlocked(work.stack, work.stack.unprotect)
            unlocked(work.stack, lambda: work.stack.destroy(follow))
        except Failed as failed:
            return findings_of(failed, work.name)
        if left := work.stack.kept().resources:
            return _protected(work.name, left)
        work.stack.remove()
    left_behind = _looked(work.home)
    work.home.forget()
    report(Event("destroy", "ok", "the stack holds nothing any more"))
    return left_behind


def holds_files(resource: Resource) -> bool:
    words = resource.type.replace("/", ":").split(":")
    return any(word in words for word in _DATA)


def _before(stack: Stack) -> Kept:
    from clusterwright.providers.engine.kept import Kept

    return stack.kept() if stack.exists() else Kept((), (), {})


def _of_cloud(kept: Kept) -> tuple[Resource, ...]:
    return tuple(one for one in kept.resources if is_of_cloud(one.type))


def _cost(home: ClusterHome) -> Cost | None:
    source = applied(home) or recorded(home)
    try:
        return prepare(described(source)).plan.cost if source else None
    except Refused:
        return None


def _looked(home: ClusterHome) -> tuple[Finding, ...]:
    """What the cloud has in the name of the cluster when its stack has gone."""
    source = applied(home) or recorded(home)
    try:
        spec = described(source).spec if source else None
    except Refused:
        spec = None
    return looked(spec, None) if spec else ()


def _protected(name: str, left: tuple[Resource, ...]) -> tuple[Finding, ...]:
    remedy = f"Save what is in it, then run `clusterwright destroy {name} --unprotect`"
    kept = [
        Finding("CW8085", Where(path=title(one.type, one.name)), f"{one.id} is protected and stays", remedy)
        for one in left
        if one.protected
    ]
    what = f"{len(left)} resources are still there"
    return tuple(kept) or (Finding("CW8082", Where(path=name), what, "Run the same command again"),)
