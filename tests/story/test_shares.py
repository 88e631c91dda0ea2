"""Parallel file systems beside a cluster, rehearsed: mounted, shared by jobs, watched, and mended."""

from __future__ import annotations

import pytest

from .ground import Desk

pytestmark = pytest.mark.lab
LAB = "shares-lab"
DESCRIPTION = """\
cluster: shares
site: {provider: onprem, network: 10.64.0.0/24}
pools:
  front: {roles: [controller, login], machine: generic-x86-16c, nodes: front}
  gpu: {roles: compute, machine: hgx-h100-8gpu, nodes: "gpu[1-2]"}
scheduler: {release: 25.11}
users: {ada: {uid: 2001}}
storage:
  shares:
    /scratch:
      kind: lustre
      mgs: "10.64.0.200@o2ib,10.64.0.201@tcp"
      file_system: scratch
      networks: {o2ib: [ib0, ib1], tcp: []}
      throughput: 40 GB/s
    /work: {kind: beegfs, management: bee1, connection_auth: keys/conn.auth}
software:
  distribution: ubuntu-22.04
  monitoring: false
  slurm_repository: {url: "https://packages.example.internal/slurm", key: keys/slurm.asc}
"""


def test_shares_come_up_with_the_cluster_and_are_the_same_for_all_jobs(desk: Desk) -> None:
    desk.describe(DESCRIPTION)
    desk.run("lock", "cluster.yaml")
    assert desk.outcome("up", "--lab", "cluster.yaml")["accepted"]
    nodes = desk.outcome("up", "--lab", "cluster.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}
    for share in ("/scratch", "/work"):
        assert _as_ada(desk, f"srun --nodelist=gpu1 sh -c 'hostname > {share}/of-ada'") == ""
        assert _as_ada(desk, f"srun --nodelist=gpu2 cat {share}/of-ada") == "gpu1"


def test_an_evicted_client_takes_its_node_out_of_the_queue_until_it_is_mended(desk: Desk) -> None:
    desk.run("node", "break", LAB, "gpu2", "lustre-evicted")
    said = _on(desk, "gpu2", "/usr/lib/clusterwright/gate --quick", code=1)
    assert "FAIL lustre: expected 5 targets of scratch connected, seen scratch-MDT0000 EVICTED" in said
    assert "clusterwright: gate lustre:" in desk.run("status", LAB)
    desk.run("node", "mend", LAB, "gpu2")
    _on(desk, "gpu2", "/usr/lib/clusterwright/gate --quick")
    assert "drained" not in desk.run("status", LAB)


def test_a_slow_share_is_no_accepted_cluster_and_nothing_is_left(desk: Desk) -> None:
    desk.run("node", "break", LAB, "gpu2", "share-slow")
    said = desk.run("accept", LAB, code=1)
    assert "share-rate" in said and "17.5 GB/s written" in said
    assert "accept-" not in _on(desk, "front", "ls -A /scratch /work")
    desk.run("destroy", LAB)
    assert not desk.left(LAB)


def _as_ada(desk: Desk, command: str) -> str:
    return desk.run("ssh", LAB, "--user", "ada", "--", "sh", "-c", command).strip()


def _on(desk: Desk, node: str, script: str, code: int = 0) -> str:
    return desk.run("ssh", LAB, node, "--", "sh", "-c", script, code=code)
