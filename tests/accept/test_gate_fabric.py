"""The gate program against a node's network cards, for each kind of fabric."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import gate_node
import gate_tree
import pytest
from gate_tree import Tree, needs_mknod, renamed


@needs_mknod
def test_a_renamed_card_is_told_until_the_names_are_forgotten(healthy: Tree) -> None:
    renamed(healthy)
    assert healthy.seen("link-names") == "ibp1s0 at 0000:e0:01.0"
    (healthy.root / "var/lib/clusterwright/links.json").unlink()
    assert healthy.failed() == []


@needs_mknod
@pytest.mark.parametrize(
    ("machine", "cards"),
    [
        ("p5.48xlarge", "32 efa cards active"),
        ("a4-highgpu-8g", "8 mrdma cards active"),
        ("mi300x-8gpu-roce", "8 roce cards active at 400 Gb/s"),
        ("gb200-nvl72-tray", "4 infiniband cards active at 400 Gb/s"),
        ("hgx-b200-8gpu", "8 infiniband cards active at 400 Gb/s"),
        ("p4d.24xlarge", "4 efa cards active"),
        ("rtx4090-workstation", None),
        ("l4-server", None),
    ],
)
def test_the_fabric_is_that_of_the_machine_type(machine: str, cards: str | None, tmp_path: Path) -> None:
    tree = gate_node.healthy(tmp_path, machine)
    code, gates, report = tree.run()
    assert code == 0, report
    assert ("fabric-cards" in gates) == (cards is not None)
    assert cards is None or tree.seen("fabric-cards") == cards


@needs_mknod
def test_libfabric_finds_every_efa_card(tmp_path: Path) -> None:
    tree = gate_node.healthy(tmp_path, "p5.48xlarge")
    efa = {"version": "1.51.0", "flavour": "", "packages": {}, "services": [], "hold": []}
    tree.expected["stack"] = {**gate_tree.STACK, "efa": efa}
    tree.plan()
    tree.write("/sys/module/efa/initstate", "live")
    tree.simulator("fi_info")
    assert tree.seen("fabric-provider") == "fi_getinfo: -61 (No data available)", "its module is not loaded"
    modules = tree.simulated / "own" / "modules"
    modules.mkdir()
    (modules / "efa").write_text("2.17.2\n")
    assert tree.failed() == []
    tree.inject("nic-missing", 3)
    assert tree.failed() == ["fabric-cards", "fabric-provider"]
    assert tree.seen("fabric-provider") == "31 domains"


def test_each_efa_card_counts_once(tmp_path: Path) -> None:
    """libfabric 2 lists it in the fabrics `efa` and `efa-direct`."""
    tree = gate_node.healthy(tmp_path, "p4d.24xlarge")
    tree.expected["stack"] = {"efa": {"version": "1.51.0", "packages": {}, "services": [], "hold": []}}
    tree.plan()
    rows = "".join(
        f"provider: efa\\n    fabric: {fabric}\\n    domain: rdmap{16 + card}s27-rdm\\n"
        for fabric in ("efa", "efa-direct")
        for card in range(4)
    )
    tree.program("fi_info", f"printf '{rows}'")
    assert tree.seen("fabric-provider") == "4 domains"


@needs_mknod
def test_virtual_cards_are_counted_where_gpus_talk_over_them(tmp_path: Path) -> None:
    tree = gate_node.healthy(tmp_path, "a3-megagpu-8g")
    assert tree.failed() == []
    assert tree.seen("virtual-cards") == "9 gVNIC cards up with MTU 8244"
    tree.inject("nic-missing", 3)
    assert tree.failed("--quick") == ["virtual-cards"]
    assert tree.seen("virtual-cards") == "8 of them"
    tree.inject("nic-down", 4)
    assert tree.seen("virtual-cards") == "7 of them; gvnic4 is down"
    sound = tree.hardware.without_faults()
    tree.show(replace(sound, nics=(replace(sound.nics[0], mtu=1460), *sound.nics[1:])))
    assert tree.seen("virtual-cards") == "8 of them; gvnic0 has MTU 1460"


@needs_mknod
def test_tcpxo_needs_the_plug_in_of_its_release_and_its_daemon(tmp_path: Path) -> None:
    tree = gate_node.healthy(tmp_path, "a3-megagpu-8g")
    image = "registry/nccl-plugin:v1.0.16"
    tree.expected["images"] = {"tcpxo": {"plugin": image, "rxdm": "registry/rxdm:v1.0.22"}}
    tree.plan()
    assert tree.seen("tcpxo-plugin") == "no plug-in was placed"
    library, unit = "/var/lib/tcpxo/lib64/libnccl-net.so", "/units/clusterwright-rxdm.service"
    tree.write(library, "plug-in")
    tree.write(
        "/var/lib/tcpxo/clusterwright", f"{image}\n{hashlib.sha256(b'plug-in').hexdigest()}  libnccl-net.so\n"
    )
    tree.write(unit, "Id=clusterwright-rxdm.service\nActiveState=active\nResult=success\n")
    assert tree.failed() == []
    tree.write(library, "plug-in of another release")
    tree.write(unit, "Id=clusterwright-rxdm.service\nActiveState=failed\nResult=exit-code\n")
    assert tree.failed() == ["tcpxo-plugin", "rxdm"]
    assert tree.seen("tcpxo-plugin") == f"{library} is another one"
    assert tree.seen("rxdm") == "failed (exit-code): it said why"
    assert tree.failed("--quick") == ["rxdm"]
    (tree.root / library.lstrip("/")).unlink()
    assert tree.seen("tcpxo-plugin") == f"{library} is not there"
    tree.write("/var/lib/tcpxo/clusterwright", "registry/nccl-plugin:v1.0.15\n")
    assert tree.seen("tcpxo-plugin") == "registry/nccl-plugin:v1.0.15"
