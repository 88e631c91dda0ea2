"""BMCs of own machines: apart from the nodes, with addresses of their own, and open to their operator."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from clusterwright.checks.machine_file import (
    FILE,
    files_of_machines,
    nodes_of,
    outside,
    own_sites,
    short,
)
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline

_APART = "a BMC has full power over its machine: jobs and users belong into another network"


@rule(
    "CW1648",
    "A BMC outside its network",
    source=FILE,
    example="bmc_network: 10.71.0.0/22, and bmc_address 10.72.0.5",
)
def bmc_outside(outline: Outline) -> Iterator[Problem]:
    """Power and console of this machine cannot be reached from where the others' can."""
    for _, site, file in files_of_machines(outline):
        if site.bmc_network:
            yield from outside(file, IPv4Network(site.bmc_network), "bmc_address", "`bmc_network`")


@rule(
    "CW1649",
    "BMCs in the network of the nodes",
    source=_APART,
    example="site: {network: 10.70.0.0/22, bmc_network: 10.70.2.0/24}",
)
def bmc_not_apart(outline: Outline) -> Iterator[Problem]:
    """Whoever has a job on a node can talk to every BMC, switch machines off and read their consoles."""
    for name, site in own_sites(outline):
        network = outline.networks[name]
        if site.bmc_network and network and IPv4Network(site.bmc_network).overlaps(network):
            what = f"{site.bmc_network} overlaps with the nodes' network, {network}"
            yield Problem(site_field(name, "bmc_network"), what, "Give BMCs a network of their own")


@rule(
    "CW1650",
    "BMCs without a network of their own",
    source=_APART,
    example="site: {machines: machines.csv}, with a column bmc_address and no bmc_network",
    severity=Severity.WARNING,
)
def bmc_network_unsaid(outline: Outline) -> Iterator[Problem]:
    """Nobody can say whether they are apart from the nodes, nor which addresses are wrong."""
    for name, site, file in files_of_machines(outline):
        if site.bmc_network is None and any(row.bmc_address for row in file.rows):
            what = "BMC addresses are known, and the network that they are in is not"
            yield Problem(site_field(name, "machines"), what, "Add `bmc_network` to the site")


@rule(
    "CW1651",
    "The network of the BMCs is too small",
    source="one address for each BMC; the first and the last are not theirs",
    example="bmc_network: 10.71.0.0/29, with 12 machines",
)
def bmc_network_too_small(outline: Outline) -> Iterator[Problem]:
    """The last machines would have no BMC address."""
    for name, site in own_sites(outline):
        nodes = len(nodes_of(outline, name))
        if site.bmc_network and (room := IPv4Network(site.bmc_network).num_addresses - 2) < nodes:
            what = f"{site.bmc_network} has {max(0, room)} addresses, and there are {nodes} machines"
            length = 32 - (nodes + 1).bit_length()
            yield Problem(site_field(name, "bmc_network"), what, f"Give a network of /{length} or larger")


@rule(
    "CW1655",
    "A BMC that nobody can log in to",
    source=FILE,
    example="site: {machines: machines.csv}, with bmc_address and no bmc_credentials anywhere",
    severity=Severity.WARNING,
)
def bmc_without_credentials(outline: Outline) -> Iterator[Problem]:
    """Its power and its console stay out of reach."""
    for name, site, file in files_of_machines(outline):
        locked = [row for row in file.rows if row.bmc_address and not row.bmc_credentials]
        if locked and site.bmc_credentials is None:
            what = f"no credentials are named for {len(locked)} BMCs: {short([row.node for row in locked])}"
            remedy = "Add `bmc_credentials: file:…` or `env:…` to the site, or the column to the file"
            yield Problem(site_field(name, "machines"), what, remedy)
