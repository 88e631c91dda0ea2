"""What Lustre's client is told on large machines, as data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class Setting:
    """A module's option (`module`), or a parameter that `lctl set_param` takes after a mount (`param`)."""

    kind: Literal["module", "param"]
    name: str
    value: str
    more_cpus_than: int
    more_gib_than: int
    network: str
    """Only where LNet has a network of this type; empty for any."""
    why: str
    source: str
    date: str


CARDS = {"o2ib": frozenset({"infiniband", "mrdma", "roce"}), "efa": frozenset({"efa"})}
"""Type of an LNet network → network cards that it runs over; tcp runs over any."""


@cache
def efa_interfaces() -> Mapping[str, int]:
    """How many EFA cards a machine type reaches Lustre over; one that is not there does it over TCP."""
    return {row["machine"]: int(row["interfaces"]) for row in rows("lustre_efa")}


def network_type(network: str) -> str:
    """`o2ib` of `o2ib1`: networks of a type are numbered."""
    return next((name for name in ("tcp", *CARDS) if network.startswith(name)), network)


def runs_on(network: str, hardware: Hardware) -> bool:
    """Whether a machine type has the cards of an LNet network, and Lustre can use them."""
    kind = network_type(network)
    cards = CARDS.get(kind)
    if kind == "efa" and hardware.machine not in efa_interfaces():
        return False
    return cards is None or any(nic.kind in cards for nic in hardware.nics)


def settings(hardware: Hardware, networks: Collection[str]) -> list[Setting]:
    """What holds for a machine type and its LNet networks."""
    types = {network_type(name) for name in networks}
    return [
        row
        for row in table()
        if hardware.cpus > row.more_cpus_than
        and hardware.memory_mib > row.more_gib_than << 10
        and (not row.network or row.network in types)
    ]


@cache
def table() -> tuple[Setting, ...]:
    return tuple(
        Setting(
            kind="module" if row["kind"] == "module" else "param",
            name=row["name"],
            value=row["value"],
            more_cpus_than=int(row["more_cpus_than"] or 0),
            more_gib_than=int(row["more_gib_than"] or 0),
            network=row["network"],
            why=row["why"],
            source=row["source"],
            date=row["date"],
        )
        for row in rows("lustre_settings")
    )
