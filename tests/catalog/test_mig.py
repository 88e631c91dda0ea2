"""MIG: the profiles as data, and where the instances of a layout lie."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement, pairwise

import pytest

from clusterwright.catalog.machines import gpu_models, machines
from clusterwright.catalog.mig import COMPUTE_SLICES, Profile, families, placed, profiles
from clusterwright.providers.lab.simulators import partitions
from clusterwright.providers.lab.simulators.facts import model_named

MEMORY_SLICES = 8
H100 = profiles(machines()["hgx-h100-8gpu"])


@pytest.mark.parametrize("family", families())
def test_profiles_have_sources_and_fit_on_their_gpu(family: str) -> None:
    for profile in families()[family]:
        assert profile.source and re.fullmatch(r"\d{4}-\d{2}", profile.date)
        assert re.fullmatch(rf"{profile.compute}g\.\d+gb(\+me)?", profile.name)
        assert all(0 <= start <= MEMORY_SLICES - profile.slices for start in profile.starts)
        if not profile.name.endswith("+me"):
            assert profile.instances == len(profile.starts)


def test_every_family_is_of_some_gpu_or_of_a_simulated_one() -> None:
    assert {model.mig for model in gpu_models().values()} - {""} <= set(families())
    for model in gpu_models().values():
        assert (model_named(model.model).mig or "") == model.mig


@pytest.mark.parametrize(
    ("layout", "where"),
    [
        ({"1g.10gb": 7}, [(start, "1g.10gb") for start in range(7)]),
        ({"3g.40gb": 2}, [(0, "3g.40gb"), (4, "3g.40gb")]),
        ({"3g.40gb": 1, "4g.40gb": 1}, [(0, "4g.40gb"), (4, "3g.40gb")]),
        ({"1g.10gb": 1, "2g.20gb": 3}, [(0, "2g.20gb"), (2, "2g.20gb"), (4, "2g.20gb"), (6, "1g.10gb")]),
        ({"1g.20gb": 4}, [(start, "1g.20gb") for start in (0, 2, 4, 6)]),
        ({"7g.80gb": 1}, [(0, "7g.80gb")]),
        ({"4g.40gb": 2}, None),
        ({"1g.10gb": 8}, None),
        ({"7g.80gb": 1, "1g.10gb": 1}, None),
    ],
)
def test_a_layout_lies_where_the_hardware_lets_it(
    layout: dict[str, int], where: list[tuple[int, str]] | None
) -> None:
    found = placed(H100, layout)
    assert (found and [(place.start, place.profile) for place in found]) == where


def test_what_is_placed_never_overlaps_and_the_simulated_driver_takes_it() -> None:
    """Every layout of up to four instances."""
    simulated = {profile.name: profile for profile in partitions.profiles("H100")}
    fitting = 0
    for count in range(1, 5):
        for names in combinations_with_replacement(sorted(H100), count):
            found = placed(H100, {name: names.count(name) for name in names})
            if found is None:
                continue
            fitting += 1
            assert sorted(place.profile for place in found) == list(names)
            ends = [(place.start, place.start + H100[place.profile].slices) for place in found]
            assert all(end <= start for (_, end), (start, _) in pairwise(ends))
            made: tuple[partitions.Instance, ...] = ()
            for place in found:
                one = partitions.placed(
                    simulated[place.profile], made, tuple(simulated.values()), place.start
                )
                assert one is not None
                made = (*made, one)
    assert fitting == 60


def test_processors_run_out_too() -> None:
    greedy = Profile("4g.1gb", 0, 7, 1, 4, tuple(range(8)), "", "")
    assert COMPUTE_SLICES == 7
    assert placed({"4g.1gb": greedy}, {"4g.1gb": 2}) is None
