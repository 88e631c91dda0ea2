"""A plan as a table that a person wants to read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from clusterwright.cli.terminal.cost_words import cost_words, own_cost_words
from clusterwright.cli.terminal.machine_words import dollars
from clusterwright.plan.floor.power import kw
from clusterwright.plan.model import ClusterPlan, PlannedPartition, PlannedSite
from clusterwright.plan.summary import PoolFigures, SiteFigures, Summary, summary

_PIPED_WIDTH = 120


def print_plan(plan: ClusterPlan) -> None:
    """To standard output; without colour where nobody looks."""
    figures = summary(plan)
    console = _console()
    with console.capture() as lines:
        console.print(_headline(plan), highlight=False)
        console.print(_pools(figures))
        for name, words in _further(plan, figures):
            console.print(f"[bold]{name:<11}[/bold] {words}", highlight=False, soft_wrap=True)
    print("\n".join(line.rstrip() for line in lines.get().splitlines()))


def _console() -> Console:
    """As wide as the terminal; a pipe has a width of its own, whatever the environment."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width)


def _headline(plan: ClusterPlan) -> str:
    sites = ", ".join(" ".join(part for part in _site(plan, site) if part) for site in plan.sites)
    played = ", ".join(plan.rehearsal_of)
    rehearsed = f" [yellow](a rehearsal of {played})[/yellow]" if played else ""
    return f"[bold]{plan.spec.cluster}[/bold] on {sites}{rehearsed}"


def _site(plan: ClusterPlan, site: PlannedSite) -> tuple[str, str, str]:
    described = plan.spec.sites.get(site.name) or plan.spec.site
    picked = site.provider == "lab" and not site.ground.network and not (described and described.network)
    return site.provider, site.place, "in a free network" if picked else site.network


def _pools(figures: Summary) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("POOL", "total", style="bold", no_wrap=True)
    table.add_column("NODES", str(figures.nodes), justify="right")
    table.add_column("NAMES", overflow="fold")
    table.add_column("ROLES", overflow="fold")
    table.add_column("MACHINE", no_wrap=True)
    table.add_column("GPUS", str(figures.gpus or ""), no_wrap=True)
    table.add_column("NETWORK", no_wrap=True)
    drawn = _is_power_known(figures)
    priced = any(pool.capacity for pool in figures.pools)
    if drawn:
        table.add_column("POWER", _total_watts(figures))
    if priced:
        table.add_column("COST", _total_cost(figures))
    for pool in figures.pools:
        table.add_row(
            pool.pool,
            str(pool.nodes),
            pool.names,
            ", ".join(pool.roles),
            pool.machine,
            _gpus(pool),
            "\n".join(f"{cards.count} × {cards.gbps}G {cards.kind}" for cards in pool.cards),
            *([_watts(pool)] if drawn else []),
            *([_pool_cost(pool)] if priced else []),
        )
    return table


def _gpus(pool: PoolFigures) -> str:
    return f"{pool.nodes} × {pool.gpus // pool.nodes} {pool.gpu_type}" if pool.gpus else ""


def _is_power_known(figures: Summary) -> bool:
    return figures.nodes_of_unknown_watts < figures.nodes


def _watts(pool: PoolFigures) -> str:
    return "unknown" if pool.watts is None else _kilowatts(pool.watts)


def _total_watts(figures: Summary) -> str:
    """What nobody knows is said, not counted as nothing."""
    unknown = figures.nodes_of_unknown_watts
    return _kilowatts(figures.watts) + (f" + {unknown} unknown" if unknown else "")


def _pool_cost(pool: PoolFigures) -> str:
    if pool.capacity is None:
        return ""
    return "unknown" if pool.usd_per_hour is None else f"{dollars(pool.usd_per_hour)}/h"


def _total_cost(figures: Summary) -> str:
    unknown = figures.nodes_of_unknown_price
    if unknown == sum(pool.nodes for pool in figures.pools if pool.capacity):
        return "unknown"
    return f"{dollars(figures.parts['pools'])}/h" + (f" + {unknown} unknown" if unknown else "")


def _kilowatts(watts: int) -> str:
    return f"{watts / 1000:.1f} kW"


def _further(plan: ClusterPlan, figures: Summary) -> Iterator[tuple[str, str]]:
    counted = [(figures.leaves, "leaf switch"), (figures.blocks, "block"), (figures.racks, "rack")]
    yield "fabric", ", ".join([figures.topology, *(_counted(n, what) for n, what in counted if n)])
    for site in figures.own:
        yield "racks", _racks(site)
        yield "power", f"{' + '.join(site.terms)} = {_drawn(site.watts, site.unknown)}"
    yield "partitions", ", ".join(_partition(partition) for partition in plan.partitions)
    if not _is_power_known(figures):
        yield "power", "no source tells what these machines draw"
    if plan.cost.pools:
        yield from cost_words(plan.cost)
    for own in figures.own_costs:
        yield "own cost", own_cost_words(own)
    distribution = plan.spec.software.distribution
    yield "software", f"{distribution}, Slurm {plan.slurm_release} (from the {plan.slurm_source})"
    yield from _stacks(plan).items()
    if plan.spec.users:
        users, accounts = len(plan.spec.users), len(plan.spec.accounts)
        yield "people", f"{_counted(users, 'user')} in {_counted(accounts, 'account')}"


def _stacks(plan: ClusterPlan) -> dict[str, str]:
    """What is installed for GPUs and fabric, once for pools that have the same."""
    pools: dict[str, list[str]] = {}
    for pool, rows in plan.lock.pools.items():
        words = ", ".join(
            " ".join(filter(None, (name, row.version, row.flavour)))
            for name, row in rows.items()
            if row.packages and name != "slurm"
        )
        if words:
            pools.setdefault(words, []).append(pool)
    return {f"on {', '.join(names)}": words for words, names in pools.items()}


_MOST_RACKS = 8
"""Groups of racks that one line tells; `clusterwright racks` tells all."""


def _racks(site: SiteFigures) -> str:
    words = [f"{one.names} {_drawn(one.watts, one.unknown)}" for one in site.racks]
    rest = [f"and {len(words) - _MOST_RACKS} more kinds"] if len(words) > _MOST_RACKS else []
    return ", ".join([*words[:_MOST_RACKS], *rest])


def _drawn(watts: int, unknown: int) -> str:
    return kw(watts) + (f" and {unknown} of unknown draw" if unknown else "")


def _counted(number: int, what: str) -> str:
    plural = "es" if what.endswith("h") else "s"
    return f"{number} {what}{plural if number > 1 else ''}"


def _partition(partition: PlannedPartition) -> str:
    return f"{partition.name}{'*' if partition.default else ''} ({partition.nodes})"
