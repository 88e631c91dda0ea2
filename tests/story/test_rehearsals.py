"""GPU stacks with little in common, rehearsed in one lab: each gate sees its own hardware's fault."""

from __future__ import annotations

import pytest

from .ground import Desk

pytestmark = pytest.mark.lab
LAB = "mixed-lab"
DESCRIPTION = """\
cluster: mixed
sites:
  hall: {provider: onprem, network: 10.62.0.0/22}
  amazon: {provider: aws, region: us-east-2, zone: us-east-2a, network: 10.40.0.0/16}
  google: {provider: gcp, project: hpc-42, region: us-central1, zone: us-central1-c, network: 10.50.0.0/16}
pools:
  head: {roles: [controller, login], machine: generic-x86-16c, site: hall}
  b200: {roles: compute, machine: hgx-b200-8gpu, count: 4, site: hall}
  tray: {roles: compute, machine: gb200-nvl72-tray, count: 18, site: hall}
  amd: {roles: compute, machine: mi300x-8gpu-roce, count: 4, site: hall}
  p5: {roles: compute, machine: p5.48xlarge, count: 2, site: amazon}
  mega: {roles: compute, machine: a3-megagpu-8g, count: 2, site: google}
  a4: {roles: compute, machine: a4-highgpu-8g, count: 2, site: google, capacity: {model: spot}}
  l4: {roles: compute, machine: g2-standard-24, count: 2, site: google}
fabric: {topology: block, block_size: 2}
users: {ada: {uid: 2001}}
software: {distribution: ubuntu-24.04, monitoring: false}
"""
GATE = "/usr/lib/clusterwright/gate --quick"
BROKEN = f"timeout 120 sh -c 'while {GATE}; do sleep 0.5; done'; {GATE}"
REPAIRED = f"""
/usr/lib/clusterwright/gate --repaired
timeout 120 sh -c 'until {GATE}; do sleep 1; done'
"""
"""A daemon ends, and is started again, a moment later; Xids count until somebody says so."""


def test_all_are_accepted_together(desk: Desk) -> None:
    desk.describe(DESCRIPTION)
    desk.run("lock", "cluster.yaml")
    assert desk.outcome("up", "--lab", "cluster.yaml")["accepted"]
    nodes = desk.outcome("up", "--lab", "cluster.yaml")["nodes"]
    assert len(nodes) == 15
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}


@pytest.mark.parametrize(
    ("node", "fault", "said"),
    [
        ("b200-002", "nvlink-down", "FAIL nvlink: "),
        ("tray-002", "gpu-missing", "FAIL gpus: expected 4 x "),
        ("amd-002", "xgmi-down", "FAIL xgmi: "),
        ("amd-002", "nic-down", "FAIL fabric-cards: "),
        ("p5-002", "nic-missing", "FAIL fabric-cards: "),
        ("mega-002", "rxdm", "FAIL rxdm: "),
        ("a4-002", "nic-missing", "FAIL fabric-cards: "),
        ("l4-001", "xid", "FAIL xid: "),
    ],
)
def test_a_fault_takes_its_node_out_until_it_is_mended(desk: Desk, node: str, fault: str, said: str) -> None:
    desk.run("node", "break", LAB, node, fault)
    assert f"\n{said}" in "\n" + desk.on(node, BROKEN, 1, LAB)
    assert "clusterwright: gate " in desk.run("status", LAB)
    desk.run("node", "mend", LAB, node)
    desk.on(node, REPAIRED, cluster=LAB)
    assert "clusterwright: gate " not in desk.run("status", LAB)


def test_a_tray_without_imex_is_no_member_of_its_nvlink_domain(desk: Desk) -> None:
    desk.on("tray-002", "systemctl stop nvidia-imex", cluster=LAB)
    assert "FAIL gpu-services: expected nvidia-imex.service active" in desk.on("tray-002", GATE, 1, LAB)
    desk.on("tray-002", f"systemctl start nvidia-imex && {GATE}", cluster=LAB)


def test_nothing_is_left(desk: Desk) -> None:
    desk.run("destroy", LAB)
    assert not desk.left(LAB)
