"""Does every property of the hand-off have a row that says what its change costs?"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
from pydantic import BaseModel

from clusterwright.catalog.changes import Impact, cost, costs
from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.software import components
from clusterwright.handoff import Node
from clusterwright.handoff.sections.cluster import ClusterSection
from clusterwright.handoff.sections.scheduler import FabricSection, SchedulerSection
from clusterwright.handoff.sections.site import SiteSection
from clusterwright.handoff.sections.software import SoftwareSection
from clusterwright.handoff.sections.storage import StorageSection

SECTIONS: dict[str, type[BaseModel]] = {
    "cluster": ClusterSection,
    "site": SiteSection,
    "fabric": FabricSection,
    "storage": StorageSection,
    "scheduler": SchedulerSection,
    "software": SoftwareSection,
}
PROPERTIES = [
    *(f"node.{field.name}" for field in fields(Node) if field.name != "name"),
    *(f"hardware.{field.name}" for field in fields(Hardware)),
    *(f"{name}.{key}" for name, section in SECTIONS.items() for key in section.model_fields),
]


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_has_a_row(name: str) -> None:
    assert cost(name).source


def test_a_row_has_a_property() -> None:
    made: set[Any] = {"node", "site"}
    locked = {f"software.stacks.{name}" for name in components()}
    assert {row.partition(":")[0] for row in costs()} - made - locked == set(PROPERTIES)


def test_rows_are_whole() -> None:
    for name, row in costs().items():
        assert re.fullmatch(r"\d{4}-\d{2}", row.date), name
        assert set(row.units) <= {"slurmctld", "slurmd", "slurmdbd"}
        assert (row.impact is Impact.DAEMON_RESTART) <= bool(row.units), name


def test_impacts_weigh_more_and_more() -> None:
    assert [impact.weight for impact in Impact] == sorted(impact.weight for impact in Impact)
    assert [impact for impact in Impact if impact.disturbs_jobs] == [
        Impact.DRAIN,
        Impact.REBOOT,
        Impact.REPLACE,
    ]
