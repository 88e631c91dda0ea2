"""How many machines may be switched on at once, against the floor and the BMCs that would keep to it."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.machine_file import own_sites
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.site import OnpremSite


def _limits(name: str, site: OnpremSite) -> Iterator[str]:
    """Fields that say how many machines may be switched on at the same time."""
    if site.bmc.starts_per_feed:
        yield site_field(name, "bmc.starts_per_feed")
    for room_name, room in site.rooms.items():
        path = site_field(name, f"rooms.{room_name}")
        for pdu, one in room.rack.pdus.items():
            if one.starts:
                yield f"{path}.rack.pdus.{pdu}.starts"
        for row_name, row in room.rows.items():
            for pdu, one in row.rack.pdus.items() if row.rack else ():
                if one.starts:
                    yield f"{path}.rows.{row_name}.rack.pdus.{pdu}.starts"


@rule(
    "CW1659",
    "A limit of starts that nobody can keep",
    source="machines are switched on one after the other through their BMCs, and in no other way",
    example="rack: {pdus: {a: {limit: 22 kW, starts: 2}}}, and no bmc_address in the file of machines",
    severity=Severity.WARNING,
)
def starts_without_bmc(outline: Outline) -> Iterator[Problem]:
    """After a power cut all machines start at once, as they do today, and the breaker opens again."""
    for name, site in own_sites(outline):
        rows = site.known_machines.rows if site.known_machines else ()
        if not any(row.bmc_address for row in rows):
            for path in _limits(name, site):
                what = "no machine of this site has a BMC that is known, so nothing keeps this limit"
                yield Problem(path, what, "Add `bmc_address` to the file of machines, or remove it")


@rule(
    "CW1660",
    "A limit per feed without feeds",
    source="what a machine hangs on follows from its rack's PDUs and their `feed`",
    example="site: {bmc: {starts_per_feed: 8}}, without `rooms`",
    severity=Severity.WARNING,
)
def starts_per_feed_without_feeds(outline: Outline) -> Iterator[Problem]:
    """Nobody knows which machines share a feed, and all may start at once."""
    fed = {floor.site for floor in outline.floors for rack in floor.racks.values() if rack.like.pdus}
    for name, site in own_sites(outline):
        if site.bmc.starts_per_feed and name not in fed:
            what = "no rack of this site has PDUs, so no machine is known to hang on a feed"
            yield Problem(
                site_field(name, "bmc.starts_per_feed"), what, "Describe `pdus` of its racks, or remove it"
            )
