"""The gate program against parallel file systems: each fault of a client that a node can be told to have."""

from __future__ import annotations

import gate_shares
import pytest
from gate_tree import Tree, needs_mknod

from clusterwright.providers.lab.simulators import faults

LUSTRE_FAULTS: dict[str, tuple[str, str]] = {
    "lustre-evicted": ("lustre", "scratch-MDT0000 EVICTED"),
    "lustre-target-down": ("lustre", "scratch-OST0001 DISCONN"),
    "lustre-over-tcp": ("lustre", "over tcp"),
    "share-away": ("lustre", "scratch-OST0001 DISCONN and 2 more"),
}


@needs_mknod
@pytest.mark.parametrize("fault", LUSTRE_FAULTS)
def test_a_fault_of_lustre_is_caught_and_clears(fault: str, healthy: Tree) -> None:
    gate_shares.lustre(healthy)
    sound = healthy.hardware
    assert healthy.failed("--quick") == []
    assert healthy.seen("lustre") == "5 targets of scratch connected over o2ib"
    gate, words = LUSTRE_FAULTS[fault]
    healthy.show(faults.inject(sound, fault))
    assert healthy.failed("--quick") == [gate]
    assert words in healthy.seen(gate)
    healthy.show(sound)
    assert healthy.failed("--quick") == []


@needs_mknod
def test_a_rail_without_a_link_is_told_by_lnet_too(healthy: Tree) -> None:
    gate_shares.lustre(healthy)
    healthy.show(faults.inject(healthy.hardware, "nic-down", 1))
    assert healthy.failed("--quick") == ["fabric-cards", "lnet"]
    assert healthy.seen("lnet") == "1 up, 2 configured"


@needs_mknod
def test_messages_that_take_another_network_than_the_fabric_are_told(healthy: Tree) -> None:
    gate_shares.lustre(healthy)
    healthy.expected["file_systems"]["/scratch"]["carried"] = ["o2ib"]
    healthy.plan()
    assert healthy.seen("lustre") == "5 targets of scratch connected over o2ib, messages over o2ib"
    healthy.setting("lnet_preferred", "tcp")
    assert healthy.failed("--quick") == ["lustre"]
    assert healthy.seen("lustre") == "none received"


@needs_mknod
def test_another_file_system_at_the_place_is_not_the_planned_one(healthy: Tree) -> None:
    gate_shares.lustre(healthy)
    healthy.expected["file_systems"]["/scratch"]["file_system"] = "work"
    healthy.plan()
    assert healthy.failed() == ["lustre"]
    assert healthy.seen("lustre") == "scratch"


@needs_mknod
def test_without_lnet_the_mount_is_named_and_not_its_targets(healthy: Tree) -> None:
    gate_shares.lustre(healthy)
    healthy.mounted("overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0")
    assert healthy.failed("--quick") == ["mounts"]
    assert healthy.seen("lustre") == "/scratch is not mounted, see mounts"


CLIENT_FAULTS: dict[tuple[str, str], tuple[str, str]] = {
    ("beegfs", "beegfs-target-down"): ("beegfs", "storage 102 Offline"),
    ("beegfs", "beegfs-over-tcp"): ("beegfs", "fallback route to bee1-meta1, bee1-storage1, bee1-storage2"),
    ("beegfs", "share-away"): (
        "beegfs",
        "meta 1 Probably-offline, storage 101 Probably-offline, storage 102",
    ),
    ("cephfs", "cephfs-evicted"): ("cephfs", "blocklisted"),
    ("cephfs", "share-away"): ("cephfs", "mds.0 hung"),
    ("weka", "weka-removed"): ("weka", "client: STEM mode"),
    ("weka", "share-away"): ("weka", "client: Joining cluster"),
}
SOUND = {
    "beegfs": "5 targets of bee1 online over RDMA",
    "cephfs": "1 sessions of /data open",
    "weka": "client joined to the cluster of /fast",
}


@needs_mknod
@pytest.mark.parametrize(("kind", "fault"), CLIENT_FAULTS)
def test_a_fault_of_another_parallel_file_system_is_caught_and_clears(
    kind: str, fault: str, healthy: Tree
) -> None:
    {"beegfs": gate_shares.beegfs, "cephfs": gate_shares.cephfs, "weka": gate_shares.weka}[kind](healthy)
    sound = healthy.hardware
    assert healthy.failed("--quick") == []
    assert healthy.seen(kind) == SOUND[kind]
    gate, words = CLIENT_FAULTS[kind, fault]
    healthy.show(faults.inject(sound, fault))
    assert healthy.failed("--quick") == [gate]
    assert words in healthy.seen(gate)
    healthy.show(sound)
    assert healthy.failed("--quick") == []


@needs_mknod
def test_beegfs_over_tcp_is_as_planned_where_rdma_is_not(healthy: Tree) -> None:
    gate_shares.beegfs(healthy, rdma=False)
    healthy.show(faults.inject(healthy.hardware, "beegfs-over-tcp"))
    assert healthy.failed("--quick") == []
    assert healthy.seen("beegfs") == "5 targets of bee1 online over TCP"


@needs_mknod
def test_a_beegfs_client_without_rdma_or_of_another_system_is_named(healthy: Tree) -> None:
    gate_shares.beegfs(healthy)
    [client] = (healthy.root / "proc/fs/beegfs").iterdir()
    (client / "client_info").write_text("ClientID: x\nInterfaces:\n+ eth0[ip addr: 10.0.0.11; type: TCP]\n")
    assert healthy.failed() == ["beegfs"]
    assert healthy.seen("beegfs") == "no RDMA among the client's interfaces"
    (client / "config").write_text("sysMgmtdHost = other\n")
    assert healthy.failed() == ["beegfs"]
    assert healthy.seen("beegfs") == "other"


@needs_mknod
def test_monitors_are_asked_outside_the_health_check(healthy: Tree) -> None:
    gate_shares.cephfs(healthy)
    assert healthy.seen("ceph-monitors") == "monitors of /data answer: HEALTH_OK"
    healthy.program("ceph", "echo 'Error EACCES: access denied' >&2; exit 13")
    assert healthy.seen("ceph-monitors") == "monitors of /data answer"
    healthy.program("ceph", "echo 'Error connecting to cluster: TimedOut' >&2; exit 1")
    assert healthy.failed() == ["ceph-monitors"]
    assert healthy.failed("--quick") == []


@needs_mknod
def test_a_kernel_that_shows_nothing_of_cephfs_is_not_held_against_its_node(healthy: Tree) -> None:
    gate_shares.cephfs(healthy)
    [client] = (healthy.root / "sys/kernel/debug/ceph").iterdir()
    (client / "mds_sessions").unlink()
    assert healthy.run("--quick")[1]["cephfs"] == "skip"
    client.rename(client.with_name("00000000-1f5c-4a2b-9d3e-0f1a2b3c4d5e.client1"))
    assert healthy.failed("--quick") == ["cephfs"]


@needs_mknod
def test_a_weka_client_that_does_not_run_or_does_not_answer_is_named(healthy: Tree) -> None:
    gate_shares.weka(healthy)
    healthy.program(
        "weka", """echo '[{"name": "client", "isRunning": false, "lastFailure": "no hugepages"}]'"""
    )
    assert healthy.failed("--quick") == ["weka"]
    assert healthy.seen("weka") == "client: no hugepages"
    healthy.program("weka", "echo 'error: the agent is not running' >&2; exit 1")
    assert healthy.seen("weka") == "error: the agent is not running"
    healthy.program("weka", "echo '[]'")
    assert healthy.seen("weka") == "no container"


def test_every_fault_of_a_share_is_tried() -> None:
    tried = {*LUSTRE_FAULTS, *(fault for _, fault in CLIENT_FAULTS)}
    measured = {"share-slow"}
    assert tried | measured == {name for name, fault in faults.FAULTS.items() if fault.of == "share"}
