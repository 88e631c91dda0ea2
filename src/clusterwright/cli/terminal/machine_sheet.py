"""Everything that is known of one machine type."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from clusterwright.catalog.choice import CLOUDS
from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.cli.terminal import machine_words as words
from clusterwright.cli.terminal.style import paint
from clusterwright.cli.terminal.table import print_table
from clusterwright.plan.interfaces import Interface, InterfacePlan, interface_plan

_WIDTH = 12


def print_sheet(catalog: MachineCatalog, kind: MachineType) -> None:
    """To standard output."""
    for head, line in _lines(catalog, kind):
        print(f"{paint(f'{head:<{_WIDTH}}', 'bold', sys.stdout)}{line}".rstrip())
    if rows := list(_interfaces(interface_plan(kind))):
        print()
        print_table(("INTERFACE", "CARDS", "DEVICE", "IPV4", "NETWORK", "MTU"), rows)
    if prices := catalog.prices.get(kind.name):
        print()
        print_table(
            ("GOT", "REGION", "$/H", "AS OF", "SOURCE"),
            ((p.capacity, p.region, words.dollars(p.usd_per_hour), p.date, p.source) for p in prices),
        )


def as_json(catalog: MachineCatalog, kind: MachineType) -> dict[str, Any]:
    """For a program; null is what no source tells."""
    offering = catalog.offerings.get(kind.name)
    made = interface_plan(kind)
    return {
        **asdict(kind),
        "zones": None
        if offering is None
        else {region: list(zones) for region, zones in offering.zones.items()},
        "prices": [asdict(price) for price in catalog.prices.get(kind.name, ())],
        "interface_plan": [asdict(one) for one in made.interfaces],
        "networks": [asdict(one) for one in made.networks],
    }


def _lines(catalog: MachineCatalog, kind: MachineType) -> Iterator[tuple[str, str]]:
    hardware, offering = kind.hardware, catalog.offerings.get(kind.name)
    yield "machine", f"{kind.name} ({hardware.provider}, {hardware.architecture})"
    if hardware.gpus:
        domain = hardware.nvlink_domain or 1
        yield "GPUs", f"{words.gpus(hardware)}, {f'NVLink joins {domain}' if domain > 1 else 'no NVLink'}"
    threads = f"{hardware.sockets} × {hardware.cores_per_socket} cores × {hardware.threads_per_core}"
    yield "CPUs", f"{hardware.cpus} ({threads})"
    yield "memory", words.memory(hardware)
    yield "fabric", words.fabric(kind) or "none"
    yield "disks", words.disks(kind) or "none that come with it"
    if hardware.power_watts:
        yield "power", f"{hardware.power_watts / 1000:g} kW at most"
    if kind.capacity:
        yield "got", ", ".join(kind.capacity)
    if kind.placement:
        yield "placement", ", ".join(kind.placement)
    if offering is None and hardware.provider in CLOUDS:
        yield "sold in", words.UNKNOWN
    elif offering is not None:
        sold = ", ".join(f"{region} ({len(zones)})" for region, zones in offering.zones.items())
        yield "sold in", f"{sold}: regions (zones) as of {offering.date}"
    yield "source", f"{hardware.source} ({hardware.date})"


def _interfaces(made: InterfacePlan) -> Iterator[tuple[str, ...]]:
    """Interfaces that are alike in one row."""
    networks = {network.name: network for network in made.networks}

    def alike(one: Interface) -> tuple[str, int, int, str, int | None]:
        network = networks[one.network]
        return one.kind, one.device, one.addresses, network.kind, network.mtu

    for (kind, device, addresses, _, mtu), group in groupby(made.interfaces, key=alike):
        alikes = list(group)
        cards, where = _ranges([one.card for one in alikes]), _joined(alikes)
        yield kind, cards, str(device), str(addresses or ""), where, str(mtu or "")


def _joined(interfaces: Sequence[Interface]) -> str:
    """`main`, `gpu-0 … gpu-7`, `rdma, 8 subnets`."""
    names = list(dict.fromkeys(one.network for one in interfaces))
    subnets = len({one.subnet for one in interfaces})
    if len(names) > 1:
        return f"{names[0]} … {names[-1]}"
    return f"{names[0]}, {subnets} subnets" if subnets > 1 else names[0]


def _ranges(numbers: list[int]) -> str:
    """`0`, `1-31`, `1 5 9 13`."""
    whole = numbers == list(range(numbers[0], numbers[-1] + 1))
    return f"{numbers[0]}-{numbers[-1]}" if whole and len(numbers) > 1 else " ".join(map(str, numbers))
