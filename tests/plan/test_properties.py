"""What holds for every plan, whatever the description."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

from hypothesis import given, settings
from hypothesis import strategies as st

from clusterwright.handoff import from_plan, loads
from clusterwright.plan import plan, rehearse
from clusterwright.plan.model import ClusterPlan
from clusterwright.spec.cluster import ClusterSpec

MACHINES = ["generic-x86-16c", "hgx-h100-8gpu", "l4-server", "gb200-nvl72-tray"]
POOLS = ["alpha", "beta", "gamma", "delta"]
Counts = dict[str, int]


@st.composite
def specs(draw: st.DrawFn) -> ClusterSpec:
    names = draw(st.lists(st.sampled_from(POOLS), min_size=1, max_size=4, unique=True))
    fabric = draw(
        st.sampled_from(
            [{}, {"topology": "tree", "nodes_per_leaf": 3}, {"topology": "block", "block_size": 2}]
        )
    )
    pools = {
        name: {
            "roles": draw(st.sampled_from(["controller", "login", "compute", "storage"])),
            "machine": draw(st.sampled_from(MACHINES)),
            "count": draw(st.integers(1, 40)),
            "racks": {"nodes_per_rack": draw(st.integers(1, 8))} if draw(st.booleans()) else None,
            "partitions": draw(st.lists(st.sampled_from(["short", "long"]), max_size=2, unique=True)),
        }
        for name in names
    }
    body = {"cluster": "any", "site": {"provider": "lab", "network": "10.20.0.0/22"}}
    return ClusterSpec.model_validate(body | {"pools": pools, "fabric": fabric})


def grown(spec: ClusterSpec, more: int) -> ClusterSpec:
    pools = {
        name: pool.model_copy(update={"count": (pool.count or 0) + more}) for name, pool in spec.pools.items()
    }
    return spec.model_copy(update={"pools": pools})


def addresses(made: ClusterPlan) -> dict[str, str]:
    return {node.name: node.address for node in made.nodes}


@given(specs())
@settings(max_examples=60, deadline=None)
def test_no_two_nodes_share_a_name_or_an_address(spec: ClusterSpec) -> None:
    made = plan(spec)
    known = addresses(made)
    assert len(known) == len(made.nodes) == sum(pool.count or 0 for pool in spec.pools.values())
    assert len(set(known.values())) == len(known)
    network = IPv4Network("10.20.0.0/22")
    usable = {str(address) for address in list(network.hosts())[1:]}
    assert set(known.values()) <= usable
    assert str(IPv4Address("10.20.0.1")) not in known.values()


@given(specs(), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_growth_keeps_every_name_address_and_place(spec: ClusterSpec, more: int) -> None:
    before = plan(spec)
    after = {node.name: node for node in plan(grown(spec, more), previous=addresses(before)).nodes}
    assert all(after[node.name] == node for node in before.nodes)


@given(specs(), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_shrinking_keeps_who_stays(spec: ClusterSpec, more: int) -> None:
    before = addresses(plan(grown(spec, more)))
    after = addresses(plan(spec, previous=before))
    assert after.items() <= before.items()


@given(specs(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_pools_means_nothing_to_nodes_that_are_there(spec: ClusterSpec, chance: object) -> None:
    before = plan(spec)
    order = list(spec.pools)
    chance.shuffle(order)  # type: ignore[attr-defined]
    shuffled = spec.model_copy(update={"pools": {name: spec.pools[name] for name in order}})
    after = plan(shuffled, previous=addresses(before))
    assert {node.name: node for node in after.nodes} == {node.name: node for node in before.nodes}


@given(specs())
@settings(max_examples=60, deadline=None)
def test_the_same_description_gives_the_same_bytes_and_reads_back(spec: ClusterSpec) -> None:
    again = ClusterSpec.model_validate_json(spec.model_dump_json())
    text = from_plan(plan(spec)).dumps()
    assert from_plan(plan(again)).dumps() == text
    assert loads(text) == from_plan(plan(spec))


@given(specs())
@settings(max_examples=60, deadline=None)
def test_a_rehearsal_is_the_same_cluster_with_fewer_nodes(spec: ClusterSpec) -> None:
    whole = {node.name: node for node in plan(spec).nodes}
    played = plan(rehearse(spec).spec).nodes
    assert {node.pool for node in played} == set(spec.pools)
    for node in played:
        assert node.machine == whole[node.name].machine
        assert node.roles == whole[node.name].roles
