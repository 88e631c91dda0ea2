"""Sums of power: of racks, and of the PDUs that feed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clusterwright.plan.floor.model import Floor, Kind, RackPlan, Watts


def watts(racks: Iterable[RackPlan]) -> Watts:
    """The most that everything in these racks draws."""
    known = unknown = 0
    for rack in racks:
        for placed in rack.placed:
            if placed.kind.watts is None:
                unknown += 1
            else:
                known += placed.kind.watts
    return Watts(known, unknown)


def site_watts(floor: Floor) -> Watts:
    """Of a whole site, with what stands in no rack."""
    return total(by_kind(floor))


def by_kind(floor: Floor) -> Mapping[Kind, int]:
    """How many there are of each kind: what a sum is made of."""
    counted: dict[Kind, int] = {}
    for rack in floor.racks.values():
        for placed in rack.placed:
            counted[placed.kind] = counted.get(placed.kind, 0) + 1
    for placed in floor.unknown:
        counted[placed.kind] = counted.get(placed.kind, 0) + 1
    for kind, count in floor.homeless:
        counted[kind] = counted.get(kind, 0) + count
    return counted


def total(counted: Mapping[Kind, int]) -> Watts:
    """The sum of so many of each kind."""
    return Watts(
        sum(kind.watts * count for kind, count in counted.items() if kind.watts is not None),
        sum(count for kind, count in counted.items() if kind.watts is None),
    )


def terms(floor: Floor) -> Iterator[str]:
    """What the site's sum is made of: how many of what, and what one draws."""
    counted: dict[tuple[str, int | None], int] = {}
    for kind, count in by_kind(floor).items():
        key = (kind.model, kind.watts)
        counted[key] = counted.get(key, 0) + count
    for (model, each), count in counted.items():
        yield f"{count:,} × {model} {'unknown' if each is None else kw(each)}"


def pdu_loads(rack: RackPlan, failed: str | None = None) -> Mapping[str, int]:
    """Watts of each PDU that has power. A device draws evenly over its supplies that still have any.

    `failed` is a feed without power. A device whose supplies are all on it is off, and draws nothing.
    """
    live = {pdu: 0.0 for pdu in rack.like.pdus if rack.feed(pdu) != failed}
    for placed in rack.placed:
        supplies = [pdu for pdu in placed.kind.plugs or rack.like.pdus if pdu in live]
        for pdu in supplies:
            live[pdu] += (placed.kind.watts or 0) / len(supplies)
    return {pdu: round(load) for pdu, load in live.items()}


def worst_loads(rack: RackPlan) -> Mapping[str, int]:
    """The most that each PDU carries when any one feed of the rack fails."""
    worst = dict(pdu_loads(rack))
    for feed in rack.feeds if len(rack.feeds) > 1 else ():
        for pdu, load in pdu_loads(rack, feed).items():
            worst[pdu] = max(worst[pdu], load)
    return worst


class FeedLoad(NamedTuple):
    """What a feed carries, and the most when any one other feed fails."""

    now: int
    worst: int


def feed_loads(floor: Floor) -> Mapping[str, FeedLoad]:
    """Every feed that a PDU hangs on, over all racks of a site."""
    now: dict[str, int] = {}
    shifted: dict[tuple[str, str], int] = {}
    for rack in floor.racks.values():
        before = pdu_loads(rack)
        for pdu, load in before.items():
            feed = rack.feed(pdu)
            now[feed] = now.get(feed, 0) + load
        for failed in rack.feeds if len(rack.feeds) > 1 else ():
            for pdu, load in pdu_loads(rack, failed).items():
                key = (failed, rack.feed(pdu))
                shifted[key] = shifted.get(key, 0) + load - before[pdu]
    more: dict[str, int] = {}
    for (_, feed), load in shifted.items():
        more[feed] = max(more.get(feed, 0), load)
    return {feed: FeedLoad(load, load + more.get(feed, 0)) for feed, load in sorted(now.items())}


def kw(amount: float) -> str:
    """Watts as a person says them."""
    if amount < 1000:
        return f"{amount:.0f} W"
    return f"{amount / 1000:,.4g} kW" if amount < 1_000_000 else f"{amount / 1_000_000:.4g} MW"
