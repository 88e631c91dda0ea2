"""Two controllers: one is lost in the middle of its work, the other goes on, and nothing is missing."""

from __future__ import annotations

import time

import pytest

from .ground import Desk

pytestmark = pytest.mark.lab
ONE = """\
cluster: story
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small, nodes: ctl1}
  login: {roles: [login, storage], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
users:
  ada: {uid: 2001}
"""
TWO = ONE.replace("nodes: ctl1", "nodes: 'ctl[1-2]'")
TWO += "scheduler: {state: /home/slurm, backup: {folder: /home/backups}}\n"
MOST_SECONDS = 30
"""The bar, from the loss of a controller to the start of the first new job."""
SAVE_SECONDS = 6
"""slurmctld writes a changed queue up to 5 s late (SAVE_MAX_WAIT); later jobs are lost with its machine."""
SUBMIT = "sbatch --parsable --nodelist=gpu-002 --output=started --wrap='date +%s.%N' 2>/dev/null"
UNTIL_TOLD = "while [ ! -e told ]; do sleep 0.2; done"


def state_of(desk: Desk, job: str) -> str:
    return desk.as_user("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T").strip()


def await_state(desk: Desk, job: str, state: str) -> None:
    deadline = time.monotonic() + 120
    while (seen := state_of(desk, job)) != state:
        assert time.monotonic() < deadline, f"job {job} is {seen}, not {state}"
        time.sleep(0.2)


def leading(desk: Desk, on: str) -> list[str]:
    """`ctl1 is UP` …, as a controller tells."""
    said = desk.on(on, "scontrol ping").splitlines()
    return [line.partition(" at ")[2] for line in said if line.startswith("Slurmctld(")]


def until_completed(desk: Desk, jobs: list[str]) -> None:
    """As the database of the first controller has them."""
    query = f"sacct --allusers --allocations --noheader --parsable2 --jobs={','.join(jobs)}"
    rows = f"{query} --format=JobID,State | grep -c COMPLETED"
    desk.on("ctl1", f"timeout 120 sh -c 'until [ $({rows}) = {len(jobs)} ]; do sleep 0.3; done'")


@pytest.fixture(scope="module")
def jobs() -> dict[str, str]:
    """By name, the jobs of the story."""
    return {}


def test_a_second_controller_joins_beside_a_running_job(desk: Desk, jobs: dict[str, str]) -> None:
    """The state moves from the first one's own disk to the share."""
    desk.describe(ONE)
    assert desk.outcome("up", "cluster.yaml", "--no-accept")["ok"]
    jobs["running"] = desk.as_user(
        "sbatch", "--parsable", "--nodelist=gpu-001", f"--wrap={UNTIL_TOLD}"
    ).strip()
    await_state(desk, jobs["running"], "RUNNING")
    jobs["process"] = desk.batch_script("gpu-001")
    desk.describe(TWO)
    outcome = desk.outcome("up", "cluster.yaml")
    assert outcome["accepted"]
    assert outcome["created"] == ["ctl2"]
    assert state_of(desk, jobs["running"]) == "RUNNING"
    assert leading(desk, "login") == ["ctl1 is UP", "ctl2 is UP"]
    assert desk.on("ctl2", "ls /home/slurm/story/job_state")
    assert desk.on("ctl1", "ls /var/spool/slurmctld") == ""
    assert desk.outcome("up", "cluster.yaml")["nodes"]["ctl1"]["tasks"] == 0


def test_the_other_one_takes_over_in_time(desk: Desk, jobs: dict[str, str]) -> None:
    after = f"--dependency=afterok:{jobs['running']}"
    jobs["waiting"] = desk.as_user("sbatch", "--parsable", "--nodelist=gpu-001", after, "--wrap=true").strip()
    time.sleep(SAVE_SECONDS)
    lost = time.time()  # nodes of a lab have this machine's clock
    desk.lose("ctl1")
    jobs["new"] = desk.as_user("sh", "-c", f"until {SUBMIT}; do sleep 0.2; done").strip()
    await_state(desk, jobs["new"], "COMPLETED")
    seconds = float(desk.as_user("cat", "started")) - lost
    assert seconds <= MOST_SECONDS


def test_no_job_is_lost(desk: Desk, jobs: dict[str, str]) -> None:
    assert state_of(desk, jobs["running"]) == "RUNNING"
    assert state_of(desk, jobs["waiting"]) == "PENDING"
    assert desk.batch_script("gpu-001") == jobs["process"]
    desk.as_user("touch", "told")
    await_state(desk, jobs["running"], "COMPLETED")
    await_state(desk, jobs["waiting"], "COMPLETED")


def test_commands_go_on_by_the_other_one(desk: Desk) -> None:
    said = desk.run("status", "story", code=1)
    assert "gpu-001" in said
    assert "idle" in said
    desk.run("node", "drain", "story", "gpu-001", "--reason", "fan")
    desk.run("node", "resume", "story", "gpu-001")


def test_the_first_one_comes_back_and_knows_all(desk: Desk, jobs: dict[str, str]) -> None:
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert leading(desk, "ctl2") == ["ctl1 is UP", "ctl2 is UP"]
    until_completed(desk, [jobs["running"], jobs["waiting"], jobs["new"]])


def test_it_is_made_anew_beside_one_that_leads(desk: Desk, jobs: dict[str, str]) -> None:
    """Its disk is gone with it, and the database with that; the other one takes over a second time."""
    script = "--wrap=while [ ! -e anew ]; do sleep 0.2; done"
    job = desk.as_user("sbatch", "--parsable", "--nodelist=gpu-001", script).strip()
    await_state(desk, job, "RUNNING")
    process = desk.batch_script("gpu-001")
    assert desk.outcome("backup", "now", "story")["backup"]["jobs"]["running"] == 1
    desk.lose("ctl1")
    outcome = desk.outcome("node", "replace", "story", "ctl1", code=1)
    assert [finding["code"] for finding in outcome["failed"]] == ["CW8260"]
    assert state_of(desk, job) == "RUNNING"
    desk.run("backup", "restore", "story", "--yes")
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert leading(desk, "ctl2") == ["ctl1 is UP", "ctl2 is UP"]
    assert desk.batch_script("gpu-001") == process
    desk.as_user("touch", "anew")
    until_completed(desk, [jobs["running"], jobs["waiting"], jobs["new"], job])


def test_a_graceful_stop_is_no_gap_either(desk: Desk) -> None:
    desk.on("ctl1", "systemctl stop slurmctld")
    assert desk.as_user("srun", "--nodelist=gpu-002", "hostname") == "gpu-002\n"
    assert leading(desk, "login") == ["ctl1 is DOWN", "ctl2 is UP"]
