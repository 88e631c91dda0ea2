"""Publishing: the same wishes write nothing, a change what differs, and after a kill the next goes on."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from clusterwright.bundle import index
from clusterwright.bundle.pointer import Awaited, Pointer, Reference, loads
from clusterwright.bundle.publication import Publication, collection
from clusterwright.bundle.userdata import LIMIT, user_data
from clusterwright.operate.pull.reports import Reports
from clusterwright.operate.pull.store import Store

from .world import DESCRIPTION, World, key_pair


def objects(world: World) -> dict[str, float]:
    return {file.name: file.stat().st_mtime_ns for file in (world.stored / "objects").iterdir()}


def test_same_wishes_publish_nothing(world: World) -> None:
    world.publish()
    before, secret = objects(world), world.store.secret("gpu-001")
    assert world.publish() == []
    assert (objects(world), world.serial()) == (before, 1)
    assert world.store.secret("gpu-001") == secret


def test_one_more_node_leaves_the_objects_of_the_others(world: World) -> None:
    world.publish()
    pointer = world.store.pointer(world.signing.public)
    world.publish(DESCRIPTION.replace("count: 2", "count: 3"))
    assert world.serial() == 2
    now = world.store.pointer(world.signing.public)
    assert now and pointer
    assert now.canaries["gpu"].node == pointer.canaries["gpu"].node == "gpu-001"
    assert {row.node for row in now.first} == {"controller"}


def test_killed_before_the_pointer_it_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.publish()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Store, "point", killed)
        world.publish(DESCRIPTION.replace("count: 2", "count: 3"))
    assert world.serial() == 1
    assert world.verify("gpu-001").startswith("serial 1")
    world.publish(DESCRIPTION.replace("count: 2", "count: 3"))
    assert world.serial() > 1, "a serial is never given twice"
    assert world.verify("gpu-003").startswith(f"serial {world.serial()}")


def test_objects_go_when_nothing_points_at_them(world: World) -> None:
    kept = []
    for count in (2, 3, 4):
        world.publish(DESCRIPTION.replace("count: 2", f"count: {count}"))
        kept.append(set(objects(world)))
    only_in_first = kept[0] - kept[2]
    assert only_in_first
    assert only_in_first <= kept[1], "nodes may still be reading what was current before"
    assert world.verify("gpu-004").startswith("serial 3")


def test_lost_store_is_filled_again_with_a_higher_serial(world: World) -> None:
    world.publish()
    world.verify("gpu-001")
    for file in world.stored.rglob("*"):
        if file.is_file():
            file.unlink()
    world.publish()
    assert world.serial() == 2
    assert world.verify("gpu-001").startswith("serial 2")


def test_secrets_are_for_one_node_and_nowhere_in_the_clear(world: World) -> None:
    world.publish()
    secret = world.stored / "secrets" / "gpu-001"
    key = next(iter(world.desired().keys.values()))
    identity = world.node("gpu-001") / "etc/ssh/ssh_host_ed25519_key"
    other = world.node("gpu-002") / "etc/ssh/ssh_host_ed25519_key"

    def opened(by: Path) -> subprocess.CompletedProcess[bytes]:
        argv = ["age", "--decrypt", "-i", str(by), str(secret)]
        return subprocess.run(argv, capture_output=True, check=False)

    assert json.loads(opened(identity).stdout).keys() == {"/etc/slurm/slurm.key"}
    assert opened(other).returncode != 0
    for file in world.stored.rglob("*"):
        assert not file.is_file() or key not in file.read_bytes()
    assert key.decode() not in user_data("far", world.url, world.signing.public)


def test_what_leaving_an_earlier_state_costs_is_the_heaviest_step(world: World) -> None:
    world.publish()
    first = world.desired().wanted["gpu-001"].digest
    second = DESCRIPTION + "domain: two.internal\n"
    world.publish(second, {"gpu-001": "reboot"})
    world.publish(DESCRIPTION + "domain: three.internal\n", {"gpu-001": "live"})
    node = world.store.node("gpu-001", world.store.pointer(world.signing.public))
    assert node
    assert node["since"] == {first: "reboot", world.desired(second).wanted["gpu-001"].digest: "live"}


def test_report_is_the_nodes_own(world: World, tmp_path: Path) -> None:
    row = {"node": "gpu-001", "serial": 1, "digest": "d", "state": "accepted", "cause": ""}
    text = json.dumps({**row, "changed": 1, "seconds": 1.0, "cpu_seconds": 0.5, "at": 1.0})
    world.publish()
    key_pair(tmp_path / "other")
    keys = {"gpu-001": world.host_key("gpu-001"), "gpu-002": world.host_key("gpu-002")}
    for signer, seen in (
        (world.node("gpu-001") / "etc/ssh/ssh_host_ed25519_key", True),
        (tmp_path / "other", False),
    ):
        argv = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(signer), "-n", "clusterwright-report"]
        signature = subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout
        for name in keys:
            (world.stored / "reports" / name).write_text(json.dumps({"signed": text, "signature": signature}))
        assert ("gpu-001" in Reports(world.store, keys).now()) is seen
        assert "gpu-002" not in Reports(world.store, keys).now()


@pytest.mark.parametrize("count", [1, 32, 33, 2000])
def test_way_to_a_nodes_object_does_not_grow_with_the_cluster(count: int) -> None:
    publication = Publication()
    nodes = {f"gpu-{i:04d}": Reference(f"{i:064x}", i) for i in range(count)}
    root = index.write(nodes, publication.put)
    read: list[int] = []

    def get(reference: Reference) -> object:
        content = publication.objects[reference.sha256]
        read.append(len(content))
        return json.loads(content)

    for name in ("gpu-0000", f"gpu-{count - 1:04d}"):
        read.clear()
        assert index.find(name, root, get) == nodes[name]
        assert len(read) <= 4
        assert sum(read) < 12_000
    assert index.find("absent", root, get) is None
    again = Publication()
    assert index.write(dict(reversed(nodes.items())), again.put) == root


def test_pointer_is_read_as_it_was_written() -> None:
    one = Awaited("controller", "ssh-ed25519 AAAA", "d")
    pointer = Pointer(
        "far", 3, Reference("a" * 64, 3), (one,), {"gpu": one}, ("ssh-ed25519 B",), "ssh-ed25519 C"
    )
    assert loads(pointer.dumps()) == pointer
    for broken in ("{}", "[]", "x", json.dumps({**asdict(pointer), "schema": 2})):
        with pytest.raises(ValueError):
            loads(broken)


def test_collection_has_the_same_bytes_each_time() -> None:
    assert collection() == collection()


def test_user_data_is_small_and_names_no_bundle() -> None:
    text = user_data(
        "a" * 40, "https://store.example.com/a-long-path" * 3, "ssh-ed25519 " + "A" * 68, "C" * 2000
    )
    assert len(text.encode()) < LIMIT
    assert text.startswith("#cloud-config\n")
    paths = {file["path"] for file in yaml.safe_load(text)["write_files"]}
    assert "/usr/lib/clusterwright/pull" in paths


def test_node_that_is_gone_leaves_nothing_in_the_store(world: World) -> None:
    world.publish(DESCRIPTION.replace("count: 2", "count: 3"))
    (world.stored / "reports" / "gpu-003").write_text("{}")
    world.publish()
    assert not [file for file in world.stored.rglob("*") if file.name == "gpu-003"]
