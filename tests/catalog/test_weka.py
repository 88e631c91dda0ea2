"""Where WEKA's client runs: each distribution has a row with its source, and a reason where it does not."""

from __future__ import annotations

import re

from clusterwright.catalog import weka
from clusterwright.catalog.distributions import distributions
from clusterwright.catalog.table import rows


def test_every_distribution_is_told() -> None:
    table = list(rows("weka_clients"))
    assert [row["distribution"] for row in table] == sorted(distributions())
    for row in table:
        assert (row["supported"] == "yes") != bool(row["why_not"]), row["distribution"]
        assert row["source"] and re.fullmatch(r"20\d\d-\d\d", row["date"])


def test_what_is_not_listed_does_not_suit() -> None:
    assert weka.suits("rocky-9")
    assert not weka.suits("debian-12") and not weka.suits("suse-15")
