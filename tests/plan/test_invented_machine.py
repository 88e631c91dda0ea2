"""A new machine type is rows and nothing else: one that nobody sells gets a correct plan."""

from __future__ import annotations

from pathlib import Path

from clusterwright.catalog.machine_catalog import MachineCatalog
from clusterwright.catalog.table import DATA
from clusterwright.checks import check
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.plan.interfaces import interface_plan
from clusterwright.render import render
from clusterwright.spec.load import loads

CATALOG = MachineCatalog(DATA, Path(__file__).parents[1] / "fixtures" / "machine-types")
NEW = "p9-invented.48xlarge"
TEXT = f"""
cluster: new
site: {{provider: aws, region: us-east-2, zone: us-east-2a, network: 10.40.0.0/16,
  budget: 200000, budget_email: hpc@example.org}}
pools:
  controller: {{roles: [controller, login], machine: m7i.2xlarge}}
  gpu: {{roles: compute, machine: {NEW}, count: 4}}
"""


def test_without_its_rows_it_is_unknown() -> None:
    assert "CW1221" in {finding.code for finding in check(loads(TEXT).spec)}


def test_with_its_rows_it_is_planned_like_any_other() -> None:
    spec = loads(TEXT).spec
    assert check(spec, catalog=CATALOG) == []
    made = plan(spec, catalog=CATALOG)
    assert [node.address for node in made.nodes] == [
        "10.40.0.4",
        *(f"10.40.8.{last}" for last in range(5, 9)),
    ]
    (slurm,) = (file.content for file in render(from_plan(made)) if file.path.endswith("/slurm.conf"))
    assert "Gres=gpu:h200:4" in slurm and "CPUs=192" in slurm
    interfaces = interface_plan(CATALOG.types[NEW]).interfaces
    assert [(one.card, one.device, one.kind) for one in interfaces] == [
        (0, 0, "interface"),
        *((card, 1, "efa-only") for card in range(1, 5)),
    ]


def test_a_type_that_takes_an_address_a_card_fills_its_network_sooner() -> None:
    thirsty = CATALOG.types["p9-thirsty.24xlarge"]
    made = interface_plan(thirsty)
    assert [(one.card, one.kind) for one in made.interfaces] == [(card, "efa") for card in range(4)]
    assert made.addresses == {"main": 4}
    text = TEXT.replace(NEW, "p9-thirsty.24xlarge").replace("count: 4", "count: 96")
    spec = loads(text.replace("10.40.0.0/16", "10.40.0.0/23")).spec
    (finding,) = (one for one in check(spec, catalog=CATALOG) if one.code == "CW1211")
    assert finding.what.startswith("10.40.0.0/24 runs out of addresses at node 64 of 97")
    assert "/22" in finding.remedy
