"""What real Slurm and systemd print, read."""

from __future__ import annotations

from pathlib import Path

from clusterwright.accept import slurm_text, systemd_text


def test_idle_nodes(captured: Path) -> None:
    nodes = slurm_text.nodes((captured / "nodes-idle.txt").read_text())
    assert list(nodes) == ["gpu-001", "gpu-002"]
    node = nodes["gpu-001"]
    assert node.idle and node.healthy and not node.busy
    assert (node.state, node.reason, node.partitions) == ("IDLE", "", ("gpu",))


def test_a_drained_node_keeps_its_whole_reason(captured: Path) -> None:
    nodes = slurm_text.nodes((captured / "nodes-drained.txt").read_text())
    drained = nodes["gpu-001"]
    assert drained.reason == "bad | fan (slot 3) x=y"
    assert drained.state == "IDLE+COMPLETING+DRAIN"
    assert not drained.healthy and not drained.idle
    assert nodes["gpu-002"].idle


def test_a_reason_cannot_pass_for_a_state(captured: Path) -> None:
    text = (captured / "nodes-drained.txt").read_text().replace("x=y", "State=IDLE NodeName=gpu-009")
    nodes = slurm_text.nodes(text)
    assert nodes["gpu-001"].state == "IDLE+COMPLETING+DRAIN"
    assert nodes["gpu-001"].reason == "bad | fan (slot 3) State=IDLE NodeName=gpu-009"


def test_nodes_with_jobs_are_healthy_and_busy(captured: Path) -> None:
    nodes = slurm_text.nodes((captured / "nodes-busy.txt").read_text())
    assert {node.state for node in nodes.values()} == {"ALLOCATED"}
    assert all(node.busy and node.healthy and not node.idle for node in nodes.values())


def test_a_node_that_does_not_answer_is_not_healthy(captured: Path) -> None:
    text = (captured / "nodes-idle.txt").read_text().replace("State=IDLE", "State=IDLE*+NOT_RESPONDING")
    assert not any(node.healthy or node.idle for node in slurm_text.nodes(text).values())


def test_jobs(captured: Path) -> None:
    completed = slurm_text.job_state((captured / "job-completed.txt").read_text())
    assert completed == ("COMPLETED", "None")
    pending = slurm_text.job_state((captured / "job-pending.txt").read_text())
    assert pending == ("PENDING", "Resources")


def test_accounting_records(captured: Path) -> None:
    records = slurm_text.records((captured / "sacct.txt").read_text())
    assert list(records) == ["17", "18", "19"]
    record = records["19"]
    assert (record.user, record.state, record.nodes) == ("ada", "COMPLETED", 2)
    assert record.tres["gres/gpu"] == "2"
    assert "gres/gpu" not in records["18"].tres


def test_nothing_is_read_from_nothing() -> None:
    assert slurm_text.nodes("No nodes in the system\n") == {}
    assert slurm_text.records("sacct: error: no\n") == {}
    assert slurm_text.job_state("slurm_load_jobs error: Invalid job id specified") == ("UNKNOWN", "")


def test_units(captured: Path) -> None:
    units = systemd_text.units((captured / "systemctl-show.txt").read_text())
    assert set(units) == {"clusterwright-gate.service", "slurmd.service", "nosuch.service"}
    assert "clusterwright-gate.service" in units["slurmd.service"]["After"].split()
    assert systemd_text.state(units["slurmd.service"]) == "active"
    assert systemd_text.state(units["nosuch.service"]) == "not installed"
