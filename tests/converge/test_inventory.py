"""What Ansible is told: the inventory of a run, and the plugin that reads a hand-off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clusterwright.bundle.build import Bundle
from clusterwright.converge import inventory
from clusterwright.converge.runner import link_collection
from clusterwright.converge.target import Target
from clusterwright.handoff import Handoff, from_plan
from clusterwright.plan import plan
from clusterwright.plan.model import Ground
from clusterwright.render import render
from clusterwright.spec.load import load

LAB = Path(__file__).parents[2] / "clusters" / "lab.yaml"
SECRET = b"very secret bytes"


@pytest.fixture(scope="module")
def handoff() -> Handoff:
    return from_plan(plan(load(LAB).spec, ground={"main": Ground(network="10.9.0.0/24", simulated=True)}))


@pytest.fixture
def written(tmp_path: Path, handoff: Handoff) -> Mapping[str, Any]:
    keys = {"/etc/slurm/slurm.key": SECRET}
    nodes = Bundle(handoff, render(handoff), keys).all()
    targets = [Target(n.name, n.address, 22, "root", Path("/k"), Path("/h")) for n in handoff.nodes]
    path = inventory.write(tmp_path, handoff, targets, nodes, keys)
    return json.loads(path.read_text())  # type: ignore[no-any-return]


def test_nodes_of_a_kind_share_their_variables(written: Mapping[str, Any]) -> None:
    kinds = [group for name, group in written["all"]["children"].items() if name.startswith("kind_")]
    assert sorted(sorted(group["hosts"]) for group in kinds) == [
        ["controller"],
        ["gpu-001", "gpu-002"],
        ["login"],
    ]
    assert set(written["all"]["children"]["compute"]["hosts"]) == {"gpu-001", "gpu-002"}


def test_daemons_that_ask_the_controller_come_late(written: Mapping[str, Any]) -> None:
    groups = written["all"]["children"].values()
    variables = next(g["vars"] for g in groups if "gpu-001" in g["hosts"] and "vars" in g)
    late = [unit["name"] for unit in variables["clusterwright_late_units"]]
    assert late[:2] == ["clusterwright-gate", "slurmd"]
    assert "home.mount" in [unit["name"] for unit in variables["clusterwright_early_units"]]


def test_keys_stand_in_one_private_file_that_goes(tmp_path: Path, written: Mapping[str, Any]) -> None:
    assert all(file.stat().st_mode & 0o077 == 0 for file in tmp_path.iterdir())
    inventory.forget_keys(tmp_path)
    texts = "".join(file.read_text() for file in tmp_path.iterdir()) + json.dumps(written)
    assert "dmVyeSBzZWNyZXQg" not in texts


def test_the_plugin_groups_a_hand_off(tmp_path: Path, handoff: Handoff) -> None:
    document = tmp_path / "lab.handoff.json"
    document.write_text(handoff.dumps())
    told = ask(tmp_path, document, "--list")
    assert set(told["compute"]["hosts"]) == {"gpu-001", "gpu-002"}
    assert set(told["pool_gpu"]["hosts"]) == {"gpu-001", "gpu-002"}
    assert set(told["site_main"]["hosts"]) == {node.name for node in handoff.nodes}
    facts = told["_meta"]["hostvars"]["gpu-001"]
    address = {"__ansible_unsafe": handoff.by_name["gpu-001"].address}
    assert (facts["ansible_host"], facts["clusterwright_gpus"]) == (address, 8)


def test_the_plugin_refuses_another_version(tmp_path: Path, handoff: Handoff) -> None:
    document = tmp_path / "lab.handoff.json"
    document.write_text(handoff.dumps().replace('"version": 1', '"version": 99'))
    with pytest.raises(AssertionError, match="hand-off version 99, and this plugin reads 1"):
        ask(tmp_path, document, "--list")


def ask(folder: Path, document: Path, *arguments: str) -> Any:
    link_collection(folder)
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
        "ANSIBLE_INVENTORY_ENABLED": "clusterwright.cluster.handoff",
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True",
        "COLUMNS": "500",
    }
    command = [str(Path(sys.executable).parent / "ansible-inventory"), "-i", str(document), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
