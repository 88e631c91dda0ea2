"""What a plan costs, in the words that a person reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clusterwright.cli.terminal.machine_words import dollars
from clusterwright.plan.cost import HOURS_A_MONTH, NOT_INCLUDED, PARTS, Cost, Metered, Part
from clusterwright.plan.owning import OwnCost

_UNITS = {"traffic-gb": "a GB of traffic", "stored-gb-month": "a GB and month that is stored"}


def cost_words(cost: Cost) -> Iterator[tuple[str, str]]:
    """Lines with what they are about: the sum, its parts, what is metered, what no source tells."""
    if cost.dates:
        of = " to ".join(dict.fromkeys((cost.dates[0], cost.dates[-1])))
        least = "at least " if cost.unpriced or cost.unpriced_services else ""
        hour, month = dollars(cost.usd_per_hour), dollars(cost.usd_per_month)
        yield (
            "cost",
            (
                f"{least}{hour} an hour with every node up, busy or idle, "
                f"{month} a month of {HOURS_A_MONTH} h, at prices of {of}"
            ),
        )
        parts = ", ".join(f"{part} {_of(cost, part)}" for part in PARTS)
        rest = dollars(cost.least_usd_per_hour)
        yield "of which", f"{parts} an hour; {rest} of it with no compute node up (what was bought is paid)"
        yield "not in it", "; ".join([NOT_INCLUDED, *map(_rate, cost.metered)])
    if cost.unpriced or cost.unpriced_services:
        yield "unknown", f"no price is known of {', '.join(_unpriced(cost))}"


def own_cost_words(own: OwnCost) -> str:
    """An hour of a GPU of one's own, beside a cloud's."""
    power = f"power ${own.power:.3f}" if own.power is not None else "power unknown"
    words = f"{own.pool}: ${own.usd_per_gpu_hour:.3f} an hour of a GPU, purchase ${own.purchase:.3f}, {power}"
    if (near := own.rented) is None:
        return words
    asks = f"{near.machine} in {near.region} asks ${near.usd_per_gpu_hour:.2f} on demand"
    return f"{words}; {asks}, at prices of {near.date}"


def cost_sum(cost: Cost) -> Iterator[str]:
    """The same lines without what they are about."""
    return (words for _, words in cost_words(cost))


def _rate(one: Metered) -> str:
    return f"{one.name} ${one.price.usd:g} {_UNITS[one.price.unit]}"


def _unpriced(cost: Cost) -> Iterator[str]:
    asked: Counter[str] = Counter()
    for one in cost.unpriced:
        near = one.elsewhere
        hint = f" ({dollars(near.usd_per_hour)} in {near.region})" if near else ""
        asked[f"{one.machine} {one.capacity} in {one.region}{hint}"] += one.nodes
    yield from (f"{count} × {words}" for words, count in asked.items())
    services = dict.fromkeys((row.service, row.region) for row in cost.unpriced_services)
    yield from (f"{service} in {region}" for service, region in services)


def cost_change(old: Cost, new: Cost) -> Iterator[str]:
    """The sum first, then each part that changes; nothing where no cloud asks for money."""
    if not (old.pools or new.pools):
        return
    told = f"{_hourly(old)} an hour → {_hourly(new)}"
    known = not (old.unpriced or new.unpriced or old.unpriced_services or new.unpriced_services)
    yield f"{told} ({_more(old.usd_per_hour, new.usd_per_hour)})" if known else told
    for part in PARTS:
        if old.of(part) != new.of(part):
            yield f"{part}: {_of(old, part)} → {_of(new, part)} ({_more(old.of(part), new.of(part))})"


def _of(cost: Cost, part: Part) -> str:
    return "unknown" if cost.is_unknown(part) else dollars(cost.of(part))


def _more(old: float, new: float) -> str:
    more = round(new - old, 4)
    sign = "-" if more < 0 else "+"
    return f"{sign}{dollars(abs(more))}; {sign}{dollars(abs(more) * HOURS_A_MONTH)} a month"


def _hourly(cost: Cost) -> str:
    nodes, services = sum(one.nodes for one in cost.unpriced), len(cost.unpriced_services)
    unknown = [f"{nodes} nodes"] if nodes else []
    unknown += [f"{services} services"] if services else []
    parts = [dollars(cost.usd_per_hour)] if cost.dates or not unknown else []
    return " + ".join([*parts, *([f"{' and '.join(unknown)} without a known price"] if unknown else [])])
