"""A plan as a table that a person wants to read."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from clusterwright.catalog.hardware import Hardware
from clusterwright.plan.model import ClusterPlan, PlannedNode, PlannedPartition, PlannedSite
from clusterwright.spec.nodeset import fold

_PIPED_WIDTH = 120


def print_plan(plan: ClusterPlan) -> None:
    """To standard output; without colour where nobody looks."""
    console = console_for_output()
    with console.capture() as lines:
        console.print(_headline(plan), highlight=False)
        console.print(_pools(plan))
        for name, words in _further(plan):
            console.print(f"[bold]{name:<12}[/bold]{words}", highlight=False, soft_wrap=True)
    print("\n".join(line.rstrip() for line in lines.get().splitlines()))


def console_for_output() -> Console:
    """As wide as the terminal; a pipe has a width of its own, whatever the environment."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width)


def _headline(plan: ClusterPlan) -> str:
    sites = ", ".join(" ".join(part for part in _site(plan, site) if part) for site in plan.sites)
    rehearsed = (
        f" [yellow](a rehearsal of {', '.join(plan.rehearsal_of)})[/yellow]" if plan.rehearsal_of else ""
    )
    return f"[bold]{plan.spec.cluster}[/bold] on {sites}{rehearsed}"


def _site(plan: ClusterPlan, site: PlannedSite) -> tuple[str, str, str]:
    described = plan.spec.sites.get(site.name) or plan.spec.site
    picked = site.provider == "lab" and not site.ground.network and not (described and described.network)
    return site.provider, site.place, "in a free network" if picked else site.network


def _pools(plan: ClusterPlan) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False, padding=(0, 1, 0, 0))
    by_pool: dict[str, list[PlannedNode]] = {}
    for node in plan.nodes:
        by_pool.setdefault(node.pool, []).append(node)
    gpus = sum(len(plan.hardware[node.machine].gpus) for node in plan.nodes)
    table.add_column("POOL", "total", style="bold", no_wrap=True)
    table.add_column("NODES", str(len(plan.nodes)), justify="right")
    table.add_column("NAMES", overflow="fold")
    table.add_column("ROLES", overflow="fold")
    table.add_column("MACHINE", no_wrap=True)
    table.add_column("GPUS", str(gpus) if gpus else "", no_wrap=True)
    table.add_column("NETWORK", no_wrap=True)
    table.add_column("POWER", _watts(plan.hardware[node.machine].power_watts for node in plan.nodes))
    for pool, nodes in by_pool.items():
        hardware = plan.hardware[nodes[0].machine]
        table.add_row(
            pool,
            str(len(nodes)),
            fold([node.name for node in nodes]),
            ", ".join(nodes[0].roles),
            hardware.machine,
            _gpus(hardware, len(nodes)),
            _network(hardware),
            _watts([hardware.power_watts] * len(nodes)),
        )
    return table


def _gpus(hardware: Hardware, nodes: int) -> str:
    return f"{nodes} × {len(hardware.gpus)} {hardware.gpu_type}" if hardware.gpus else ""


def _network(hardware: Hardware) -> str:
    cards = Counter((nic.kind, nic.gbps) for nic in hardware.nics)
    return "\n".join(f"{count} × {gbps}G {kind}" for (kind, gbps), count in sorted(cards.items()))


def _watts(values: Iterable[int | None]) -> str:
    """Most that they draw; what nobody knows is said, not counted as nothing."""
    rows = list(values)
    known = [watts for watts in rows if watts is not None]
    if not known:
        return "unknown"
    total = f"{sum(known) / 1000:.1f} kW"
    return total if len(known) == len(rows) else f"{total} + {len(rows) - len(known)} unknown"


def _further(plan: ClusterPlan) -> Iterator[tuple[str, str]]:
    fabric = plan.spec.fabric
    leaves = len({node.switches[0] for node in plan.nodes if node.switches})
    blocks = len({node.block for node in plan.nodes if node.block})
    racks = len({node.rack for node in plan.nodes if node.rack})
    counted = [(leaves, "leaf switch"), (blocks, "block"), (racks, "rack")]
    words = [_counted(n, what) for n, what in counted if n]
    yield "fabric", ", ".join([fabric.topology, *words])
    yield "partitions", ", ".join(_partition(partition) for partition in plan.partitions)
    distribution = plan.spec.software.distribution
    yield "software", f"{distribution}, Slurm {plan.slurm_release} (from the {plan.slurm_source})"
    if plan.spec.users:
        users, accounts = len(plan.spec.users), len(plan.spec.accounts)
        yield "people", f"{_counted(users, 'user')} in {_counted(accounts, 'account')}"


def _counted(number: int, what: str) -> str:
    plural = "es" if what.endswith("h") else "s"
    return f"{number} {what}{plural if number > 1 else ''}"


def _partition(partition: PlannedPartition) -> str:
    return f"{partition.name}{'*' if partition.default else ''} ({partition.nodes})"
