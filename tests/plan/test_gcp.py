"""Google Cloud: networks, addresses and groups hold whatever the description."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Address, IPv4Network
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterwright.catalog.cloud import boot_disk, placement_group, storage_sizes
from clusterwright.catalog.machines import catalog
from clusterwright.handoff import from_plan
from clusterwright.plan import plan, rehearse
from clusterwright.plan.domains import chunks
from clusterwright.plan.gcp import gcp_plan
from clusterwright.plan.gcp.model import GcpPlan, Vpc
from clusterwright.spec.cluster import ClusterSpec

TYPES = {name: kind for name, kind in catalog().types.items() if kind.hardware.provider == "gcp"}
GROUPED = [name for name in TYPES if placement_group("gcp", name)]


def made(*machines: str, count: int = 3, **more: object) -> GcpPlan:
    pools: dict[str, object] = {"head": {"roles": ["controller", "login"], "machine": "n2-standard-8"}}
    for place, machine in enumerate(machines):
        kind = TYPES[machine]
        model = "on-demand" if "on-demand" in kind.capacity else kind.capacity[0]
        capacity: dict[str, object] = {"model": model}
        if model in {"dense", "reservation"}:
            capacity["reservation"] = "ours"
        pools[f"p{place}"] = {"roles": "compute", "machine": machine, "count": count, "capacity": capacity}
    site = {
        "provider": "gcp",
        "project": "example-hpc",
        "region": "us-central1",
        "zone": "us-central1-a",
        "network": "10.50.0.0/16",
        **more,
    }
    software = {"distribution": "ubuntu-24.04"}
    body = {"cluster": "c", "site": site, "pools": pools, "software": software}
    return gcp_plan(plan(ClusterSpec.model_validate(body)))


def ranges(vpcs: tuple[Vpc, ...]) -> list[IPv4Network]:
    return [IPv4Network(text) for vpc in vpcs for text in vpc.subnets]


@given(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=4, unique=True), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_no_two_subnets_overlap_and_every_machine_has_an_address_in_its_own(
    machines: list[str], count: int
) -> None:
    found = made(*machines, count=count)
    for one, other in combinations(ranges(found.vpcs), 2):
        assert not one.overlaps(other)
    assert len({machine.address for machine in found.machines}) == len(found.machines)
    assert all(IPv4Address(m.address) in IPv4Network(found.network) for m in found.machines)


@given(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=4, unique=True))
@settings(max_examples=40, deadline=None)
def test_every_card_has_an_interface_in_a_network_that_is_made(machines: list[str]) -> None:
    found = made(*machines)
    vpcs = {vpc.name: vpc for vpc in found.vpcs}
    for machine in found.machines:
        cards = TYPES[machine.kind].cards
        wanted = cards if "compute" in machine.roles else cards[:1]
        assert [i.card for i in machine.interfaces] == [card.index for card in wanted]
        for interface in machine.interfaces:
            subnets = vpcs[interface.network].subnets
            assert interface.subnet < len(subnets) or vpcs[interface.network].kind == "rdma-metal"
        shared = Counter(i.network for i in machine.interfaces if not i.network.startswith("rdma"))
        assert max(shared.values()) == 1, "two interfaces of one machine in one VPC"


def test_a_pool_that_is_added_moves_no_subnet() -> None:
    before, after = made("a3-ultragpu-8g"), made("a3-ultragpu-8g", "a3-megagpu-8g", "a4-highgpu-8g")
    assert {v.name: v.subnets for v in before.vpcs}.items() <= {v.name: v.subnets for v in after.vpcs}.items()


def test_the_networks_of_gb300_bring_their_subnet() -> None:
    (metal,) = (vpc for vpc in made("a4x-maxgpu-4g-metal").vpcs if vpc.kind == "rdma-metal")
    assert metal.subnets == ()
    assert metal.profile == "projects/example-hpc/global/networkProfiles/us-central1-a-vpc-roce-metal"
    assert metal.mtu == 8896


@pytest.mark.parametrize(
    ("machine", "cards", "mtu"),
    [
        ("a3-highgpu-8g", {"host-0": 1, "gpu": 4}, 8244),
        ("a3-megagpu-8g", {"host-0": 1, "gpu": 8}, 8244),
        ("a3-ultragpu-8g", {"host-0": 1, "host-1": 1, "rdma": 8}, 8896),
        ("a4-highgpu-8g", {"host-0": 1, "host-1": 1, "rdma": 8}, 8896),
        ("a4x-highgpu-4g", {"host-0": 1, "host-1": 1, "rdma": 4}, 8896),
        ("a2-highgpu-8g", {"host-0": 1}, 1460),
    ],
)
def test_networks_of_a_machine_type(machine: str, cards: dict[str, int], mtu: int) -> None:
    found = made(machine)
    subnets: Counter[str] = Counter()
    for vpc in found.vpcs:
        subnets["gpu" if vpc.kind == "gpu" else vpc.name] += len(vpc.subnets)
    assert subnets == cards
    assert {vpc.mtu for vpc in found.vpcs} == {mtu}


@given(st.sampled_from(GROUPED), st.integers(2, 90), st.sets(st.integers(1, 90), max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_group_takes_no_more_than_google_does_and_a_node_that_goes_moves_no_other(
    machine: str, count: int, gone: set[int]
) -> None:
    limit = placement_group("gcp", machine)
    assert limit is not None
    nodes = [f"gpu-{number:03d}" for number in range(1, count + 1)]
    placed = chunks(nodes, limit.nodes)
    assert max(Counter(placed.values()).values()) <= limit.nodes
    left = [node for number, node in enumerate(nodes, 1) if number not in gone]
    assert chunks(left, limit.nodes).items() <= placed.items()


@given(st.lists(st.sampled_from(["a", "b1", "b2", "b01", "c-7", "c-8", "c-9"]), min_size=1, unique=True))
def test_names_of_any_form_are_grouped(nodes: list[str]) -> None:
    assert max(Counter(chunks(nodes, 2).values()).values()) <= 2


def test_nvlink_domains_are_asked_for_as_such() -> None:
    found = made("a4x-highgpu-4g", count=20)
    assert [policy.gpu_topology for policy in found.policies] == ["1x72", "1x72"]
    assert Counter(m.policy for m in found.machines) == {None: 1, "p0-01": 18, "p0-02": 2}


@pytest.mark.parametrize("machine", sorted(TYPES))
def test_every_machine_type_has_its_disk_and_its_groups(machine: str) -> None:
    assert boot_disk("gcp", machine)
    assert not TYPES[machine].fabric_gbps or placement_group("gcp", machine) or machine.startswith("a4-")


def test_sizes_of_a_tier_do_not_overlap() -> None:
    for sizes in storage_sizes().values():
        assert all(one.most < other.least for one, other in pairwise(sizes))
        assert all((one.most - one.least) % one.step == 0 for one in sizes)


def test_an_existing_network_stands_in_for_the_first() -> None:
    vpc = {"name": "ours", "subnet": "hpc"}
    found = made("a3-ultragpu-8g", vpc=vpc)
    assert "host-0" not in {made.name for made in found.vpcs}
    assert found.existing is not None and found.existing.subnet == "hpc"


def test_file_systems_of_google_are_handed_off_as_what_nodes_mount() -> None:
    shares = {
        "/home": {"kind": "filestore", "size": "1 TiB"},
        "/data/raw": {"kind": "managed-lustre", "size": "9000 GiB", "throughput": "5 GB/s"},
    }
    site = {"provider": "gcp", "project": "example-hpc", "region": "us-central1", "zone": "us-central1-a"}
    pools = {"head": {"roles": ["controller", "compute"], "machine": "n2-standard-8"}}
    body = {"cluster": "c", "site": site, "pools": pools, "storage": {"shares": shares}}
    spec = ClusterSpec.model_validate({**body, "software": {"distribution": "ubuntu-24.04"}})
    handed = from_plan(plan(spec)).storage["shares"]
    assert (handed["/home"]["kind"], handed["/home"]["server"]) == ("nfs", "home.storage.c.internal")
    raw = handed["/data/raw"]
    assert (raw["kind"], raw["mgs"]) == ("lustre", ["data-raw.storage.c.internal@tcp"])
    assert raw["throughput"] == 5 * 10**9
    assert {mount: one.kind for mount, one in rehearse(spec).spec.storage.shares.items()} == {
        "/home": "served",
        "/data/raw": "lustre",
    }
