"""Do the tables of the software catalogue hold together? Every test names all the rows that break it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import combinations, pairwise
from string import Formatter

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from clusterwright.bundle.archives import PackageFile
from clusterwright.catalog.archives import archive, archives
from clusterwright.catalog.machines import gpu_models, machines
from clusterwright.catalog.software import accepts, catalog
from clusterwright.catalog.software_rows import Package, Release
from clusterwright.catalog.table import DATA, Row, rows
from clusterwright.catalog.transports import transports

TABLES = ["components", "defaults", "hardware_rules", "packages", "releases", "repositories", "rules"]
DISTRIBUTIONS = {
    *("debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04"),
    *("rhel-9", "rocky-9", "rhel-10", "rocky-10", "amazon-2023"),
}
ARCHITECTURES = {"x86_64", "arm64"}
CHANNELS = {"lts", "production", "feature", "series"}
FIELDS = {"version", "branch", "major", "minor", "cuda", "cuda_major", "rocm"}
HANDED_OUT = {"weka"}
"""A WEKA cluster hands its client out itself: there is no package to name."""
EQUAL_TO_THE_DRIVER = {"fabric_manager": "", "nscq": "", "imex": ">=550", "nvsdm": ">=570"}
STACKS = {
    "AWS ParallelCluster 3.16": "slurm 25.11.8, driver 595.112.07, cuda 13.3.1, dcgm 4.6.0, efa 1.51.0",
    "awsome-distributed-training": "cuda 13.0.2, nccl 2.30.4, efa 1.48.0, gdrcopy 2.5.2",
    "Google Cluster Toolkit a4-highgpu-8g": "nccl 2.27.5, dcgm 4.5.1, gib 1.1.0",
    "azhpc-images 8f9d772": "driver 570.133.20, nccl 2.26.2, gdrcopy 2.5, rocm 6.2.2, rccl 2.20.5",
}


def table(name: str) -> list[Row]:
    return list(rows(name, DATA / "software"))


def known(component: str) -> tuple[Release, ...]:
    return catalog().releases(component)


def everything() -> Iterator[Release]:
    for component in catalog().components:
        yield from known(component)


def places(release: Release) -> set[tuple[str, str]]:
    return {(one, other) for one in release.distributions for other in release.architectures}


def packages_of(release: Release, distribution: str, flavour: str) -> list[Package]:
    return [
        row
        for row in catalog().packages
        if row.component == release.component
        and distribution in row.distributions
        and (not row.flavours or flavour in row.flavours)
        and accepts(row.versions, release.version)
    ]


def installs() -> Iterator[tuple[Release, str, str, list[Package]]]:
    """Every way in which a release can be installed: its distribution, its flavour, its packages."""
    for release in everything():
        for distribution in sorted(release.distributions):
            for flavour in release.flavours or ("",):
                yield release, distribution, flavour, packages_of(release, distribution, flavour)


@pytest.mark.parametrize("name", TABLES)
def test_rows_tell_their_source_and_its_month(name: str) -> None:
    assert not [
        row for row in table(name) if not (row["source"] and re.fullmatch(r"\d{4}-\d\d", row["date"]))
    ]


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_in_order_and_there_once(name: str) -> None:
    def key(row: Row) -> tuple[object, ...]:
        cells = [cell for column, cell in row.items() if column not in {"source", "date"}]
        if name == "releases":
            return (row["component"], Version(row["version"]), *cells)
        if name == "packages":
            return (row["component"], row["package"], row["versions"], *cells)
        return tuple(cells)

    keys = [key(row) for row in table(name)]
    assert [later for earlier, later in pairwise(keys) if not earlier < later] == []


@pytest.mark.parametrize("name", TABLES)
def test_cells_of_several_words_are_in_order(name: str) -> None:
    lists = ("distributions", "services", "components", "modules")
    cells = [row[column].split() for row in table(name) for column in lists if column in row]
    assert [words for words in cells if words != sorted(set(words))] == []


def test_words_are_of_their_vocabularies() -> None:
    assert {one.scope for one in catalog().components.values()} == {"cluster", "pool"}
    assert {row["channel"] for row in table("releases")} - CHANNELS <= {""}
    assert {row["hold"] for row in table("packages")} <= {"yes", ""}
    assert {row.kind for row in catalog().rules} == {"requires", "constrains"}
    assert {row.kind for row in catalog().hardware_rules} == {"requires", "constrains", "suits"}
    for name in ("releases", "packages", "repositories"):
        assert {word for row in table(name) for word in row["distributions"].split()} <= DISTRIBUTIONS, name
    for name in ("releases", "repositories"):
        assert {word for row in table(name) for word in row["architectures"].split()} <= ARCHITECTURES, name


def test_components_that_rows_speak_of_are_there() -> None:
    spoken = {
        *(row["component"] for name in TABLES if name != "repositories" for row in table(name)),
        *(row["needs"] for row in table("rules")),
        *(pair.partition("=")[0] for row in table("releases") for pair in row["built_for"].split()),
    }
    assert spoken == set(catalog().components)


def test_specifiers_parse() -> None:
    for row in table("rules"):
        for cell in (row["versions"], row["accepts"]):
            assert cell == "same" or SpecifierSet(cell) is not None
    for row in [*table("packages"), *table("hardware_rules")]:
        assert SpecifierSet(row.get("versions") or row.get("accepts") or "") is not None


def test_dates_of_releases() -> None:
    month = r"(\d{4}-\d\d)?"
    for row in table("releases"):
        assert re.fullmatch(month, row["released"]) and re.fullmatch(month, row["end_of_support"]), row
        assert not row["end_of_support"] or row["released"] <= row["end_of_support"], row
        assert re.fullmatch(r"([0-9a-f]{64})?", row["sha256"]), row


def test_every_component_has_releases() -> None:
    assert [name for name in catalog().components if not known(name)] == []


def test_no_place_has_a_release_twice() -> None:
    twice = [
        (one.component, one.version, shared)
        for component in catalog().components
        for one, other in combinations(known(component), 2)
        if (one.version, one.built_for) == (other.version, other.built_for)
        and set(one.flavours or [""]) & set(other.flavours or [""])
        and (shared := places(one) & places(other))
    ]
    assert twice == []


def test_every_release_has_packages_wherever_it_is() -> None:
    missing = {
        (release.component, release.version, distribution, flavour)
        for release, distribution, flavour, found in installs()
        if not found and release.component not in HANDED_OUT
    }
    assert missing == set()


def test_no_package_has_two_versions() -> None:
    for release, distribution, flavour, found in installs():
        names = [row.package for row in found]
        assert len(names) == len(set(names)), (release.component, release.version, distribution, flavour)


def test_every_package_row_is_of_use() -> None:
    used = {id(row) for *_, found in installs() for row in found}
    assert [row for row in catalog().packages if id(row) not in used] == []


def test_templates_use_known_fields() -> None:
    for row in catalog().packages:
        for text in (row.package, row.package_version, row.repository):
            assert {field for _, field, _, _ in Formatter().parse(text) if field is not None} <= FIELDS, row
        if "{cuda" in row.package + row.package_version:
            assert row.component == "cuda" or any(one.needs == "cuda" for one in catalog().rules), row


def named(repository: str, release: Release, distribution: str) -> list[str]:
    """Those that a package row may mean: what is part of ROCm comes from where the ROCm beside it does."""
    if "{" not in repository:
        return [repository] if repository not in {"", "distribution"} else []
    [part] = [
        rule
        for rule in catalog().rules
        if (rule.component, rule.needs) == (release.component, "rocm")
        and accepts(rule.versions, release.version)
    ]
    return [
        repository.format(rocm=other.version)
        for other in known("rocm")
        if distribution in other.distributions and accepts(part.accepts, other.version)
    ]


def test_packages_come_from_repositories_that_are_there() -> None:
    there = {
        (row.name, distribution, architecture)
        for row in catalog().repositories
        for distribution in row.distributions
        for architecture in row.architectures
    }
    asked = {
        (name, distribution, architecture)
        for release, distribution, _, found in installs()
        for row in found
        for architecture in release.architectures
        for name in named(row.repository, release, distribution)
    }
    assert asked - there == set()
    brought = {transport.repository.name for transport in transports().values()}
    assert {name for name, *_ in there} == brought | {name for name, *_ in asked}, (
        "a repository that nothing comes from"
    )


def test_a_component_comes_from_one_repository() -> None:
    for release, distribution, flavour, found in installs():
        named = {row.repository for row in found if row.repository}
        assert len(named) <= 1, (release.component, release.version, distribution, flavour)


def test_repositories_can_be_reached_and_checked() -> None:
    for row in catalog().repositories:
        assert re.match(r"(ar\+)?https://[a-z]", row.url) and "{" not in row.url, row.name
        assert not row.key_url or row.key_url.startswith("https://"), row.name
        assert re.fullmatch(r"([0-9A-F]{40})?", row.fingerprint), row.name


def test_archives_stand_for_what_is_no_repository_and_have_each_of_its_packages() -> None:
    there = list(catalog().repositories)
    for one in archives():
        assert re.fullmatch(r"([0-9a-f]{64})?", one.sha256), one
        assert bool(one.sha256) != bool(one.signature), one
        assert one.folder or len(one.files) == 1, one
        assert one.source and one.date, one
        named = [row for row in there if fnmatch(row.name, one.repository)]
        assert one.distributions <= {name for row in named for name in row.distributions}, one
        for row in named:
            assert not row.suite and (row.fingerprint or one.sha256), row.name
            assert row.url.endswith(".tar.gz" if one.folder else "/"), row.name
    for row in catalog().packages:
        for distribution in row.distributions:
            for architecture in ARCHITECTURES:
                found = archive(row.repository, distribution, architecture) if row.repository else None
                if found:
                    names = [name.rpartition("/")[2] for name in found.files]
                    files = (f"{row.package}_1_amd64.deb", f"{row.package}-1-1.x86_64.rpm")
                    fits = any(fnmatch(file, name) for file in files for name in names)
                    alone = {PackageFile(name, "", 0).package for name in names}
                    assert fits or row.package in alone, (row.package, found)


def test_no_two_archives_are_of_one_place() -> None:
    places = [
        (one.repository, distribution, architecture)
        for one in archives()
        for distribution in one.distributions
        for architecture in one.architectures
    ]
    assert len(places) == len(set(places))


def test_traits_are_of_machines() -> None:
    words = {
        "vendor": {model.vendor for model in gpu_models().values()},
        "generation": {model.generation for model in gpu_models().values()},
        "gpu": set(gpu_models()),
        "nic": {nic.kind for row in machines().values() for nic in row.nics},
        "machine": set(machines()),
        "architecture": ARCHITECTURES,
        "share": {"lustre", "lustre-efa", "beegfs", "cephfs", "s3", "gcs"},
        "role": {"compute"},
        "provider": {row.provider for row in machines().values()},
    }
    for row in [*table("hardware_rules"), *table("defaults")]:
        kind, _, word = row["trait"].partition(":")
        assert row["trait"] in {"", "nvswitch", "nvlink5", "nvl72", "collective"} or word in words[kind], row[
            "trait"
        ]


def test_every_rule_speaks_of_releases() -> None:
    for rule in catalog().rules:
        own = [one.version for one in known(rule.component) if accepts(rule.versions, one.version)]
        need = {one.version for one in known(rule.needs)}
        assert own, rule.why
        if rule.accepts == "same":
            assert set(own) <= need, (rule.why, set(own) - need)
        else:
            assert any(accepts(rule.accepts, version) for version in need), rule.why
    for asked in catalog().hardware_rules:
        fitting = [one for one in known(asked.component) if accepts(asked.accepts, one.version)]
        assert any(not asked.flavour or asked.flavour in one.flavours for one in fitting), asked.why


def test_preferred_channels_have_releases() -> None:
    for row in catalog().preferences:
        words = {word for one in known(row.component) for word in (one.channel, *one.flavours)}
        assert set(row.preferred) <= words, row.component


@pytest.mark.parametrize("component", EQUAL_TO_THE_DRIVER)
def test_what_must_equal_the_driver_is_there_for_every_driver(component: str) -> None:
    def where(name: str) -> set[tuple[str, str, str]]:
        return {
            (one.version, *place)
            for one in known(name)
            if accepts(EQUAL_TO_THE_DRIVER[component], one.version)
            for place in places(one)
            if component != "nvsdm" or place[1] == "x86_64"
        }

    assert where(component) == where("driver")


def test_every_generation_of_gpus_has_its_driver() -> None:
    driver = {"nvidia": "driver", "amd": "amdgpu"}
    for model in gpu_models().values():
        asked = [
            row
            for row in catalog().hardware_rules
            if row.trait == f"generation:{model.generation}" and row.component == driver[model.vendor]
        ]
        fitting = [
            one
            for one in known(driver[model.vendor])
            if "ubuntu-24.04" in one.distributions
            and all(accepts(row.accepts, one.version) for row in asked)
            and all(not row.flavour or row.flavour in one.flavours for row in asked)
        ]
        assert fitting, model.model


def test_every_cuda_has_a_driver_wherever_it_is() -> None:
    for cuda in known("cuda"):
        least = [
            rule.accepts
            for rule in catalog().rules
            if (rule.component, rule.needs) == ("cuda", "driver") and accepts(rule.versions, cuda.version)
        ]
        assert least, f"no rule says which driver CUDA {cuda.version} needs"
        for place in places(cuda):
            assert any(
                place in places(driver) and all(accepts(text, driver.version) for text in least)
                for driver in known("driver")
            ), (cuda.version, place)


@pytest.mark.parametrize("component", ["cudnn", "nccl", "tensorrt"])
def test_what_is_built_for_cuda_finds_it_wherever_it_is(component: str) -> None:
    for release in known(component):
        major = dict(release.built_for)["cuda"]
        for place in places(release):
            assert any(
                cuda.version.startswith(f"{major}.") and place in places(cuda) for cuda in known("cuda")
            ), (component, release.version, major, place)


@pytest.mark.parametrize("stack", STACKS)
def test_published_stacks_can_be_written(stack: str) -> None:
    for pair in STACKS[stack].split(", "):
        component, version = pair.split()
        assert version in {one.version for one in known(component)}, pair
