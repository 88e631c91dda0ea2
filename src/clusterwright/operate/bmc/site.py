"""The BMCs of a description, and what the machines behind them hang on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from clusterwright.checks import check
from clusterwright.finding import Finding, Refused, Severity, Where, refuse
from clusterwright.operate.bmc.machine import Bmc
from clusterwright.operate.nodes import typed
from clusterwright.operate.prepare import described
from clusterwright.operate.source import Source
from clusterwright.plan.outline import Outline
from clusterwright.spec.nodeset import fold
from clusterwright.spec.site import OnpremSite


@dataclass(frozen=True)
class Bmcs:
    """Of one cluster, by node, in the order of the file of machines."""

    cluster: str
    known: Mapping[str, Bmc]
    nodes: tuple[str, ...]
    """Every node that the description has, with a BMC or without."""
    limits: Mapping[str, Mapping[str, int]]
    """Node → what it hangs on → machines on that which may be switched on at once."""
    places: Mapping[str, Where] = field(default_factory=dict)
    """Where the BMC of a node stands in the file of machines, or would."""

    def of(self, nodes: str | None) -> tuple[tuple[Bmc, ...], tuple[Finding, ...]]:
        """Of a node set, or all; and a finding for those that have none."""
        names = self.nodes if nodes is None else self._named(nodes)
        without = [name for name in names if name not in self.known]
        unlisted = [name for name in without if name not in self.places]
        places = [replace(self.places[name], path=name) for name in without if name in self.places]
        what = "the description has no BMC of it"
        remedy = "Write `bmc_address` into the file of machines; `clusterwright inventory import` finds them"
        findings = [
            Finding("CW8190", where, what, remedy)
            for where in (*places, *([Where(path=fold(unlisted))] if unlisted else []))
        ]
        return tuple(self.known[name] for name in names if name in self.known), tuple(findings)

    def _named(self, text: str) -> tuple[str, ...]:
        names = typed(text)
        if unknown := [name for name in names if name not in self.nodes]:
            what = f"the description has no node {', '.join(unknown)}"
            raise refuse("CW8012", Where(path=text), what, f"It has: {', '.join(self.nodes[:8])}")
        return names


def bmcs(source: Source) -> Bmcs:
    """Raises Refused for mistakes of the description, and where no machine of it has a BMC."""
    description = described(source)
    findings = check(description.spec, description.loaded.where)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise Refused(findings)
    outline = Outline(description.spec, {})
    known: dict[str, Bmc] = {}
    places: dict[str, Where] = {}
    for site in outline.sites.values():
        file = site.known_machines if isinstance(site, OnpremSite) else None
        if file is None or not isinstance(site, OnpremSite):
            continue
        for row in file.rows:
            places[row.node] = file.where(row.line, "bmc_address")
            if row.bmc_address:
                known[row.node] = Bmc(
                    row.node,
                    row.bmc_address,
                    row.bmc_credentials or site.bmc_credentials or "",
                    source.folder,
                    row.serial,
                    row.bmc_certificate,
                    tuple(dict.fromkeys(site.bmc.protocols)),
                    site.bmc.authority or "",
                    site.bmc.redfish_port,
                    site.bmc.ipmi_port,
                    site.bmc.ipmi_cipher_suite,
                )
    if not known:
        remedy = "Name a file of `machines` with a column `bmc_address`: docs/racks.md"
        raise refuse("CW8190", Where(description.loaded.file), "no machine of it has a BMC", remedy)
    nodes = tuple(name for pool in description.spec.pools for name in outline.names[pool] or ())
    return Bmcs(description.spec.cluster, known, nodes, _limits(outline), places)


def _limits(outline: Outline) -> dict[str, dict[str, int]]:
    """By node: its PDUs, and the feeds that those hang on."""
    found: dict[str, dict[str, int]] = {}
    for floor in outline.floors:
        site = outline.sites[floor.site]
        per_feed = site.bmc.starts_per_feed if isinstance(site, OnpremSite) else None
        for rack in floor.racks.values():
            for placed in rack.placed:
                if placed.kind.sort == "node":
                    limits = found.setdefault(placed.name, {})
                    for pdu in placed.kind.plugs or tuple(rack.like.pdus):
                        like = rack.like.pdus.get(pdu)
                        if like and like.starts:
                            limits[f"PDU {pdu} of rack {rack.name}"] = like.starts
                        if like and per_feed:
                            limits[f"feed {rack.feed(pdu)}"] = per_feed
    return found
