"""Feeds of own machines: PDUs, plugs and the site's feeds, also when one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps

from clusterwright.checks.floor import LAYOUT, SUM, described, rack_field
from clusterwright.checks.rule import Problem, Test, rule
from clusterwright.finding import Severity
from clusterwright.plan.floor import RackPlan, pdu_loads
from clusterwright.plan.floor.power import FeedLoad, feed_loads, kw, worst_loads
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role


def _fed(outline: Outline) -> Iterator[tuple[Callable[[str], str], RackPlan]]:
    """Racks with PDUs, each with where a field of it stands."""
    for floor in described(outline):
        for room, _, row, one in floor.rows():
            for rack in floor.of(room, row):
                if rack.like.pdus:
                    yield partial(rack_field, floor, room, row, one), rack


def _feeds(outline: Outline) -> Iterator[tuple[str, str, FeedLoad, int]]:
    """The field of each of a site's feeds, its name, what it carries, and what it can."""
    for floor in described(outline):
        for feed, load in feed_loads(floor).items() if floor.feeds else ():
            if feed in floor.feeds:
                yield f"{floor.path}.feeds.{feed}", feed, load, floor.feeds[feed]


def _once_for_each_field(test: Test) -> Test:
    """Racks of a row share their fields, and a field's mistake is told of the first."""

    @wraps(test)
    def first(outline: Outline) -> Iterator[Problem]:
        told: set[str] = set()
        for problem in test(outline):
            if problem.path not in told:
                told.add(problem.path)
                yield problem

    return first


@rule(
    "CW1632",
    "A PDU carries more than it can",
    source=SUM,
    example="rack: {pdus: {a: {limit: 10 kW}, b: {limit: 10 kW}}}, with 40 kW in the rack",
)
@_once_for_each_field
def pdu_over(outline: Outline) -> Iterator[Problem]:
    """Its breaker opens although both feeds are there."""
    for field, rack in _fed(outline):
        for pdu, load in pdu_loads(rack).items():
            limit = rack.like.pdus[pdu].limit
            if load > limit:
                what = f"the PDU '{pdu}' of the rack '{rack.name}' carries {kw(load)}, and it can {kw(limit)}"
                remedy = "Put less into the rack, or take larger PDUs or more of them"
                yield Problem(f"{field('pdus')}.{pdu}.limit", what, remedy)


@rule(
    "CW1633",
    "A feed that cannot stand in for the other",
    source="2N power: either feed alone carries everything",
    example="rack: {pdus: {a: {limit: 30 kW}, b: {limit: 30 kW}}}, with 40 kW in the rack",
    severity=Severity.WARNING,
)
@_once_for_each_field
def feed_alone(outline: Outline) -> Iterator[Problem]:
    """When one feed fails, the other one's PDU takes its load, its breaker opens, and the rack is dark."""
    for field, rack in _fed(outline):
        now = pdu_loads(rack)
        for pdu, load in worst_loads(rack).items():
            limit = rack.like.pdus[pdu].limit
            if now[pdu] <= limit < load:
                what = f"when another feed of the rack '{rack.name}' fails, its PDU '{pdu}' has to carry"
                what += f" {kw(load)}, and it can {kw(limit)}"
                remedy = "Put less into the rack, take larger PDUs, or know that it is so"
                yield Problem(f"{field('pdus')}.{pdu}.limit", what, remedy)


@rule(
    "CW1656",
    "A feed carries more than it can",
    source=SUM,
    example="site: {feeds: {ups-a: 500 kW, ups-b: 500 kW}}, with 1.2 MW in racks on both",
)
def feed_over(outline: Outline) -> Iterator[Problem]:
    """The UPS or the board behind it is overloaded although the other feed is there."""
    for path, feed, load, limit in _feeds(outline):
        if load.now > limit:
            what = f"the feed '{feed}' carries {kw(load.now)}, and it can {kw(limit)}"
            yield Problem(path, what, "Move racks to another feed, or add one")


@rule(
    "CW1657",
    "A feed of the site that cannot stand in for another",
    source="2N power: either feed alone carries everything",
    example="site: {feeds: {ups-a: 800 kW, ups-b: 800 kW}}, with 1.2 MW in racks on both",
    severity=Severity.WARNING,
)
def feed_of_site_alone(outline: Outline) -> Iterator[Problem]:
    """When one UPS fails, the other one follows it, and every rack on both is dark."""
    for path, feed, load, limit in _feeds(outline):
        if load.now <= limit < load.worst:
            what = f"when another feed fails, '{feed}' has to carry {kw(load.worst)}, and it can {kw(limit)}"
            yield Problem(path, what, "Put less on it, or know that it is so")


@rule(
    "CW1658",
    "A feed that the site does not have",
    source=LAYOUT,
    example="site: {feeds: {ups-a: 800 kW}}, rack: {pdus: {a: {feed: ups-c, limit: 22 kW}}}",
    severity=Severity.WARNING,
)
def feed_unknown(outline: Outline) -> Iterator[Problem]:
    """What hangs on it is in no feed's sum."""
    for floor in described(outline):
        found = feed_loads(floor) if floor.feeds else {}
        for feed in found:
            if feed not in floor.feeds:
                what = f"PDUs hang on the feed '{feed}', and `feeds` does not have it"
                yield Problem(f"{floor.path}.feeds", what, f"Add it; there are: {', '.join(floor.feeds)}")
        for feed in floor.feeds:
            if feed not in found:
                what = f"no PDU hangs on the feed '{feed}'"
                yield Problem(f"{floor.path}.feeds.{feed}", what, "Name it in `pdus`, or remove it")


@rule(
    "CW1634",
    "A plug for a PDU that is not there",
    source=LAYOUT,
    example="rack: {pdus: {a: …, b: …}}, pools: {gpu: {racks: {plugs: [a, c]}}}",
)
@_once_for_each_field
def plug_nowhere(outline: Outline) -> Iterator[Problem]:
    """Its share of the load would be on no PDU."""
    for floor in described(outline):
        for rack in floor.racks.values():
            for one in rack.placed:
                missing = next((plug for plug in one.kind.plugs if plug not in rack.like.pdus), None)
                if missing:
                    what = f"the rack '{rack.name}' has no PDU '{missing}', where '{one.name}' is plugged in"
                    known = ", ".join(rack.like.pdus) or "none is described"
                    yield Problem(f"{one.kind.path}.plugs", what, f"Its PDUs: {known}")


@rule(
    "CW1635",
    "All power supplies on one feed",
    source="a second power supply is for the failure of the first one's feed",
    example="pools: {gpu: {racks: {plugs: [a, a]}}}, in racks with PDUs a and b",
    severity=Severity.WARNING,
)
@_once_for_each_field
def one_feed(outline: Outline) -> Iterator[Problem]:
    """The rack has another feed, and the machine goes dark all the same when this one fails."""
    for _, rack in _fed(outline):
        for one in rack.placed:
            used = {rack.feed(plug) for plug in one.kind.plugs if plug in rack.like.pdus}
            whole = len(used) == 1 and used != set(rack.feeds) and {*one.kind.plugs} <= {*rack.like.pdus}
            if len(one.kind.plugs) > 1 and whole:
                what = f"all {len(one.kind.plugs)} power supplies of '{one.name}' hang on feed '{used.pop()}'"
                yield Problem(f"{one.kind.path}.plugs", what, f"Spread them over {' and '.join(rack.feeds)}")


@rule(
    "CW1636",
    "The controller hangs on one feed",
    source="without its controller a cluster starts no job",
    example="rack: {pdus: {a: {limit: 10 kW}}}, with the controller in it",
    severity=Severity.WARNING,
)
def controller_on_one_feed(outline: Outline) -> Iterator[Problem]:
    """One breaker stops the scheduling of every GPU."""
    pools = {name: pool.racks for name, pool in outline.pools_with(Role.CONTROLLER)}
    for _, rack in _fed(outline):
        for one in rack.placed:
            if one.kind.sort != "node" or one.kind.group not in pools:
                continue
            plugs = one.kind.plugs or tuple(rack.like.pdus)
            if len(rack.feeds) == 1 or len(plugs) == 1:
                feed = rack.feed(plugs[0]) if plugs[0] in rack.like.pdus else plugs[0]
                what = f"'{one.name}' has power from the feed '{feed}' alone"
                yield Problem(one.kind.path, what, "Give it a second power supply on another feed")


@rule(
    "CW1637",
    "PDUs weaker than the rack's limit",
    source=LAYOUT,
    example="rack: {power_limit: 44 kW, pdus: {a: {limit: 17 kW}, b: {limit: 17 kW}}}",
    severity=Severity.WARNING,
)
@_once_for_each_field
def pdus_below_limit(outline: Outline) -> Iterator[Problem]:
    """The limit promises what the rack's PDUs together cannot carry."""
    for field, rack in _fed(outline):
        carried, limit = sum(pdu.limit for pdu in rack.like.pdus.values()), rack.like.power_limit
        if limit is not None and carried < limit:
            what = f"the PDUs of the rack '{rack.name}' carry {kw(carried)}, and it may draw {kw(limit)}"
            yield Problem(field("power_limit"), what, f"Write {kw(carried)} or less")
