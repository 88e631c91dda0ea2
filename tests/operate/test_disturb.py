"""Nodes with jobs are not taken away, whoever tells of the jobs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clusterwright.converge.target import Target
from clusterwright.finding import Refused
from clusterwright.handoff import from_plan
from clusterwright.operate import disturb, queue
from clusterwright.operate.disturb import refuse_to_disturb
from clusterwright.operate.remote import NO_ANSWER, Answer
from clusterwright.plan import plan
from clusterwright.spec.load import loads

HANDOFF = from_plan(
    plan(
        loads(
            """
cluster: busy
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 3}
"""
        ).spec
    )
)
TARGETS = {name: Target(name, "10.0.0.1", 22, "root", Path("/k"), Path("/h")) for name in HANDOFF.by_name}
PROCESSES = {
    "gpu-001": "/sbin/init\nslurmstepd: [17.extern]\nslurmstepd: [17.batch]\nslurmstepd: [9.0]\nslurmd -D\n",
    "gpu-002": "/usr/sbin/slurmstepd infinity\nsh -c slurmstepd: [no\n",
}


class Nodes:
    """A controller whose slurmctld is up or not, and nodes that list their processes."""

    def __init__(self, *, slurm: bool) -> None:
        self.slurm = slurm

    def answer(self, target: Target, command: str, **_: object) -> Answer:
        if target.name == "controller":
            told = {"sinfo": "gpu-001|allocated|none\n", "squeue": "17 gpu-001\n"}[command.split()[0]]
            return Answer(0, told, "") if self.slurm else Answer(1, "", "Unable to contact slurm controller")
        if target.name not in PROCESSES:
            return Answer(NO_ANSWER, "", "no route to host")
        assert command.startswith("ps ")
        _, _, pick = command.partition("| ")
        listed = PROCESSES[target.name]
        done = subprocess.run(["sh", "-c", pick], input=listed, capture_output=True, text=True, check=True)
        return Answer(0, done.stdout, "")


@pytest.mark.parametrize(("slurm", "jobs"), [(True, "17"), (False, "9, 17")])
def test_jobs_are_known_of_slurm_or_of_the_nodes_themselves(
    monkeypatch: pytest.MonkeyPatch, slurm: bool, jobs: str
) -> None:
    nodes = Nodes(slurm=slurm)
    monkeypatch.setattr(queue, "run_on", nodes.answer)
    monkeypatch.setattr(disturb, "run_on", nodes.answer)
    with pytest.raises(Refused) as refused:
        refuse_to_disturb(HANDOFF, TARGETS, ["gpu-001", "gpu-002", "gpu-003"])
    [finding] = refused.value.findings
    assert (finding.code, finding.where.path) == ("CW8006", "gpu-001")
    assert finding.what.endswith(f"running jobs: {jobs}")
    assert ("slurmctld" in finding.remedy) is not slurm
    refuse_to_disturb(HANDOFF, TARGETS, ["gpu-002", "gpu-003"])
