"""The validators of aws-parallelcluster 451cc53, and what it does not see: which of them is held here."""

from __future__ import annotations

import csv
from pathlib import Path

from clusterwright.checks import rules
from clusterwright.checks.resources import RULES
from clusterwright.plan.codes import CODES as OF_THE_PLAN
from clusterwright.spec.codes import CODES as OF_THE_FORM

HERE = Path(__file__).parent
OF_A_CLOUD = {
    "amazon",
    "capacity",
    "cloud",
    "cloud_storage",
    "google",
    "google_fabric",
    "labels",
    "machine_choice",
    "reach",
    "reserved",
}


def test_each_is_held_or_says_why_not() -> None:
    known = {rule.code for rule in rules()} | {rule.name for rule in RULES} | {*OF_THE_PLAN, *OF_THE_FORM}
    rows = list(csv.DictReader((HERE / "known_mistakes.csv").read_text().splitlines()))
    assert [int(row["number"]) for row in rows] == list(range(1, len(rows) + 1))
    for row in rows:
        assert row["held_by"] or row["how"], row["validator"]
        assert set(row["held_by"].split()) <= known, row["validator"]


def test_there_are_eighty_for_clouds() -> None:
    own = [rule for rule in rules() if rule.test.__module__.rpartition(".")[2] in OF_A_CLOUD]
    assert len(own) + len(RULES) >= 80


def test_sixty_bad_descriptions_are_of_clouds() -> None:
    cases = (file.read_text() for file in (HERE / "cases").glob("*.yaml"))
    assert sum(text.startswith(("# base: aws\n", "# base: google\n")) for text in cases) >= 60
