"""What goes wrong on the way: kills, crashes, two at once, broken state, no space, a wrong key."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from .ground import Desk

pytestmark = pytest.mark.lab
SMALL = """\
cluster: story
site: {provider: lab}
pools:
  head: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100}
users:
  ada: {uid: 2001}
"""
# Seconds after the start: from reserving a network over booting and placing files to the gates.
MOMENTS = (0.4, 0.8, 1.2, 1.8, 2.5, 3.5, 4.5, 5.5, 7.0, 9.0)


@pytest.mark.parametrize("moment", MOMENTS)
def test_up_killed_at_any_moment_goes_on(desk: Desk, moment: float) -> None:
    desk.describe(SMALL)
    process = desk.start("up", "cluster.yaml")
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    if moment == MOMENTS[-1]:
        assert desk.outcome("up", "cluster.yaml")["ok"]
        assert desk.as_user("srun", "--gres=gpu:8", "hostname") == "gpu\n"


def test_half_made_lab_is_destroyed_without_a_trace(desk: Desk) -> None:
    desk.describe(SMALL.replace("cluster: story", "cluster: halfway"))
    desk.kill(desk.until("booting", "up", "cluster.yaml", "--json"))
    assert desk.left("halfway") != set()
    desk.run("destroy", "halfway")
    assert desk.left("halfway") == set()
    assert not list((desk.state / "clusterwright").rglob("*halfway*"))


def test_interrupt_says_how_to_go_on(desk: Desk) -> None:
    desk.describe(SMALL)
    process = desk.until('"converge"', "up", "cluster.yaml", "--full", "--json")
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "Traceback" not in output
    assert "goes on from here" in output


def test_second_up_at_the_same_time_is_refused_by_process(desk: Desk) -> None:
    desk.describe(SMALL)
    desk.on("gpu", "echo 127.0.0.9 evil >>/etc/hosts")
    first = desk.until("/etc/hosts: content", "up", "cluster.yaml", "--json")
    with desk.halted(first):
        refused = desk.run("up", "cluster.yaml", code=2)
    assert f"process {first.pid} is working on cluster 'story'" in refused
    first.communicate(timeout=600)
    assert first.returncode == 0


def test_rebooted_host_comes_back_with_up(desk: Desk) -> None:
    # slurmctld writes the end of a job up to 5 s late (SAVE_MAX_WAIT), and takes one whose end is lost for
    # one that runs: it knows a reboot by a machine's uptime, and a node of a lab has its host's.
    time.sleep(6)
    for machine in subprocess.run(
        ["pgrep", "--full", f"systemd-nspawn.*{desk.state}"], capture_output=True, text=True, check=False
    ).stdout.split():
        with suppress(ProcessLookupError):  # it may end with the one before it
            os.kill(int(machine), signal.SIGKILL)
    assert desk.outcome("up", "cluster.yaml")["ok"]
    assert desk.as_user("srun", "hostname") == "gpu\n"


def test_unreachable_node_is_named_and_the_others_finish(desk: Desk) -> None:
    """A node that shows another host key is not trusted."""
    change = "rm ssh_host_*; ssh-keygen -qt ed25519 -N '' -f ssh_host_ed25519_key; systemctl restart ssh"
    # The last word ends the connections that are open, this one too.
    desk.start(
        "ssh", "story", "gpu", "--", "sh", "-c", f"cd /etc/ssh; {change}; pkill sshd-session"
    ).communicate()
    outcome = desk.outcome("up", "cluster.yaml", "--full", code=1)
    assert {name: row["status"] for name, row in outcome["nodes"].items()} == {
        "gpu": "unreachable",
        "head": "ok",
    }
    assert desk.outcome("node", "replace", "story", "gpu", "--disturb")["ok"]


def test_slurm_key_of_another_cluster_is_found_and_repaired(desk: Desk) -> None:
    desk.on("gpu", "head -c 1024 /dev/urandom | base64 -w0 >/etc/slurm/slurm.key; systemctl stop slurmd")
    outcome = desk.outcome("up", "cluster.yaml")
    assert "/etc/slurm/slurm.key: content" in outcome["nodes"]["gpu"]["drift"]
    assert desk.as_user("srun", "hostname") == "gpu\n"


def test_damaged_state_is_a_finding_and_can_be_destroyed(desk: Desk) -> None:
    desk.describe(SMALL.replace("cluster: story", "cluster: damaged"))
    process = desk.start("up", "cluster.yaml", "--no-accept")
    process.communicate(timeout=600)
    home = desk.state / "clusterwright"
    handoff = home / "clusters/damaged/damaged.handoff.json"
    handoff.write_text(handoff.read_text()[:500])
    for state in home.glob("lab/labs/damaged/state.json"):
        state.write_text("{")
    said = desk.run("status", "damaged", code=2)
    assert "Traceback" not in said
    desk.run("destroy", "damaged")
    assert desk.left("damaged") == set()


def test_mirror_that_does_not_answer_is_named(desk: Desk) -> None:
    mirror = "http://127.0.0.1:9/debian"
    halfway = SMALL.replace("cluster: story", "cluster: halfway")
    desk.describe(f"{halfway}surroundings: {{package_mirror: '{mirror}'}}\n")
    said = " ".join(desk.run("up", "cluster.yaml", code=2).split())
    assert f"could not be built from the mirror {mirror}" in said
    assert "Connection refused" in said
    desk.run("destroy", "halfway")


def test_full_disk_is_said_and_survived(desk: Desk, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], check=True)
    try:
        full = Desk(small)
        shutil.copy(
            desk.describe(SMALL.replace("cluster: story", "cluster: nospace")), small / "cluster.yaml"
        )
        said = full.run("up", "cluster.yaml", code=2)
        assert "space" in said
        assert "Traceback" not in said
    finally:
        subprocess.run(["umount", str(small)], check=True)
