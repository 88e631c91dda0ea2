"""Facts of machine types in the words that a person reads."""

from __future__ import annotations

from collections import Counter

from clusterwright.catalog.choice import CLOUDS
from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.offers import LocalDisks
from clusterwright.plan.cost import HOURS_A_MONTH, NOT_INCLUDED, Cost

UNKNOWN = "unknown"


def gpus(hardware: Hardware) -> str:
    """`8 × h100 80 GB`: memory as it is sold, rounded."""
    if not hardware.gpus:
        return ""
    size = f" {round((hardware.gpu_memory_mib or 0) / 1024)} GiB" if hardware.gpu_memory_mib else ""
    return f"{len(hardware.gpus)} × {hardware.gpu_type}{size}"


def memory(hardware: Hardware) -> str:
    return f"{hardware.memory_mib // 1024:,} GiB"


def fabric(kind: MachineType) -> str:
    """`3200G efa`; empty where machines talk over their ordinary network."""
    if kind.fabric_gbps is None:
        return ""
    return f"{kind.fabric_gbps}G {next(card.kind for card in kind.cards if card.is_fabric)}"


def disks(kind: MachineType) -> str:
    """`8 × 3.8 TB`; `unknown` of a cloud's machine is a gap, of one's own it is as built."""
    if kind.local_disks is None:
        return UNKNOWN if kind.hardware.provider in CLOUDS else ""
    return " + ".join(_disks(one) for one in kind.local_disks)


def _disks(one: LocalDisks) -> str:
    size = one.size_bytes / 10**9
    return f"{one.count} × {size / 1000:.2g} TB" if size >= 1000 else f"{one.count} × {size:.0f} GB"


def cost_words(cost: Cost) -> str:
    """`$61.83 an hour, $45,135.90 a month at prices of 2026-09, without disks …; no price is known for …`."""
    parts = []
    if cost.dates:
        of = " to ".join(dict.fromkeys((cost.dates[0], cost.dates[-1])))
        hour, month = dollars(cost.usd_per_hour), dollars(cost.usd_per_month)
        least = "at least " if cost.unpriced else ""
        parts.append(f"{least}{hour} an hour, {month} a month of {HOURS_A_MONTH} h, at prices of {of}")
        parts.append(f"without {NOT_INCLUDED}")
    if cost.unpriced:
        asked: Counter[str] = Counter()
        for one in cost.unpriced:
            hint = (
                f" ({dollars(one.elsewhere.usd_per_hour)} in {one.elsewhere.region})" if one.elsewhere else ""
            )
            asked[f"{one.machine} {one.capacity} in {one.region}{hint}"] += one.nodes
        parts.append(f"no price is known of {', '.join(f'{n} × {words}' for words, n in asked.items())}")
    return "; ".join(parts)


def cost_change(old: Cost, new: Cost) -> str:
    """`$441.13 an hour → $496.17 (+$55.04; +$40,179.20 a month)`; empty where no cloud asks for money."""
    if not (old.pools or new.pools):
        return ""
    told = f"{_hourly(old)} an hour → {_hourly(new)}"
    if old.unpriced or new.unpriced:
        return told
    more = round(new.usd_per_hour - old.usd_per_hour, 4)
    sign = "-" if more < 0 else "+"
    return f"{told} ({sign}{dollars(abs(more))}; {sign}{dollars(abs(more) * HOURS_A_MONTH)} a month)"


def _hourly(cost: Cost) -> str:
    unknown = sum(one.nodes for one in cost.unpriced)
    parts = [dollars(cost.usd_per_hour)] if cost.dates or not unknown else []
    return " + ".join([*parts, *([f"{unknown} nodes without a known price"] if unknown else [])])


def dollars(usd: float) -> str:
    return f"${usd:,.2f}"
