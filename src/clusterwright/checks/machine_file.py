"""The file of machines against the description: what tells each node from its sisters."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from itertools import islice

from clusterwright.catalog.subnets import reserved
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.mac import is_of_one_card
from clusterwright.spec.machines import Machine, MachineFile
from clusterwright.spec.nodeset import fold
from clusterwright.spec.site import OnpremSite

FILE = "the file of machines that the description names"
_MOST_TOLD = 20
"""Problems of one rule in one file; more are one mistake."""


def own_sites(outline: Outline) -> Iterator[tuple[str, OnpremSite]]:
    """Sites of own machines, by name."""
    return ((name, site) for name, site in outline.sites.items() if isinstance(site, OnpremSite))


def files_of_machines(outline: Outline) -> Iterator[tuple[str, OnpremSite, MachineFile]]:
    """Sites that have a file of machines."""
    for name, site in own_sites(outline):
        if site.known_machines is not None:
            yield name, site, site.known_machines


def nodes_of(outline: Outline, site: str) -> list[str]:
    """Names of a site's nodes."""
    pools = (pool for pool, home in outline.site_names.items() if home == site)
    return [node for pool in pools for node in outline.names[pool] or ()]


def _problem(file: MachineFile, row: Machine, column: str, what: str, remedy: str) -> Problem:
    return Problem(f"{row.node}.{column}", what, remedy, file.where(row.line, column))


def _twice(outline: Outline, columns: tuple[str, ...], what: str, remedy: str) -> Iterator[Problem]:
    """A value of these columns that two lines have, or one line in two of them; over all files."""
    return islice(_each_again(outline, columns, what, remedy), _MOST_TOLD)


def _each_again(outline: Outline, columns: tuple[str, ...], what: str, remedy: str) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for _, _, file in files_of_machines(outline):
        for row in file.rows:
            for column in columns:
                value = getattr(row, column)
                holder = seen.setdefault(value, row.node) if value else ""
                first = holder and (holder, column) == (row.node, _first(row, columns, value))
                if value and not first:
                    yield _problem(file, row, column, what.format(value=value, holder=holder), remedy)


def _first(row: Machine, columns: tuple[str, ...], value: str) -> str:
    return next(column for column in columns if getattr(row, column) == value)


def outside(file: MachineFile, network: IPv4Network, column: str, of: str) -> Iterator[Problem]:
    """Addresses of a column that are not in the network that they belong to."""
    wrong = (
        row for row in file.rows if (value := getattr(row, column)) and IPv4Address(value) not in network
    )
    for row in islice(wrong, _MOST_TOLD):
        what = f"'{getattr(row, column)}' is not in {of}, {network}"
        yield _problem(file, row, column, what, "Mend the address or the network")


def short(names: list[str]) -> str:
    """Of some nodes, for a line."""
    text = fold(names)
    return text if len(text) <= 80 else f"{text[:79]}…"


@rule(
    "CW1640",
    "A node without its line",
    source=FILE,
    example='pools: {gpu: {nodes: "gpu[1-3]"}}, and a file of machines with gpu1 and gpu2',
    severity=Severity.WARNING,
)
def node_without_line(outline: Outline) -> Iterator[Problem]:
    """It cannot be booted over the network, nor powered on: nobody knows which machine it is."""
    for name, _, file in files_of_machines(outline):
        missing = [node for node in nodes_of(outline, name) if node not in file.by_node]
        if missing:
            what = f"{len(missing)} of its nodes have no line in '{file.file}': {short(missing)}"
            remedy = "Add them; `clusterwright inventory import` makes lines from what the site has"
            yield Problem(site_field(name, "machines"), what, remedy)


@rule(
    "CW1641",
    "A line for no node",
    source=FILE,
    example='pools: {gpu: {nodes: "gpu[1-2]"}}, and a file of machines with gpu3',
    severity=Severity.WARNING,
)
def line_without_node(outline: Outline) -> Iterator[Problem]:
    """A misspelt name, or a machine that was taken out and not taken off the list."""
    for name, _, file in files_of_machines(outline):
        nodes = set(nodes_of(outline, name))
        unknown = [row for row in file.rows if row.node not in nodes]
        for row in unknown[:_MOST_TOLD]:
            what = f"no pool of this site has a node '{row.node}'"
            yield _problem(file, row, "node", what, "Name it in a pool's `nodes`, or remove the line")


@rule(
    "CW1642",
    "Two lines for one node",
    source=FILE,
    example="gpu1,0c:42:a1:00:00:01 and gpu1,0c:42:a1:00:00:02",
)
def node_twice(outline: Outline) -> Iterator[Problem]:
    """Which of the two machines it is would be chance."""
    for _, _, file in files_of_machines(outline):
        again = (row for row in file.rows if file.by_node[row.node] is not row)
        for row in islice(again, _MOST_TOLD):
            what = f"'{row.node}' has a line already, {file.by_node[row.node].line}"
            yield _problem(file, row, "node", what, "Keep the line of the machine that is there now")


@rule("CW1643", "One MAC twice", source=FILE, example="0c:42:a1:00:00:01 for gpu1 and for gpu2")
def mac_twice(outline: Outline) -> Iterator[Problem]:
    """DHCP would give both machines one name and address, and the second takes them from the first."""
    remedy = "Read it off the machine again"
    yield from _twice(outline, ("mac", "bmc_mac"), "'{value}' is of '{holder}' already", remedy)


@rule(
    "CW1644",
    "One serial number twice",
    source=FILE,
    example="serial ABC123 for gpu1 and for gpu2",
)
def serial_twice(outline: Outline) -> Iterator[Problem]:
    """A vendor's technician would be sent to the wrong machine."""
    what = "'{value}' is the serial number of '{holder}' already"
    yield from _twice(outline, ("serial",), what, "Look at the machine")


@rule("CW1645", "One address twice", source=FILE, example="10.71.0.11 for the BMCs of gpu1 and gpu2")
def address_twice(outline: Outline) -> Iterator[Problem]:
    """Two answer, and a power-off goes to whichever was faster."""
    remedy = "Give each node and each BMC an address of its own"
    yield from _twice(outline, ("address", "bmc_address"), "'{value}' is of '{holder}' already", remedy)


@rule(
    "CW1646",
    "An address outside the site's network",
    source=FILE,
    example="address 10.99.0.5, network 10.70.0.0/22",
)
def address_outside(outline: Outline) -> Iterator[Problem]:
    """No route leads there, and the node would be unreachable from its controller."""
    for name, _, file in files_of_machines(outline):
        network = outline.networks[name]
        yield from outside(file, network, "address", "the site's network") if network else ()


@rule(
    "CW1647",
    "An address that is kept",
    source="RFC 919, RFC 950: first and last address; the lowest one is the gateway's",
    example="address 10.70.0.0 in 10.70.0.0/22",
)
def address_kept(outline: Outline) -> Iterator[Problem]:
    """The network's own, its gateway's and the broadcast address are no node's."""
    for name, site, file in files_of_machines(outline):
        network, kept = outline.networks[name], reserved(site.provider)
        if network is None:
            continue
        first, last = int(network.network_address), int(network.broadcast_address)
        for row in file.rows:
            value = int(IPv4Address(row.address)) if row.address else None
            if value is None or not first <= value <= last:
                continue
            if value < first + kept.first or value > last - kept.last:
                what = f"'{row.address}' of {network} is not for nodes"
                yield _problem(
                    file, row, "address", what, f"Take {IPv4Address(first + kept.first)} or higher"
                )


@rule(
    "CW1653",
    "A MAC that no vendor gave out",
    source="IEEE 802: bit 0 of the first byte marks group addresses, bit 1 those that software made up",
    example="mac 02:42:ac:11:00:02, as containers have",
    severity=Severity.WARNING,
)
def mac_made_up(outline: Outline) -> Iterator[Problem]:
    """It was read off a bridge, a bond or a container, and the machine boots with another one."""
    for _, _, file in files_of_machines(outline):
        wrong = (
            (row, column, value)
            for row in file.rows
            for column in ("mac", "bmc_mac")
            if (value := getattr(row, column)) and not is_of_one_card(value)
        )
        for row, column, value in islice(wrong, _MOST_TOLD):
            what = f"'{value}' is no card's own address"
            yield _problem(file, row, column, what, "Read the address of the card that it boots from")


@rule(
    "CW1654",
    "Cells that are blank",
    source=FILE,
    example="gpu1 with a MAC, gpu2 without one",
    severity=Severity.WARNING,
)
def cells_blank(outline: Outline) -> Iterator[Problem]:
    """Other nodes have it. Network boot needs the MAC, power control the BMC's address."""
    for _, _, file in files_of_machines(outline):
        for column in ("mac", "bmc_address", "serial"):
            blank = [row for row in file.rows if not getattr(row, column)]
            if blank and len(blank) < len(file.rows):
                names = short([row.node for row in blank])
                what = f"no '{column}' of {len(blank)} of {len(file.rows)} machines: {names}"
                yield _problem(file, blank[0], column, what, "Fill it in, or remove the whole column")
