"""Packages that no repository has: objects of the signed bundle, which a node fetches before it installs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests.signed_archive import published

from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.desired import Desired
from clusterwright.plan import plan
from clusterwright.plan.model import Ground
from clusterwright.plan.software.lock import Lock, Locked, Source
from clusterwright.render import render
from clusterwright.spec.load import loads

from .agents import looking
from .world import DESCRIPTION, World

EFA = "efa-installer-1.51.0"
FOLDER = "aws-efa-installer/DEBS/UBUNTU2404/x86_64"
MEMBERS = {
    f"{FOLDER}/efa-driver/efa_3.3.0_amd64.deb": b"driver",
    f"{FOLDER}/rdma-core/rdma_63_amd64.deb": b"r",
}
SOURCES = {"efa": Locked("1.51.0", "", {"efa": None}, (), (), EFA, None, ())}


def handoff_of(source: Source) -> Handoff:
    spec = loads(f"{DESCRIPTION}software: {{distribution: ubuntu-24.04, monitoring: false}}\n").spec
    lock = Lock("ubuntu-24.04", {"gpu": "x86_64"}, {EFA: {"x86_64": source}}, {"gpu": SOURCES})
    return from_plan(plan(spec, ground={"main": Ground("10.9.0.0/16", simulated=True)}, lock=lock))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return published(tmp_path, MEMBERS)


def with_vendor(world: World, source: Source) -> Desired:
    handoff = handoff_of(source)
    world.known[world.description] = Desired(world.home, handoff, render(handoff), world.folder)
    return world.desired()


def test_a_node_fetches_the_packages_of_its_archives_and_no_other_node_does(
    world: World, agent: ModuleType, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    desired = with_vendor(world, source)
    assert desired.wanted["gpu-001"].kind.archives == ((EFA, "x86_64"),)
    assert desired.wanted["controller"].kind.archives == ()
    world.publish()
    one = looking(agent, world, "gpu-001")
    kind = one.read(one.mine["kind"])
    rows = kind["variables"]["clusterwright_package_files"]
    assert [row["name"] for row in rows] == ["efa_3.3.0_amd64.deb", "rdma_63_amd64.deb"]
    other = looking(agent, world, "controller")
    assert "clusterwright_package_files" not in other.read(other.mine["kind"])["variables"]

    told = []

    def played(_self: object, playbook: str, _variables: object = None) -> int:
        inventory = json.loads((Path(one.folder) / "run" / "hosts.json").read_text())
        store = Path(inventory["all"]["hosts"]["gpu-001"]["clusterwright_package_store"])
        held = [(store / row["sha256"]).read_bytes() for row in rows if (store / row["sha256"]).exists()]
        told.append((playbook, held))
        return 1

    monkeypatch.setattr(agent.Play, "run", played)
    monkeypatch.setattr(one, "python", lambda *_: "python3")
    monkeypatch.setattr(one, "secrets", lambda *_: {})
    monkeypatch.setattr(one, "finish", lambda *_: None)
    for missing in ([], ["efa"]):
        looked = {"packages": missing, "loose": []}
        one.apply({"python": {}}, kind, "collection", [], looked, False)
    assert told == [
        ("clusterwright.cluster.configure", []),
        ("clusterwright.cluster.site", [b"driver", b"r"]),
    ]


def test_what_is_not_the_vendors_is_never_published(world: World, source: Source) -> None:
    with_vendor(world, replace(source, fingerprint="0" * 40))
    with pytest.raises(Refused) as raised:
        world.publish()
    assert {finding.code for finding in raised.value.findings} == {"CW8023"}
    assert not world.current.exists()


def test_another_installer_is_another_state_of_the_node(world: World, source: Source) -> None:
    first = with_vendor(world, source).wanted
    handoff = handoff_of(source)
    row = handoff.software["stacks"]["gpu"]["efa"]
    row["repository"] = "efa-installer-1.50.0"
    repositories = handoff.software["repositories"]
    repositories["efa-installer-1.50.0"] = repositories.pop(EFA)
    second = Desired(world.home, handoff, render(handoff), world.folder).wanted
    assert first["gpu-001"].kind.packages == second["gpu-001"].kind.packages
    assert first["gpu-001"].kind.digest != second["gpu-001"].kind.digest
    assert first["controller"].kind.digest == second["controller"].kind.digest
