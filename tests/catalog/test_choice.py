"""Choosing a machine type: what fits, in which order, and what almost does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clusterwright.catalog.choice import Candidate, Choice, Wish, choose, gpu_names, regions
from clusterwright.catalog.machines import catalog

TRAINING = Wish(provider="aws", gpu="H100", fabric=3200)


def chosen(wish: Wish) -> Choice:
    return choose(catalog(), wish)


def names(candidates: tuple[Candidate, ...]) -> list[str]:
    return [one.kind.name for one in candidates]


def test_without_a_wish_everything_fits() -> None:
    assert set(names(chosen(Wish()).fitting)) == set(catalog().types)


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (TRAINING, ["p5.48xlarge"]),
        (Wish(gpu="A100 80GB", gpus=8), ["p4de.24xlarge", "a2-ultragpu-8g"]),
        (Wish(gpu="b200", provider="gcp"), ["a4-highgpu-8g"]),
        (Wish(gpu="gb300"), ["a4x-maxgpu-4g-metal"]),
        (Wish(gpu="H200", region="us-east-2"), ["p5e.48xlarge", "p5en.48xlarge"]),
        (Wish(gpu="T4", max_price=1), ["g4dn.xlarge", "g4dn.2xlarge"]),
    ],
)
def test_what_fits(wish: Wish, expected: list[str]) -> None:
    assert names(chosen(wish).fitting) == expected


def test_a_name_of_a_gpu_is_no_part_of_another() -> None:
    kinds = {one.kind.hardware.gpu_type for one in chosen(Wish(gpu="L4")).fitting}
    assert kinds == {"l4"}


def test_the_cheapest_gpu_comes_first_and_unknown_prices_last() -> None:
    found = chosen(Wish(provider="aws", gpus=1)).fitting
    prices = [one.usd_per_gpu_hour for one in found]
    known = [price for price in prices if price is not None]
    assert known == sorted(known) and prices[: len(known)] == known
    assert None in prices, "p6e-gb200.36xlarge has no price"


def test_a_price_is_of_the_wished_region() -> None:
    (far,) = chosen(replace(TRAINING, region="us-east-2")).fitting
    assert far.price and (far.price.region, far.price.capacity) == ("us-east-2", "capacity-block")
    (anywhere,) = chosen(TRAINING).fitting
    assert anywhere.price and anywhere.price.capacity == "on-demand"


def test_a_way_that_is_cheap_enough_is_found() -> None:
    (only,) = chosen(replace(TRAINING, max_price=40)).fitting
    assert only.price and (only.price.capacity, only.price.usd_per_hour) == ("capacity-block", 34.608)


@pytest.mark.parametrize(
    ("wish", "name", "why"),
    [
        (replace(TRAINING, fabric=6400), "p5.48xlarge", "its fabric carries 3200 Gbit/s"),
        (replace(TRAINING, max_price=1), "p5.48xlarge", "it costs $34.61 an hour"),
        (replace(TRAINING, gpus=16), "p5.48xlarge", "it has 8 GPUs"),
        (Wish(gpu="gb200", region="us-east-1"), "p6e-gb200.36xlarge", "no source tells where it is sold"),
        (Wish(gpu="gb200", fabric=1600, max_price=99), "p6e-gb200.36xlarge", "no source tells its price"),
    ],
)
def test_near_misses_say_why(wish: Wish, name: str, why: str) -> None:
    found = chosen(wish)
    assert not found.fitting
    assert why in {one.misses[0] for one in found.near if one.kind.name == name}


def test_another_gpu_is_no_near_miss() -> None:
    near = chosen(Wish(gpu="B200", fabric=9000)).near
    assert near and {one.kind.hardware.gpu_type for one in near} == {"b200"}


def test_what_may_be_asked_for_is_known() -> None:
    assert {"h100", "gb300", "rtxpro6000"} <= set(gpu_names(catalog()))
    assert {"us-east-2", "us-central1", "eu-north-1"} <= regions(catalog())
