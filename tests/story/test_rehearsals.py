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
  amazon:
    provider: aws
    region: us-east-2
    zone: us-east-2a
    network: 10.40.0.0/16
    link: {gateway: tgw-0123456789abcdef0}
    shares: {/home: {kind: efs}}
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
scheduler: {options: {SlurmdTimeout: 60}}
users: {ada: {uid: 2001}}
software: {distribution: ubuntu-24.04, monitoring: false, versions: {dcgm_exporter: any}}
"""
SCRAPED = """python3 -c '
import urllib.request
print(urllib.request.urlopen("http://localhost:9400/metrics").read().decode())'"""
GATE = "/usr/lib/clusterwright/gate --quick"
BROKEN = f"timeout 120 sh -c 'while {GATE}; do sleep 0.5; done'; {GATE}"
REPAIRED = f"""
/usr/lib/clusterwright/gate --repaired
timeout 120 sh -c 'until {GATE}; do sleep 1; done'
"""
"""A daemon ends, and is started again, a moment later; Xids count until somebody says so."""
SILENT = "timeout 90 sh -c 'until sinfo -h -n p5-002 -o %T | grep -F \"*\"; do sleep 1; done'"
"""slurmctld looks every third of SlurmdTimeout."""


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


def test_prometheus_is_told_of_each_gpu(desk: Desk) -> None:
    page = desk.on("l4-001", SCRAPED, cluster=LAB)
    assert page.count("\nDCGM_FI_DEV_GPU_TEMP{") == 2


def test_lldpd_answers_where_the_cards_of_the_fabric_are_ethernet(desk: Desk) -> None:
    desk.on("amd-001", "lldpcli -f json0 show neighbors | python3 -m json.tool", cluster=LAB)


def test_a_tray_without_imex_is_no_member_of_its_nvlink_domain(desk: Desk) -> None:
    desk.on("tray-002", "systemctl stop nvidia-imex", cluster=LAB)
    assert "FAIL gpu-services: expected nvidia-imex.service active" in desk.on("tray-002", GATE, 1, LAB)
    desk.on("tray-002", f"systemctl start nvidia-imex && {GATE}", cluster=LAB)


def test_a_home_of_a_sites_own_is_no_other_ones(desk: Desk) -> None:
    desk.on("head", "touch /home/of-hall", cluster=LAB)
    desk.on("mega-001", "test -e /home/of-hall", cluster=LAB)
    desk.on("p5-001", "test -d /home/ada && test ! -e /home/of-hall && touch /home/of-amazon", cluster=LAB)
    desk.on("p5-002", "test -e /home/of-amazon", cluster=LAB)


def test_own_machines_work_on_while_a_site_is_cut_off_and_a_short_cut_ends_no_job(desk: Desk) -> None:
    job = desk.on("head", "cd /tmp; sbatch --parsable -p p5 --wrap 'sleep 600'", cluster=LAB).strip()
    began = f"until scontrol show job -o {job} | grep JobState=RUNNING; do sleep 0.5; done"
    desk.on("head", f"timeout 60 sh -c '{began}'", cluster=LAB)
    assert "cut amazon, from google and hall" in desk.run("site", "cut", LAB, "amazon")
    worked = desk.on("head", "cd /tmp; srun -p b200 -N 2 uname -n", cluster=LAB)
    assert {"b200-001", "b200-002"} <= {*worked.split()}
    desk.on("p5-001", "! timeout 5 bash -c '</dev/tcp/head/6817'", cluster=LAB)
    desk.on("head", SILENT, cluster=LAB)
    assert "joined amazon and google and hall" in desk.run("site", "join", LAB)
    desk.on("head", SILENT.replace("grep", "grep -v"), cluster=LAB)
    assert " JobState=RUNNING " in desk.on("head", f"scontrol show job -o {job}", cluster=LAB)
    desk.on("head", f"scancel {job}", cluster=LAB)


def test_nothing_is_left(desk: Desk) -> None:
    desk.run("destroy", LAB)
    assert not desk.left(LAB)
