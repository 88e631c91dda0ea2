"""What a plan costs: the sum of what price lists tell, and the gaps said aloud."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clusterwright.catalog.machine_catalog import MachineCatalog
from clusterwright.catalog.table import DATA
from clusterwright.plan import plan, rehearse
from clusterwright.plan.cost import HOURS_A_MONTH, PARTS, Cost, ServiceCost
from clusterwright.plan.summary import summary
from clusterwright.spec.load import load, loads

CLUSTERS = Path(__file__).parents[2] / "clusters"
HEAD = """
cluster: priced
site: {provider: aws, region: us-east-1, zone: us-east-1a}
pools:
  controller: {roles: [controller, login], machine: m7i.2xlarge}
"""


def cost_of(text: str, catalog: MachineCatalog | None = None) -> Cost:
    return plan(loads(text).spec, catalog=catalog).cost


@pytest.mark.parametrize(
    ("capacity", "usd"),
    [
        ("", 55.04),
        (", capacity: {model: on-demand}", 55.04),
        (", capacity: {model: capacity-block, reservation: cr-1}", 34.608),
        (", capacity: {model: reservation, reservation: cr-1}", 55.04),
        (", capacity: {model: spot}", None),
    ],
    ids=["nothing", "on-demand", "block", "reserved", "spot"],
)
def test_the_way_to_get_machines_decides_the_price(capacity: str, usd: float | None) -> None:
    gpu = cost_of(f"{HEAD}  gpu: {{roles: compute, machine: p5.48xlarge, count: 8{capacity}}}\n").pools[1]
    assert gpu.usd_per_hour == (None if usd is None else pytest.approx(8 * usd))
    assert (gpu.price.usd_per_hour if gpu.price else None) == usd


def test_a_month_is_the_sum_of_its_hours() -> None:
    made = cost_of(f"{HEAD}  gpu: {{roles: compute, machine: g6.48xlarge, count: 2}}\n")
    assert made.of("pools") == pytest.approx(0.4032 + 2 * 13.3504)
    assert made.usd_per_hour == pytest.approx(sum(map(made.of, PARTS)))
    assert made.usd_per_month == pytest.approx(730 * made.usd_per_hour, abs=0.01)
    assert made.dates[0] == "2026-09" and made.unpriced == ()


def test_a_gap_is_not_counted_as_nothing() -> None:
    text = f"{HEAD}  gpu: {{roles: compute, machine: p5e.48xlarge, count: 3}}\n"
    made = cost_of(text)
    assert [(pool.pool, pool.nodes) for pool in made.unpriced] == [("gpu", 3)]
    figures = summary(plan(loads(text).spec))
    assert (figures.parts["pools"], figures.nodes_of_unknown_price) == (0.4032, 3)
    assert figures.pools[1].usd_per_hour is None


def test_where_nothing_is_known_nothing_is_said() -> None:
    far = HEAD.replace("us-east-1", "eu-north-1")
    made = plan(loads(f"{far}  gpu: {{roles: compute, machine: p5.48xlarge}}\n").spec)
    gpu = made.cost.pools[1]
    assert gpu.elsewhere and (gpu.elsewhere.region, gpu.elsewhere.usd_per_hour) == ("us-east-1", 55.04)
    figures = summary(made)
    assert figures.parts["pools"] == 0 and made.cost.is_unknown("pools")
    assert figures.usd_per_hour == figures.parts["network"] == 0.005, "an address costs the same anywhere"
    assert figures.nodes_of_unknown_price == figures.nodes


def test_an_example_costs_what_its_block_costs() -> None:
    made = plan(load(CLUSTERS / "aws-p5.yaml").spec).cost
    assert [pool.pool for pool in made.unpriced] == ["controller", "login"]
    assert made.of("pools") == pytest.approx(8 * 34.608)
    assert {one.service for one in made.unpriced_services} == {"gp3"}


def test_machines_of_ones_own_have_no_price() -> None:
    made = plan(load(CLUSTERS / "onprem-hgx-h100.yaml").spec)
    assert made.cost == Cost() and summary(made).nodes_of_unknown_price == 0


def test_a_rehearsal_costs_nothing() -> None:
    text = f"{HEAD}  gpu: {{roles: compute, machine: p5.48xlarge, capacity: {{model: spot}}}}\n"
    played = rehearse(loads(text).spec)
    assert plan(played.spec).cost == Cost()
    assert "pools.gpu.capacity" in {finding.where.path for finding in played.findings}


def test_a_price_of_another_catalog_counts() -> None:
    more = MachineCatalog(DATA, Path(__file__).parents[1] / "fixtures" / "machine-types")
    text = HEAD.replace("us-east-1", "us-east-2") + "  gpu: {roles: compute, machine: p9-invented.48xlarge}\n"
    assert cost_of(text, more).pools[1].usd_per_hour == 40.5


def test_figures_speak_json() -> None:
    body = json.loads(json.dumps(summary(plan(load(CLUSTERS / "gcp-a3-mega.yaml").spec)).as_json()))
    assert body["parts"]["pools"] == pytest.approx(16 * 93.400712807 + 2 * 0.388472)
    assert body["usd_per_hour"] == pytest.approx(sum(body["parts"].values()))
    assert body["pools"][2]["price_date"] == "2026-09" and body["pools"][2]["capacity"] == "on-demand"


STORAGE = """
storage:
  shares:
    /home: {kind: efs}
    /scratch: {kind: fsx-lustre, size: 4800 GiB, throughput_per_tib: 500}
    /fast: {kind: fsx-openzfs, size: 1 TiB}
"""


def test_disks_and_file_systems_cost_by_their_size() -> None:
    made = cost_of(f"{HEAD}  gpu: {{roles: compute, machine: g6.48xlarge, count: 2}}\n{STORAGE}")
    storage = {one.name: one.usd_per_hour for one in made.lines("storage") if isinstance(one, ServiceCost)}
    assert storage["/scratch"] == pytest.approx(4800 * 0.34 / HOURS_A_MONTH, abs=1e-4)
    assert storage["disks of gpu"] == pytest.approx(2 * 200 * 0.08 / HOURS_A_MONTH, abs=1e-4)
    assert storage["kept by controller"] == pytest.approx(20 * 0.08 / HOURS_A_MONTH, abs=1e-4)
    assert storage["/fast"] is None and {one.name for one in made.unpriced_services} == {"/fast"}
    assert "/home" in {one.name for one in made.metered} and "/home" not in storage


def test_the_way_out_and_the_way_in_cost_by_the_hour() -> None:
    gpu = "  gpu: {roles: compute, machine: g6.xlarge}\n"
    assert cost_of(HEAD + gpu).of("network") == pytest.approx(0.045 + 0.005)
    doors = HEAD.replace("us-east-1a}", "us-east-1a, ssh_from: [192.0.2.0/24]}")
    assert cost_of(doors + gpu).of("network") == pytest.approx(0.045 + 0.005 + 0.0225 + 0.005)


@pytest.mark.parametrize(("nodes", "usd"), [(1, 2 * 0.0014 + 0.005), (40, 0.044 + 0.005)])
def test_cloud_nat_costs_by_the_machine_until_it_is_full(nodes: int, usd: float) -> None:
    head = HEAD.replace("aws, region: us-east-1, zone: us-east-1a", "gcp, project: example-hpc, ZONE")
    head = head.replace("ZONE", "region: us-central1, zone: us-central1-a").replace(
        "m7i.2xlarge", "n2-standard-8"
    )
    gpu = f"  gpu: {{roles: compute, machine: g2-standard-8, count: {nodes}}}\n"
    made = cost_of(f"{head}{gpu}software: {{distribution: ubuntu-24.04}}\n")
    assert made.of("network") == pytest.approx(usd)


@pytest.mark.parametrize(
    ("capacity", "paid"),
    [("", False), (", capacity: {model: capacity-block, reservation: cr-1, duration: 7 days}", True)],
    ids=["on-demand", "bought"],
)
def test_what_was_bought_is_paid_without_nodes_too(capacity: str, paid: bool) -> None:
    made = cost_of(f"{HEAD}  gpu: {{roles: compute, machine: p5.48xlarge, count: 2{capacity}}}\n")
    gpu = made.pools[1].usd_per_hour or 0
    disks = 2 * 200 * 0.08 / HOURS_A_MONTH
    assert made.least_usd_per_hour == pytest.approx(
        made.usd_per_hour - disks - (0 if paid else gpu), abs=1e-3
    )
