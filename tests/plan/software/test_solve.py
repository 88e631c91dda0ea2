"""How a lock is chosen, changed and kept, on a catalog small enough to see through."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.finding import Refused, Where
from clusterwright.plan.software.compare import compare
from clusterwright.plan.software.emit import emit
from clusterwright.plan.software.gaps import gaps
from clusterwright.plan.software.lock import Lock, beside, loads
from clusterwright.plan.software.question import Given
from clusterwright.plan.software.solve import solve
from clusterwright.plan.software.traits import PoolFacts
from clusterwright.plan.software.wish import Wish

from .small import small

GPU = PoolFacts("gpu-box", "x86_64", frozenset({"vendor:nvidia", "architecture:x86_64"}))
ARM = PoolFacts("arm-box", "arm64", frozenset({"vendor:nvidia", "architecture:arm64"}))
CPU = PoolFacts("plain", "x86_64", frozenset({"architecture:x86_64"}))


@pytest.fixture
def catalog(tmp_path: Path) -> SoftwareCatalog:
    return small(
        tmp_path,
        components="""
            driver | Driver | N | pool
            toolkit | Toolkit | N | cluster
            library | Library | N | cluster
            tool | Tool | O | pool
            agent | Agent | O | pool
            mount | Mount | O | pool
        """,
        releases="""
            driver | 500.1 | lts | open proprietary | | debian-12 | x86_64 arm64
            driver | 500.2 | lts | open proprietary | | debian-12 | x86_64 arm64
            driver | 600.1 | production | open | | debian-12 | x86_64
            driver | 700.1 | feature | open | | debian-12 | x86_64
            toolkit | 1.0 | | | | debian-12 | x86_64 arm64
            toolkit | 2.0 | | | | debian-12 | x86_64 arm64 | | | abc
            toolkit | 3.0 | | | | debian-12 | x86_64
            library | 8.1 | | | toolkit=1 | debian-12 | x86_64 arm64
            library | 8.1 | | | toolkit=2 | debian-12 | x86_64 arm64
            library | 8.2 | | | toolkit=2 | debian-12 | x86_64 arm64
            tool | 4.0 | | | | debian-12 | x86_64
            tool | 5.0 | | | | debian-12 | x86_64
            agent | 1.0
            mount | 2.1 | lts
            mount | 2.2 | feature
        """,
        rules="""
            toolkit | ==2.* | requires | driver | >=500.2 | toolkit 2 needs driver 500.2
            toolkit | ==1.* | requires | driver | | a toolkit needs a driver
            toolkit | ==3.* | requires | driver | >=700 | toolkit 3 needs driver 700
            library | | requires | toolkit | | the library needs the toolkit
            tool | >=5 | requires | agent | | tool 5 brings its agent
        """,
        hardware_rules="vendor:nvidia | driver | requires | | | the GPUs need a driver",
        packages="""
            driver | <600 | debian-12 | open | driver-{branch}-open | {version}-1 | persist | vendor | yes
            driver | <600 | debian-12 | proprietary | driver-{branch} | | persist | vendor | yes
            driver | >=600 | debian-12 | | driver | {version}-1 | persist | vendor
            toolkit | | debian-12 | | toolkit-{major}-{minor} | | | vendor
        """,
        repositories="""
            vendor | debian-12 | x86_64 | https://vendor.example/x86 | / | | https://vendor.example/key
            vendor | debian-12 | arm64 | https://vendor.example/arm | / | | https://vendor.example/key | AB12
        """,
        defaults="""
            driver | vendor:nvidia | lts production
            mount | share:mount | lts
        """,
    )


def wish(component: str, text: str, pool: str = "") -> Wish:
    where = Where("c.yaml", 3, 4, f"{f'pools.{pool}' if pool else 'software'}.versions.{component}")
    return Wish(component, text, where, pool)


def versions(lock: Lock, pool: str = "gpu") -> dict[str, str]:
    return {name: f"{row.version} {row.flavour}".strip() for name, row in lock.pools[pool].items()}


def test_nothing_is_installed_that_nobody_needs(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU, "cpu": CPU}, [], "debian-12", catalog=catalog)
    assert versions(lock) == {"driver": "500.2 open"}
    assert versions(lock, "cpu") == {}


def test_the_best_channel_comes_before_the_newest_version(catalog: SoftwareCatalog) -> None:
    found = {
        text: versions(solve({"gpu": GPU}, [wish("driver", text)], "debian-12", catalog=catalog))["driver"]
        for text in ("any", "production", "feature", ">=600", ">=700", "500.1", "==500.1", "500 proprietary")
    }
    assert found == {
        "any": "500.2 open",
        "production": "600.1 open",
        "feature": "700.1 open",
        ">=600": "600.1 open",
        ">=700": "700.1 open",
        "500.1": "500.1 open",
        "==500.1": "500.1 open",
        "500 proprietary": "500.2 proprietary",
    }


def test_channels_hold_for_what_is_wished_for_where_nothing_asks_for_it(catalog: SoftwareCatalog) -> None:
    lock = solve({"cpu": CPU}, [wish("mount", "any")], "debian-12", catalog=catalog)
    assert versions(lock, "cpu") == {"mount": "2.1"}


def test_a_wish_brings_what_it_needs_to_the_machines_that_it_is_for(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU, "cpu": CPU}, [wish("library", "any")], "debian-12", catalog=catalog)
    assert versions(lock) == {"driver": "500.2 open", "library": "8.2 toolkit2", "toolkit": "2.0"}
    assert versions(lock, "cpu") == {}


def test_an_unwanted_channel_is_taken_before_there_is_no_answer(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU}, [wish("toolkit", "3")], "debian-12", catalog=catalog)
    assert versions(lock) == {"driver": "700.1 open", "toolkit": "3.0"}
    assert lock.pools["gpu"]["driver"].why == (
        "the GPUs need a driver",
        "toolkit 3 needs driver 700",
        "a release of the channel feature, taken only when asked for or when nothing else fits",
    )


def test_pools_share_what_is_the_clusters_and_have_their_own_of_the_rest(catalog: SoftwareCatalog) -> None:
    pools = {"gpu": GPU, "arm": ARM}
    asked = [wish("toolkit", "any"), wish("driver", "production", "gpu")]
    lock = solve(pools, asked, "debian-12", catalog=catalog)
    assert versions(lock) == {"driver": "600.1 open", "toolkit": "2.0"}
    assert versions(lock, "arm") == {"driver": "500.2 open", "toolkit": "2.0"}
    assert lock.repositories["vendor"]["arm64"].url == "https://vendor.example/arm"
    assert lock.repositories["vendor"]["arm64"].fingerprint == "AB12"
    assert lock.repositories["vendor"]["x86_64"].fingerprint is None


def test_a_pools_own_wish_stands_instead_of_the_clusters(catalog: SoftwareCatalog) -> None:
    asked = [wish("driver", "600"), wish("driver", "500", "old")]
    lock = solve({"gpu": GPU, "old": GPU}, asked, "debian-12", catalog=catalog)
    assert (versions(lock)["driver"], versions(lock, "old")["driver"]) == ("600.1 open", "500.2 open")


def test_a_version_may_bring_a_component_with_it(catalog: SoftwareCatalog) -> None:
    newest = solve({"cpu": CPU}, [wish("tool", "any")], "debian-12", catalog=catalog)
    older = solve({"cpu": CPU}, [wish("tool", "4")], "debian-12", catalog=catalog)
    assert versions(newest, "cpu") == {"agent": "1.0", "tool": "5.0"}
    assert versions(older, "cpu") == {"tool": "4.0"}


def test_what_is_locked_stays_until_something_forces_it(catalog: SoftwareCatalog) -> None:
    pinned = [wish("driver", "500.1"), wish("library", "8.1")]
    first = solve({"gpu": GPU}, pinned, "debian-12", catalog=catalog)
    assert versions(first) == {"driver": "500.1 open", "library": "8.1 toolkit1", "toolkit": "1.0"}
    kept = solve({"gpu": GPU}, [wish("library", "any")], "debian-12", first, catalog=catalog)
    assert versions(kept) == versions(first)
    forced = solve({"gpu": GPU}, [wish("library", "8.2")], "debian-12", first, catalog=catalog)
    assert [(one.component, one.before, one.after) for one in compare(first, forced)] == [
        ("driver", "500.1 open", "500.2 open"),
        ("library", "8.1 toolkit1", "8.2 toolkit2"),
        ("toolkit", "1.0", "2.0"),
    ]


def test_an_upgrade_moves_the_name_and_what_has_to_follow(catalog: SoftwareCatalog) -> None:
    first = solve(
        {"gpu": GPU, "cpu": CPU}, [wish("driver", "500.1"), wish("tool", "4")], "debian-12", catalog=catalog
    )
    asked = [wish("toolkit", "<3"), wish("tool", "any")]
    kept = solve({"gpu": GPU, "cpu": CPU}, asked, "debian-12", first, catalog=catalog)
    assert versions(kept) == {"driver": "500.1 open", "tool": "4.0", "toolkit": "1.0"}
    moved = solve({"gpu": GPU, "cpu": CPU}, asked, "debian-12", kept, upgrade=["toolkit"], catalog=catalog)
    assert versions(moved) == {"driver": "500.2 open", "tool": "4.0", "toolkit": "2.0"}
    assert versions(moved, "cpu") == {"tool": "4.0"}
    whole = solve({"gpu": GPU, "cpu": CPU}, asked, "debian-12", kept, upgrade=None, catalog=catalog)
    assert versions(whole, "cpu") == {"agent": "1.0", "tool": "5.0"}


def test_the_nearest_release_is_taken_where_the_locked_one_is_gone(catalog: SoftwareCatalog) -> None:
    first = solve({"gpu": GPU}, [wish("driver", "600")], "debian-12", catalog=catalog)
    text = first.text().replace("600.1", "600.0")
    after = solve({"gpu": GPU}, [], "debian-12", loads(text), catalog=catalog)
    assert versions(after) == {"driver": "600.1 open"}


def test_what_is_given_holds_but_is_not_installed(catalog: SoftwareCatalog) -> None:
    given = [Given("toolkit", "==1.*", "the image has toolkit 1")]
    plain = solve({"gpu": GPU}, [], "debian-12", given=given, catalog=catalog)
    assert versions(plain) == {"driver": "500.2 open"}
    wished = solve({"gpu": GPU}, [wish("library", "any")], "debian-12", given=given, catalog=catalog)
    assert versions(wished) == {"driver": "500.2 open", "library": "8.1 toolkit1"}
    with pytest.raises(Refused, match="the image has toolkit 1; you asked for toolkit 2"):
        solve({"gpu": GPU}, [wish("toolkit", "2")], "debian-12", given=given, catalog=catalog)


def test_what_comes_from_elsewhere_is_nobodys_to_choose(catalog: SoftwareCatalog) -> None:
    elsewhere = frozenset({"toolkit"})
    lock = solve({"gpu": GPU}, [wish("library", "8.1")], "debian-12", elsewhere=elsewhere, catalog=catalog)
    assert set(versions(lock)) == {"driver", "library"}
    with pytest.raises(Refused, match="CW1369"):
        solve({"gpu": GPU}, [wish("toolkit", "2")], "debian-12", elsewhere=elsewhere, catalog=catalog)


def test_packages_have_the_names_of_their_release(catalog: SoftwareCatalog) -> None:
    asked = [wish("toolkit", "2"), wish("agent", "any")]
    rows = solve({"gpu": GPU}, asked, "debian-12", catalog=catalog).pools["gpu"]
    assert rows["driver"].packages == {"driver-500-open": "500.2-1"}
    assert (rows["driver"].services, rows["driver"].hold) == (("persist",), ("driver-500-open",))
    assert (rows["driver"].repository, rows["toolkit"].sha256) == ("vendor", "abc")
    assert rows["toolkit"].packages == {"toolkit-2-0": None}
    assert rows["agent"].packages == {}


def test_gaps_are_told(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU}, [wish("toolkit", "2"), wish("agent", "any")], "debian-12", catalog=catalog)
    assert [(one.code, one.what, one.severity) for one in gaps(lock, "c.lock.yaml")] == [
        ("CW1367", "how agent 1.0 is packaged for debian-12 is not known", "note"),
        ("CW1368", "the exact package version of toolkit 2.0 is not known: toolkit-2-0", "note"),
    ]


def test_packages_that_no_repository_is_known_to_carry_are_told(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU}, [], "debian-12", catalog=catalog)
    assert list(gaps(lock, "c.lock.yaml")) == []
    driver = replace(lock.pools["gpu"]["driver"], repository=None)
    homeless = replace(lock, pools={"gpu": {**lock.pools["gpu"], "driver": driver}})
    assert [(one.code, one.what, one.severity) for one in gaps(homeless, "c.lock.yaml")] == [
        ("CW1370", f"no source says which repository carries driver {driver.version}", "warning")
    ]
    assert list(gaps(homeless, "c.lock.yaml", mirrored=True)) == [], "a repository of the site's own has it"


def test_what_no_package_manager_reads_is_told_with_its_address(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU}, [], "debian-12", catalog=catalog)
    vendor = lock.repositories["vendor"]["x86_64"]
    for other in ({"suite": ""}, {"key_url": ""}):
        archive = replace(vendor, url="https://vendor.example/driver.tar.gz", **other)
        handed_out = replace(lock, repositories={"vendor": {"x86_64": archive}})
        (found,) = gaps(handed_out, "c.lock.yaml")
        version = lock.pools["gpu"]["driver"].version
        assert (found.code, found.severity) == ("CW1370", "warning")
        assert found.what.startswith(f"driver {version} comes from https://vendor.example/driver.tar.gz")


def test_what_a_vendor_signs_as_an_archive_is_no_gap(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU}, [], "debian-12", catalog=catalog)
    url, name = "https://vendor.example/aws-efa-installer-1.51.0.tar.gz", "efa-installer-1.51.0"
    source = replace(lock.repositories["vendor"]["x86_64"], url=url, suite="", fingerprint="A" * 40)
    driver = replace(lock.pools["gpu"]["driver"], repository=name)
    pools = {"gpu": {**lock.pools["gpu"], "driver": driver}}
    signed = replace(lock, repositories={**lock.repositories, name: {"x86_64": source}}, pools=pools)
    assert [one.code for one in gaps(signed, "c.lock.yaml")] == []
    unknown = replace(signed, repositories={name: {"x86_64": replace(source, fingerprint=None)}})
    assert "CW1370" in [one.code for one in gaps(unknown, "c.lock.yaml")]
    elsewhere = replace(signed, distribution="rhel-10")
    assert "CW1370" in [one.code for one in gaps(elsewhere, "c.lock.yaml")]


def test_a_lock_reads_back_and_stands_beside_its_description(catalog: SoftwareCatalog) -> None:
    lock = solve({"gpu": GPU, "arm": ARM}, [wish("library", "any")], "debian-12", catalog=catalog)
    assert loads(lock.text()) == lock
    assert loads(lock.text()).text() == lock.text()
    assert beside(Path("clusters/a.b.yaml")) == Path("clusters/a.b.lock.yaml")


@pytest.mark.parametrize(
    "text", ["", "[]", "schema: 1", "a: [", "schema: 1\ndistribution: x\npools: {a: {b: 1}}"]
)
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="CW1366"):
        loads(text)


def test_a_wish_for_nothing_there_names_what_there_is(catalog: SoftwareCatalog) -> None:
    asked = [wish("drivre", "5"), wish("driver", "501"), wish("toolkit", "~=2"), wish("agent", "1 lts")]
    with pytest.raises(Refused) as refused:
        solve({"gpu": GPU}, asked, "debian-12", catalog=catalog)
    assert [(one.code, one.remedy) for one in refused.value.findings] == [
        ("CW1361", "Nearest: driver"),
        ("CW1363", "Nearest: 500.1; known: 500.1, 500.2, 600.1, 700.1"),
        ("CW1362", "Write a version such as 580 or 580.95.05, a range such as >=580,<590, or `any`"),
        ("CW1363", "Known: 1.0"),
    ]


@pytest.mark.parametrize(
    "value", ["580.10", "1e3", "no", "Null", "0x1f", "a: b", "- a", "#", "'", '"', "ä\n", "1:2.3-4", "~", ""]
)
def test_text_in_a_lock_stays_text(value: str) -> None:
    body = {"plain": "word-1.2", value: {"list": [value, "b"], "none": None, "empty": {}, "nothing": []}}
    assert yaml.safe_load(emit(body)) == body
