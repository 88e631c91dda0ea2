"""Addresses on a cloud follow from names: whoever comes or goes, nobody else moves."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterwright.catalog.subnets import reserved
from clusterwright.plan import plan
from clusterwright.plan.slots import slots
from clusterwright.plan.subnets import SMALLEST_SPLIT, split
from clusterwright.spec.load import loads

TEXT = """
cluster: c
site: {{provider: {site}, network: 10.40.0.0/16}}
pools:
  head: {{roles: [controller, login], machine: {head}}}
  a: {{roles: compute, machine: {gpu}, nodes: "{a}"}}
  b: {{roles: compute, machine: {gpu}, count: {b}}}
"""
SITES = {
    "aws": ("aws, region: us-east-2, zone: us-east-2a", "m7i.large", "g5.xlarge"),
    "gcp": (
        "gcp, project: example, region: us-central1, zone: us-central1-a",
        "n2-standard-8",
        "g2-standard-8",
    ),
}


def addresses(cloud: str, a: set[int], b: int) -> dict[str, str]:
    site, head, gpu = SITES[cloud]
    names = ",".join(f"a{number:03d}" for number in sorted(a))
    spec = loads(TEXT.format(site=site, head=head, gpu=gpu, a=names, b=b)).spec
    return {node.name: node.address for node in plan(spec).nodes}


@pytest.mark.parametrize("cloud", SITES)
@given(st.sets(st.integers(1, 900), min_size=2, max_size=20), st.integers(1, 40), st.data())
def test_nobody_moves(cloud: str, a: set[int], b: int, data: st.DataObject) -> None:
    before = addresses(cloud, a, b)
    assert len(set(before.values())) == len(before)
    gone = data.draw(st.sampled_from(sorted(a)))
    after = addresses(cloud, a - {gone}, b + data.draw(st.integers(0, 9)))
    assert all(before[name] == address for name, address in after.items() if name in before)


@given(st.integers(16, SMALLEST_SPLIT))
def test_subnets_fill_the_network_and_do_not_overlap(length: int) -> None:
    network = IPv4Network(f"10.40.0.0/{length}")
    parts = split(network)
    assert sum(part.num_addresses for part in (parts.nodes, parts.services, parts.public)) == (
        network.num_addresses
    )
    assert not parts.nodes.overlaps(parts.services) and not parts.services.overlaps(parts.public)
    found = slots({"a": ["a1", "a2"], "b": ["b1"]}, parts.nodes, reserved("aws"))
    assert len(set(found.values())) == len(found)
