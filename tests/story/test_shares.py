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
    /store: {kind: cephfs, monitors: [mon1, mon2], fsid: 7a3c0e9e-1f5c-4a2b-9d3e-0f1a2b3c4d5e, user: hpc,
             keyring: keys/hpc.keyring}
    /turbo: {kind: weka, backends: [weka1, weka2], file_system: turbo, interfaces: [ib2],
             auth_token: keys/weka.token}
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
    for share in ("/scratch", "/store", "/turbo", "/work"):
        assert _as_ada(desk, f"srun --nodelist=gpu1 sh -c 'hostname > {share}/of-ada'") == ""
        assert _as_ada(desk, f"srun --nodelist=gpu2 cat {share}/of-ada") == "gpu1"


def test_what_a_client_lost_takes_its_node_out_of_the_queue_until_it_is_mended(desk: Desk) -> None:
    for number, fault in enumerate(("lustre-evicted", "cephfs-evicted", "weka-removed", "beegfs-over-tcp")):
        desk.run("node", "break", LAB, "gpu2", fault, "--number", str(number))
    said = _on(desk, "gpu2", "/usr/lib/clusterwright/gate --quick", code=1)
    assert "FAIL lustre: expected 5 targets of scratch connected, seen scratch-MDT0000 EVICTED" in said
    assert "FAIL cephfs: expected a client of /store that its servers know, seen blocklisted" in said
    assert "FAIL weka: expected the client of /turbo joined to its cluster, seen client: STEM mode" in said
    assert "FAIL beegfs: expected BeeGFS of bee1 over RDMA, seen fallback route to bee1-meta1" in said
    assert "clusterwright: gate lustre:" in desk.run("status", LAB)
    desk.run("node", "mend", LAB, "gpu2")
    _on(desk, "gpu2", "/usr/lib/clusterwright/gate --quick")
    assert "drained" not in desk.run("status", LAB)


# As the units are, with seconds for half minutes: fewer would meet systemd's limit of five starts in ten.
SOONER = """
folder=/etc/systemd/system/clusterwright-gate.service.d; mkdir -p $folder
printf '[Service]\\nRestartSec=3\\nRestartSteps=0\\nExecStart=\\n' > $folder/90-sooner.conf
echo 'ExecStart=/usr/lib/clusterwright/gate --boot --patience 1' >> $folder/90-sooner.conf
for unit in beegfs-client clusterwright-late-shares; do
    mkdir -p /etc/systemd/system/$unit.service.d
    printf '[Service]\\nRestartSec=3\\n' > /etc/systemd/system/$unit.service.d/90-sooner.conf
done
"""
TRIED = (
    "until [ $(systemctl show --property=NRestarts --value clusterwright-gate) -ge 2 ]; do sleep 0.2; done"
)


def test_a_share_that_comes_hours_late_brings_its_node_back_by_itself(desk: Desk) -> None:
    _on(desk, "gpu2", SOONER)
    for number in range(4):
        desk.run("node", "break", LAB, "gpu2", "share-away", "--number", str(number))
    desk.cut_power("gpu2", LAB)
    failed = desk.outcome("up", "--lab", "cluster.yaml", code=1)["nodes"]["gpu2"]["message"]
    assert "mount.lustre" in failed and "Is the MGS running?" in failed
    said = _on(desk, "gpu2", f"{TRIED}; systemctl is-active slurmd; cat /run/clusterwright/gate.json")
    assert said.startswith("inactive\n") and "/scratch mounted" in said
    desk.run("node", "mend", LAB, "gpu2")
    idle = "until sinfo --noheader --nodes=gpu2 --format=%T | grep -qx idle; do sleep 0.3; done"
    _on(desk, "front", f"timeout 600 sh -c '{idle}'")
    assert _as_ada(desk, "srun --nodelist=gpu2 ls /scratch/of-ada /store/of-ada /turbo/of-ada")
    assert _on(desk, "gpu2", "systemctl is-active clusterwright-gate slurmd").split() == ["active"] * 2


def test_a_slow_share_is_no_accepted_cluster_and_nothing_is_left(desk: Desk) -> None:
    desk.run("node", "break", LAB, "gpu2", "share-slow")
    said = desk.run("accept", LAB, code=1)
    assert "share-rate" in said and "17.5 GB/s written" in said
    assert "accept-" not in _on(desk, "front", "ls -A /scratch /store /turbo /work")
    desk.run("destroy", LAB)
    assert not desk.left(LAB)


def _as_ada(desk: Desk, command: str) -> str:
    return desk.as_user("sh", "-c", command, cluster=LAB).strip()


def _on(desk: Desk, node: str, script: str, code: int = 0) -> str:
    return desk.on(node, script, code, LAB)
