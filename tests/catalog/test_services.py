"""Do prices and quotas of services make sense?"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest

from clusterwright.catalog.machines import catalog
from clusterwright.catalog.quotas import quotas
from clusterwright.catalog.services import service_price
from clusterwright.catalog.table import Row, rows

PRICES, QUOTAS = list(rows("service_prices")), list(rows("quotas"))


@pytest.mark.parametrize("row", [*PRICES, *QUOTAS], ids=lambda row: "-".join(list(row.values())[:3]))
def test_every_row_has_its_source_and_month(row: Row) -> None:
    assert row["provider"] in {"aws", "gcp"}
    assert row["source"] and re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", row["date"])


def test_prices_are_told_once_and_positive() -> None:
    keys = [(row["provider"], row["service"], row["region"], row["unit"]) for row in PRICES]
    assert len(keys) == len(set(keys))
    assert {row["unit"] for row in PRICES} == {
        "hour", "machine-hour", "gib-month", "traffic-gb", "stored-gb-month",
    }  # fmt: skip
    assert all(0 < float(row["usd"]) < 1 for row in PRICES)


def test_more_throughput_costs_more() -> None:
    tiers = [
        service_price("aws", f"fsx-lustre persistent-2 {tier}", "us-east-1", "gib-month")
        for tier in (125, 500, 1000)
    ]
    usd = [price.usd for price in tiers if price]
    assert len(usd) == 3 and usd == sorted(usd)


def test_what_no_source_tells_has_no_price() -> None:
    assert service_price("aws", "gp3", "eu-north-1", "gib-month") is None
    assert service_price("aws", "public-address", "eu-north-1", "hour") is not None


def test_a_machine_takes_from_one_quota_of_processors_at_most() -> None:
    for kind in catalog().types.values():
        provider = kind.hardware.provider
        if provider in {"aws", "gcp"}:
            for capacity in kind.capacity:
                counted = [one for one in quotas(provider) if one.is_of(kind.name, capacity)]
                assert sum(one.counts == "vcpus" for one in counted) <= 1
                if provider == "aws" and capacity in {"on-demand", "spot"}:
                    assert sum(one.counts == "vcpus" for one in counted) == 1, kind.name


def test_codes_are_told_apart_and_patterns_fit_something() -> None:
    assert len({(row["provider"], row["service"], row["code"]) for row in QUOTAS}) == len(QUOTAS)
    for provider in ("aws", "gcp"):
        names = [name for name, kind in catalog().types.items() if kind.hardware.provider == provider]
        for quota in quotas(provider):
            assert bool(quota.machines) == bool(quota.capacity)
            assert not quota.machines or any(fnmatchcase(n, p) for n in names for p in quota.machines)
