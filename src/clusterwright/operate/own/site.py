"""A description of own machines, opened: what is wanted of each node, and how it is reached afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

from clusterwright.converge.target import Target
from clusterwright.finding import Refused, Where, refuse
from clusterwright.handoff import Handoff, Node
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.nodes import nodes_of
from clusterwright.operate.own.machines import OwnMachines, greets
from clusterwright.operate.own.record import Known
from clusterwright.operate.own.trust import Trust
from clusterwright.operate.prepare import addresses_of, described, prepare
from clusterwright.operate.provider import machines_of
from clusterwright.operate.remote import run_on
from clusterwright.operate.source import Source

_AT_ONCE = 128


@dataclass(frozen=True)
class OwnSite:
    """Nothing of it was changed by opening it."""

    desired: Desired
    machines: OwnMachines

    @property
    def home(self) -> ClusterHome:
        return self.desired.home

    @property
    def handoff(self) -> Handoff:
        return self.desired.handoff

    @property
    def trust(self) -> Trust:
        return Trust(self.home)

    @property
    def targets(self) -> Mapping[str, Target]:
        return self.machines.targets(self.handoff)

    def nodes(self, text: str | None) -> tuple[Node, ...]:
        """A node set, or all. Raises Refused with every name that is not in the description."""
        if text is None:
            return self.handoff.nodes
        return tuple(self.handoff.by_name[name] for name in nodes_of(self.handoff, text))

    def is_made(self, node: Node) -> bool:
        """Whether a stack makes its machine, which this cluster's key opens from its first boot on."""
        return str(self.handoff.site[node.site]["provider"]) != "onprem"

    def image(self, node: Node) -> str:
        """The image that it boots over its network; empty where it starts from its disk."""
        boot = self.handoff.site[node.site].get("boot") or {"images": {}}
        return str(boot["images"].get(node.pool, ""))

    def disk(self, node: Node) -> str:
        """The disk that its image is written to; empty where it runs from memory."""
        boot = self.handoff.site[node.site].get("boot") or {}
        return str(boot.get("disks", {}).get(node.pool, ""))

    def answering(self, nodes: Sequence[Node], port: int) -> Collection[str]:
        """Where an SSH server answers."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            greeted = pool.map(lambda node: greets(Known(node.address, port)), nodes)
            return {node.name for node, up in zip(nodes, greeted, strict=True) if up}

    def opened(self, names: Collection[str], port: int) -> Collection[str]:
        """Those of these that let clusterwright's key in, and are certified."""
        targets = self.targets
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            ways = [replace(targets[name], port=port) for name in names]
            codes = pool.map(lambda way: run_on(way, "true", timeout=20).code, ways)
            return {name for name, code in zip(names, codes, strict=True) if code == 0}


def own_site(source: Source) -> OwnSite:
    """Raises Refused with every mistake of the description, and where its machines are not one's own."""
    description = described(source)
    home = ClusterHome.of(description.spec.cluster)
    machines = machines_of(description.spec)
    if not isinstance(machines, OwnMachines):
        what, remedy = "its machines are made, not found", "This is for descriptions with `provider: onprem`"
        raise refuse("CW8003", Where(path="site.provider"), what, remedy)
    if unmet := machines.unmet():
        raise Refused(unmet)
    before = home.handoff()
    description = description.over(before)
    prepared = prepare(description, ground=machines.ground(description.lock), previous=addresses_of(before))
    return OwnSite(Desired(home, prepared.handoff, prepared.files, source.folder), machines)


@contextmanager
def held(source: Source) -> Iterator[OwnSite]:
    """The same for who changes something: one at a time."""
    with own_site(source).home.locked():
        site = own_site(source)
        source.record(site.home)
        yield site
