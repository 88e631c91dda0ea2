"""What a plan says of small, readable clusters."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from clusterwright.finding import Refused
from clusterwright.plan import plan
from clusterwright.plan.model import ClusterPlan, Ground
from clusterwright.spec.cluster import ClusterSpec

HEAD = "head: {roles: controller, machine: generic-x86-16c}"


def described(pools: str, **more: Any) -> ClusterSpec:
    body = {"cluster": "test", "site": {"provider": "onprem"}, "pools": yaml.safe_load(f"{{{pools}}}")}
    return ClusterSpec.model_validate(body | more)


def names(made: ClusterPlan) -> list[str]:
    return [node.name for node in made.nodes]


def addresses(made: ClusterPlan) -> dict[str, str]:
    return {node.name: node.address for node in made.nodes}


def gpus(count: int, **more: Any) -> str:
    extra = "".join(f", {key}: {value}" for key, value in more.items())
    return f"gpu: {{roles: compute, machine: hgx-h100-8gpu, count: {count}{extra}}}"


def test_names_come_from_the_set_the_count_or_the_pool() -> None:
    work = "w: {roles: compute, machine: l4-server, nodes: 'node[08-10],spare1'}"
    assert names(plan(described(f"{HEAD}, {work}, {gpus(2)}"))) == [
        "head",
        "node08",
        "node09",
        "node10",
        "spare1",
        "gpu-001",
        "gpu-002",
    ]


def test_names_are_never_padded_anew() -> None:
    small, large = (names(plan(described(gpus(count)))) for count in (999, 1001))
    assert large[:999] == small
    assert large[998:] == ["gpu-999", "gpu-1000", "gpu-1001"]


def test_the_first_addresses_are_left_to_the_network_and_its_gateway() -> None:
    made = plan(described(f"{HEAD}, {gpus(2)}"))
    assert addresses(made) == {"head": "10.66.0.2", "gpu-001": "10.66.0.3", "gpu-002": "10.66.0.4"}
    assert made.sites[0].network == "10.66.0.0/16"


def test_a_network_is_filled_to_the_last_address_before_the_broadcast() -> None:
    site = {"provider": "onprem", "network": "192.168.7.0/29"}
    made = plan(described(f"{HEAD}, {gpus(4)}", site=site))
    assert made.nodes[-1].address == "192.168.7.6"
    with pytest.raises(Refused, match="no room for 6 nodes"):
        plan(described(f"{HEAD}, {gpus(5)}", site=site))


def test_the_ground_gives_a_network_and_the_description_has_the_last_word() -> None:
    ground = {"main": Ground(network="10.9.8.0/24", simulated=True)}
    made = plan(described(HEAD), ground=ground)
    assert made.nodes[0].address == "10.9.8.2"
    assert made.sites[0].ground.simulated
    written = described(HEAD, site={"provider": "onprem", "network": "10.1.0.0/24"})
    assert plan(written, ground=ground).nodes[0].address == "10.1.0.2"


def test_growth_moves_nobody() -> None:
    work = "w: {roles: compute, machine: l4-server, count: 2}"
    before = addresses(plan(described(f"{HEAD}, {gpus(2)}, {work}")))
    after = addresses(plan(described(f"{HEAD}, {gpus(4)}, {work}"), previous=before))
    assert before.items() <= after.items()
    assert after["gpu-003"] == "10.66.0.7"


def test_an_address_of_another_network_is_not_kept() -> None:
    before = {"head": "192.168.1.5", "gpu-001": "10.66.0.9", "gpu-002": "10.66.0.9"}
    after = addresses(plan(described(f"{HEAD}, {gpus(2)}"), previous=before))
    assert after == {"head": "10.66.0.2", "gpu-001": "10.66.0.9", "gpu-002": "10.66.0.3"}


def test_each_site_has_its_network_and_its_spine() -> None:
    sites = {"here": {"provider": "onprem"}, "there": {"provider": "onprem"}}
    head = "head: {roles: controller, machine: generic-x86-16c, site: here}"
    fabric = {"topology": "tree", "nodes_per_leaf": 2}
    pools = f"{head}, {gpus(1, site='there')}"
    made = plan(described(pools, site=None, sites=sites, fabric=fabric))
    assert [site.network for site in made.sites] == ["10.66.0.0/16", "10.67.0.0/16"]
    assert (made.nodes[1].site, made.nodes[1].address) == ("there", "10.67.0.2")
    assert made.nodes[1].switches == ("gpu-leaf-01", "spine-there")


def test_racks_and_leaves_follow_the_order_of_names() -> None:
    pools = f"{HEAD}, {gpus(5, racks='{nodes_per_rack: 2}')}"
    made = plan(described(pools, fabric={"topology": "tree", "nodes_per_leaf": 4}))
    assert [node.rack for node in made.nodes] == [
        None,
        "gpu-rack-01",
        "gpu-rack-01",
        "gpu-rack-02",
        "gpu-rack-02",
        "gpu-rack-03",
    ]
    assert [node.switches for node in made.nodes[4:]] == [("gpu-leaf-01", "spine"), ("gpu-leaf-02", "spine")]
    assert made.nodes[0].switches == ()


def test_blocks_hold_as_many_nodes_as_they_are_said_to() -> None:
    made = plan(described(f"{HEAD}, {gpus(4)}", fabric={"topology": "block", "block_size": 2}))
    blocks = [node.block for node in made.nodes]
    assert blocks == [None, "gpu-block-01", "gpu-block-01", "gpu-block-02", "gpu-block-02"]


def test_partitions_gather_pools_and_one_is_the_default() -> None:
    work = "w: {roles: compute, machine: l4-server, count: 2, partitions: [short, all-nodes]}"
    partitions = {"all-nodes": {"default": True, "max_time": "2 h", "priority": 5}}
    pools = f"{HEAD}, {work}, {gpus(2, partitions='all-nodes')}"
    made = plan(described(pools, scheduler={"partitions": partitions}))
    assert [(one.name, one.nodes, one.default) for one in made.partitions] == [
        ("short", "w-[001-002]", False),
        ("all-nodes", "gpu-[001-002],w-[001-002]", True),
    ]
    assert (made.partitions[1].max_time, made.partitions[1].priority) == (7200, 5)


def test_a_pool_without_partitions_is_one_and_the_first_is_the_default() -> None:
    made = plan(described(f"{HEAD}, {gpus(2)}"))
    assert [(one.name, one.default) for one in made.partitions] == [("gpu", True)]


@pytest.mark.parametrize(
    ("software", "release", "expected"),
    [
        ({"distribution": "debian-12"}, None, ("22.05", "distribution")),
        ({"distribution": "debian-13"}, None, ("24.11", "distribution")),
        ({"distribution": "ubuntu-24.04"}, None, ("23.11", "distribution")),
        (
            {"slurm_repository": {"url": "https://packages.example.org", "key": "k.asc"}},
            "26.05",
            ("26.05", "repository"),
        ),
    ],
)
def test_slurm_comes_from_the_distribution_unless_a_repository_is_named(
    software: dict[str, Any], release: str | None, expected: tuple[str, str]
) -> None:
    made = plan(described(HEAD, software=software, scheduler={"release": release}))
    assert (made.slurm_release, made.slurm_source) == expected


def test_only_machines_in_use_are_listed() -> None:
    assert list(plan(described(f"{HEAD}, {gpus(1)}")).hardware) == ["generic-x86-16c", "hgx-h100-8gpu"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (described("head: {roles: controller, machine: nothing}"), "machine type is unknown"),
        (
            described(f"{HEAD}, w: {{roles: login, machine: l4-server, nodes: head}}"),
            "two nodes have one name",
        ),
        (described(HEAD, site=None), "its nodes or its site"),
        (described(HEAD, software={"distribution": "ubuntu-22.04"}), "no Slurm release"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(spec: ClusterSpec, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as refused:
        plan(spec)
    assert [finding.code for finding in refused.value.findings] == ["CW1200"]
