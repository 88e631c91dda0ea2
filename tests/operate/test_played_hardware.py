"""What a lab node plays of its machine type."""

from __future__ import annotations

import pytest

from clusterwright.handoff import from_plan
from clusterwright.operate.lab.hardware import simulated_hardware
from clusterwright.plan import plan
from clusterwright.providers.lab.simulate import Hardware
from clusterwright.providers.lab.simulators.bandwidth import bus_bandwidth
from clusterwright.spec.load import loads

TEXT = """
cluster: played
site: {{provider: lab}}
pools:
  head: {{roles: controller, machine: lab-small}}
  gpu: {{roles: compute, machine: {machine}, count: 2}}
fabric: {{topology: {topology}}}
"""


def played(machine: str, topology: str = "flat") -> list[Hardware]:
    handoff = from_plan(plan(loads(TEXT.format(machine=machine, topology=topology)).spec))
    return [simulated_hardware(node, handoff) for node in handoff.with_role("compute")]


@pytest.mark.parametrize(
    ("machine", "kind", "cards"),
    [("a4-highgpu-8g", "mrdma", 8), ("a3-megagpu-8g", "gvnic", 9), ("hgx-h100-8gpu", "infiniband", 8)],
)
def test_the_cards_of_the_fabric_are_those_that_gpus_talk_over(machine: str, kind: str, cards: int) -> None:
    [first, _] = played(machine)
    assert [nic.kind for nic in first.nics] == [kind] * cards


def test_without_a_fabric_there_is_ethernet() -> None:
    [first, _] = played("l4-server")
    assert not first.nics
    assert bus_bandwidth(first, "network") == pytest.approx(25 / 8, rel=0.05)


def test_trays_of_a_block_are_of_one_nvlink_domain() -> None:
    first, second = played("gb200-nvl72-tray", "block, block_size: 2")
    assert first.nvlink_cluster == second.nvlink_cluster != ""
    [alone, _] = played("hgx-b200-8gpu", "block, block_size: 2")
    assert not alone.nvlink_cluster
