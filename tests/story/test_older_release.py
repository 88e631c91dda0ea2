"""Debian 12: Slurm 22.05 with munge, topology.conf, and daemons that learn only when they start anew."""

from __future__ import annotations

import pytest

from .ground import Desk

pytestmark = pytest.mark.lab
TWELVE = """\
cluster: story
site: {provider: lab}
pools:
  head: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
users:
  ada: {uid: 2001}
fabric: {topology: tree, nodes_per_leaf: 1}
software: {distribution: debian-12, monitoring: false}
"""


def test_up_ends_in_an_accepted_cluster_that_munge_holds_together(desk: Desk) -> None:
    desk.describe(TWELVE)
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert "VERSION_CODENAME=bookworm" in desk.on("head", "cat /etc/os-release")
    assert desk.on("head", "scontrol --version").startswith("slurm-wlm 22.05")
    assert "AuthType                = auth/munge" in desk.on("head", "scontrol show config")
    leaf = "SwitchName=gpu-leaf-02 Level=0 LinkSpeed=1 Nodes=gpu-002"
    assert leaf in desk.on("head", "scontrol show topology").splitlines()


def test_second_up_changes_nothing(desk: Desk) -> None:
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}


def test_another_munge_key_is_nobody_here_and_is_repaired(desk: Desk) -> None:
    desk.on(
        "gpu-002",
        "sinfo >/dev/null; head -c 1024 /dev/urandom >/etc/munge/munge.key; systemctl restart munge",
    )
    desk.on("gpu-002", "sinfo", code=1)
    assert "Munge decode failed: Invalid credential" in desk.on(
        "head", "journalctl --unit=slurmctld --lines=20"
    )
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert nodes["gpu-002"]["drift"] == ["/etc/munge/munge.key: content"]
    assert desk.as_user("srun", "--nodelist=gpu-002", "hostname") == "gpu-002\n"


def test_added_node_computes_with_those_that_were_there(desk: Desk) -> None:
    """Each slurmd has to know the new node; the job that runs beside the restart goes on."""
    desk.describe(TWELVE.replace("count: 2", "count: 3"))
    job = desk.submit("gpu-001")
    assert desk.outcome("node", "add", "cluster.yaml", "gpu-003")["accepted"]
    assert desk.running() == {job}
    both = desk.as_user("srun", "--nodelist=gpu-00[2-3]", "--mpi=pmix", "--nodes=2", "hostname")
    assert sorted(both.split()) == ["gpu-002", "gpu-003"]
    desk.as_user("scancel", job)
