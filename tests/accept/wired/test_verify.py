"""A described fabric, something done to its cables, the real tools' words, and what is told of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.operate.source import Source
from clusterwright.operate.wired import Seen, cables, verify

from .netfile import Fabric
from .sim import PATIENT, look

pytestmark = pytest.mark.slurm

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.yaml"))


def description(folder: Path, fabric: str) -> Source:
    file = folder / "racks.yaml"
    file.write_text((HERE / "fabrics" / f"{fabric}.yaml").read_text())
    return Source(file)


def act(fabric: Fabric, words: str) -> None:
    """`swap A, B`, `move A, B`, `pull A`, `slow A, HDR`, `off A`, `call A, TEXT`, `plug NAME, PORT`."""
    verb, _, rest = words.partition(" ")
    getattr(fabric, verb)(*rest.split(", "))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_each_fault_is_named_by_device_rack_and_port(case: Path, tmp_path: Path) -> None:
    wanted: dict[str, Any] = yaml.safe_load(case.read_text())
    source = description(tmp_path, wanted["fabric"])
    fabric = Fabric(cables(source)[0])
    for words in wanted["do"]:
        act(fabric, words)
    printed = look(fabric.text(), tmp_path)
    links = str(printed.links) if wanted.get("links", True) else None
    told = verify(source, Seen(str(printed.discovered), links)).findings
    said = [f"{one.code} {one.severity}: {re.sub('GUID [0-9a-f]+', 'GUID …', one.what)}" for one in told]
    assert said == wanted["find"]


def routed(source: Source, tmp_path: Path, *acts: str) -> str:
    """What OpenSM says of a fabric that it is to route as a fat-tree."""
    fabric = Fabric(cables(source)[0])
    for words in acts:
        act(fabric, words)
    what = f"OSM_TMP_DIR=. OSM_CACHE_DIR=. opensm {PATIENT} -R ftree -o -f osm.txt > said.txt 2>&1"
    return (look(fabric.text(), tmp_path, what).folder / "osm.txt").read_text()


@pytest.mark.parametrize(("fabric", "ranks"), [("rails", (2, 4)), ("tree", (4, 5)), ("large", (30, 80, 48))])
def test_opensm_routes_ours_as_a_fat_tree(fabric: str, ranks: tuple[int, ...], tmp_path: Path) -> None:
    log = routed(description(tmp_path, fabric), tmp_path)
    assert "ftree tables configured on all switches" in log
    assert tuple(int(count) for count in re.findall(r"Fabric has (\d+) switches at rank", log)) == ranks


def test_opensm_refuses_a_card_in_a_spine(tmp_path: Path) -> None:
    acts = ("pull gpu-leaf-01/33", "move gpu-001 mlx5_0, spine-01/1")
    assert "not a fat-tree" in routed(description(tmp_path, "rails"), tmp_path, *acts)
