"""Host keys of machines that a cloud made: those that it saw on their consoles count, and no older ones."""

from __future__ import annotations

from pathlib import Path

import yaml

from clusterwright.handoff import from_plan
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.stack.beside import stack_name, vouch
from clusterwright.plan import plan
from clusterwright.spec.cluster import ClusterSpec

BASE = yaml.safe_load((Path(__file__).parents[1] / "checks/bases/hybrid.yaml").read_text())


def test_what_a_machine_before_showed_is_replaced_and_others_stay(tmp_path: Path) -> None:
    nodes = from_plan(plan(ClusterSpec.model_validate(BASE))).by_name
    first, other = nodes["overflow-001"], nodes["overflow-002"]
    file = tmp_path / "first_contact"
    file.write_text(f"{first.address} ssh-ed25519 OLD\n{nodes['gpu-001'].address} ssh-ed25519 OWN\n")
    vouch(ClusterHome("hybrid", tmp_path), [first, other], {"overflow-001": "ssh-ed25519 NEW"})
    assert file.read_text().splitlines() == [
        f"{nodes['gpu-001'].address} ssh-ed25519 OWN",
        f"{first.address} ssh-ed25519 NEW",
    ]
    assert file.stat().st_mode & 0o077 == 0


def test_a_stack_beside_own_machines_has_a_name_of_its_own() -> None:
    hybrid = ClusterSpec.model_validate(BASE)
    assert stack_name(hybrid) == "hybrid-amazon"
    alone = {"cluster": "alone", "site": {"provider": "lab"}, "pools": BASE["pools"]}
    alone["pools"] = {"head": {"roles": "controller", "machine": "generic-x86-2c"}}
    assert stack_name(ClusterSpec.model_validate(alone)) == "alone"
