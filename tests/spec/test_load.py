"""Loading: the edges of a file, strictness about plain words, and where each field stands."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from clusterwright.finding import Finding, Refused
from clusterwright.plan.outline import Outline
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import load, loads

ROOT = Path(__file__).parents[2]
EXAMPLES = [file for file in sorted((ROOT / "clusters").glob("*.yaml")) if not file.stem.endswith(".lock")]
BOX = (
    "cluster: box\nsite: {provider: lab}\npools:\n  box: {roles: [controller, compute], machine: lab-h100}\n"
)


def refused(text: str) -> list[Finding]:
    with pytest.raises(Refused) as error:
        loads(text, "c.yaml")
    return list(error.value.findings)


def test_the_lab_is_twelve_lines_and_named_lab() -> None:
    file = ROOT / "clusters/lab.yaml"
    assert len(file.read_text().splitlines()) <= 12
    assert load(file).spec.cluster == "lab"


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_valid(file: Path) -> None:
    assert isinstance(load(file).spec, ClusterSpec)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="CW1001 no such file"):
        load(tmp_path / "absent.yaml")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="CW1001 a directory"):
        load(tmp_path)


def test_a_file_of_another(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(BOX)
    file.chmod(0)
    myself = os.geteuid()
    if myself == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(Refused, match="CW1001 not readable"):
            load(file)
    finally:
        os.seteuid(myself)


def test_a_path_that_no_file_can_have() -> None:
    with pytest.raises(Refused, match="CW1001"):
        load("c\0.yaml")


def test_an_endless_file() -> None:
    with pytest.raises(Refused, match="CW1002 larger than 1 MiB"):
        load("/dev/zero")


def test_a_text_that_is_too_large() -> None:
    assert [one.code for one in refused("#" * (2**20 + 1))] == ["CW1002"]


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + BOX.encode())
    assert load(file).spec.cluster == "box"


def test_windows_line_ends_are_no_mistake() -> None:
    assert loads(BOX.replace("\n", "\r\n")).where("pools.box.machine").line == 4


def test_two_hundred_findings_are_enough() -> None:
    found = refused(BOX + "".join(f"key{number}: 1\n" for number in range(300)))
    assert len(found) == 201
    assert (found[-1].code, found[-1].what) == ("CW1014", "100 more findings are not shown")


def test_findings_stand_in_the_order_of_the_file() -> None:
    found = refused(BOX + "users:\n  ada: {uid: 1}\nfabrik: {}\naccounts: 5\n")
    assert [one.where.line for one in found] == sorted(one.where.line for one in found) != []
    assert {one.code for one in found} == {"CW1104", "CW1101", "CW1103"}


def test_a_release_needs_no_quotes_and_keeps_its_text() -> None:
    for text in ("22.05", '"22.05"', "'22.05'"):
        assert loads(f"{BOX}scheduler: {{release: {text}}}\n").spec.scheduler.release == "22.05"
    options = loads(f"{BOX}scheduler: {{options: {{Half: 24.10, Whole: 7, Word: '010'}}}}\n")
    assert options.spec.scheduler.options == {"Half": "24.10", "Whole": 7, "Word": "010"}


def test_true_and_false_are_the_only_truths() -> None:
    assert loads(f"{BOX}software: {{containers: true}}\n").spec.software.containers is True
    for word in ("y", "yes", "Yes", "on", "ON", "1", "'true'", "t"):
        assert refused(f"{BOX}software: {{containers: {word}}}\n"), word


def test_one_member_may_stand_for_a_list() -> None:
    pool = loads(BOX.replace("[controller, compute]", "compute")).spec.pools["box"]
    assert [role.value for role in pool.roles] == ["compute"]


def test_aliases_stand_for_whole_values() -> None:
    text = BOX.replace("box: {", "box: &box {") + "  other: *box\n"
    loaded = loads(text)
    assert loaded.spec.pools["other"] == loaded.spec.pools["box"]
    assert loaded.where("pools.other.machine").line == 5


def test_home_is_always_there() -> None:
    shares = loads(f"{BOX}storage: {{shares: {{/data: {{size: 1 TiB}}}}}}\n").spec.storage.shares
    assert list(shares) == ["/home", "/data"]


def test_where_fields_stand() -> None:
    loaded = loads(BOX, "c.yaml")
    assert str(loaded.where("cluster")) == "c.yaml:1:10: cluster"
    assert str(loaded.where("pools.box")) == "c.yaml:4:3: pools.box"
    assert str(loaded.where("pools.box.roles.1")) == "c.yaml:4:29: pools.box.roles.1"
    assert str(loaded.where("pools.box.count")) == "c.yaml:4:3: pools.box.count"
    assert str(loaded.where("fabric.topology")) == "c.yaml:1:1: fabric.topology"


def test_quantities_are_numbers_in_one_unit() -> None:
    text = BOX + "power_limit: 1.5 kW\nstorage: {shares: {/home: {size: 2GiB}}}\n"
    partitions = "scheduler: {partitions: {box: {max_time: 2 days, default_time: 90 min}}}\n"
    spec = loads(text + partitions).spec
    assert spec.power_limit == 1500
    assert spec.storage.shares["/home"].model_dump()["size"] == 2 * 2**30
    assert spec.scheduler.partitions["box"].max_time == 2 * 86400
    assert spec.scheduler.partitions["box"].default_time == 5400


def test_a_description_never_changes() -> None:
    spec = loads(BOX).spec
    with pytest.raises(ValueError, match="frozen"):
        spec.cluster = "other"  # type: ignore[misc]


def test_what_may_be_a_secret_is_never_repeated() -> None:
    wrong = "-----BEGIN OPENSSH PRIVATE KEY----- c2VjcmV0"
    places = [
        f"users: {{ada: {{uid: 2001, keys: ['{wrong}']}}}}\n",
        f"users: {{ada: {{uid: 2001, keys: '{wrong}'}}}}\n",
        "surroundings: {http_proxy: 'http://user:c2VjcmV0@proxy:3128'}\n",
        "storage: {shares: {/data: {kind: nfs, server: 'user:c2VjcmV0@filer', export: /x}}}\n",
        "software: {slurm_repository: {url: 'https://user:c2VjcmV0@mirror/', key: k.asc}}\n",
    ]
    for place in places:
        assert "c2VjcmV0" not in str(refused(BOX + place)), place


M = 2**20


@pytest.mark.parametrize(
    "text",
    [
        "[" * M,
        "- " * (M // 2),
        '"' + "a" * M,
        BOX + "domain: 1" + "_" * 1_000_000 + "x\n",
        BOX + "".join(f"  b{number}: {{}}\n" for number in range(60_000)),
        BOX + "accounts:\n" + "".join(f"  a{n + 1}: {{parent: a{n}}}\n" for n in range(30_000)),
        BOX.replace("lab-h100", "lab-h100, nodes: " + "a" * 3999 + "!"),
    ],
    ids=["brackets", "dashes", "quote", "underscores", "pools", "ancestors", "name"],
)
def test_a_hostile_text_of_any_shape_ends_soon(text: str) -> None:
    started = time.process_time()
    assert refused(text)
    assert time.process_time() - started < 10


def test_many_large_pools_are_counted_without_making_their_names() -> None:
    sets = "".join(f"  b{n}: {{roles: compute, machine: x, nodes: 'n{n}x[1-60000]'}}\n" for n in range(9000))
    counts = "".join(f"  c{n}: {{roles: compute, machine: x, count: 65536}}\n" for n in range(3000))
    started = time.process_time()
    outline = Outline(loads(BOX + sets + counts).spec, {})
    assert sum(map(outline.count, outline.spec.pools)) == 1 + 9000 * 60_000 + 3000 * 65_536
    assert set(outline.names.values()) == {None}
    assert time.process_time() - started < 10
