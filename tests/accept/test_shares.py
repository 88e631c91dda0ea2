"""Shares proven by jobs: on nodes that answer from a table, and by the program itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from clusterwright.accept import jobs, shares
from clusterwright.accept.home import Token
from clusterwright.accept.session import Ran, Session, program
from clusterwright.handoff import Handoff

TOKEN = Token("ada", "/home/ada/x", "abc123", "login")
FOLDER = "/scratch/.clusterwright-accept-abc123"
GB = 10**9


@dataclass
class Stand:
    """A session whose job reports what a test wants."""

    reports: list[Mapping[str, Any]]
    refused: bool = False
    ran: list[tuple[str, ...]] = field(default_factory=list)

    def __enter__(self) -> Stand:
        return self

    def __exit__(self, *_: object) -> None: ...

    def run(self, *argv: str, **_: object) -> Ran:
        self.ran.append(argv)
        if argv[0] == "sh" and self.refused:
            return Ran(1, "", "Permission denied", 0.01)
        found = "\n".join(map(json.dumps, self.reports)) if argv[0] == "srun" else ""
        return Ran(0, found, "", 0.01)


def proven(
    lab: Handoff, stand: Stand, throughput: int | None = None
) -> dict[tuple[str, str], tuple[str, str]]:
    share: dict[str, Any] = {"kind": "lustre", "throughput": throughput, "mgs": ["10.0.0.5@tcp"]}
    share |= {"file_system": "scratch", "directory": None, "options": "flock", "networks": {}}
    handoff = replace(lab, storage={"shares": {**lab.storage["shares"], "/scratch": share}})
    entry = handoff.with_role("login")[0]
    groups, session = jobs.groups(handoff, handoff.with_role("compute")), cast(Session, stand)
    found = shares.prove(handoff, entry, groups, session, lambda: session, TOKEN)
    assert all(gate.remedy for gate in found if gate.status == "fail")
    return {(gate.name, gate.node): (gate.status, gate.seen) for gate in found}


def report(node: str, **more: object) -> dict[str, object]:
    return {"gate": "share", "job": "7", "node": node, "path": "/scratch", **more}


def test_a_share_that_jobs_see_passes_and_its_folder_is_removed(lab: Handoff) -> None:
    stand = Stand([report("gpu-001"), report("gpu-002")])
    found = proven(lab, stand)
    assert {gate: status for gate, (status, _) in found.items()} == {
        ("share-job", "gpu-001"): "pass",
        ("share-job", "gpu-002"): "pass",
    }
    assert stand.ran[-1] == ("rm", "-rf", FOLDER)


def test_a_node_that_is_slow_is_named_with_what_it_reached(lab: Handoff) -> None:
    fast, slow = {"write": 41.0 * GB, "read": 44.0 * GB, "error": ""}, {"write": 41.0 * GB, "read": 9.0 * GB}
    found = proven(lab, Stand([report("gpu-001", **fast), report("gpu-002", **slow)]), 40 * GB)
    rehearsal = "(a rehearsal on simulated hardware, no performance result)"
    assert found["share-rate", "gpu-001"] == ("pass", f"41.0 GB/s written, 44.0 read {rehearsal}")
    assert found["share-rate", "gpu-002"] == ("fail", f"41.0 GB/s written, 9.0 read {rehearsal}")


@pytest.mark.parametrize(
    ("more", "gate", "status", "seen"),
    [
        ({"error": "another content of the same file"}, "share-job", "fail", "another content"),
        ({"absent": "fio"}, "share-rate", "skip", "fio is not installed"),
        ({"write": 0.0, "error": "fio: Input/output error"}, "share-rate", "fail", "Input/output error"),
    ],
    ids=["not shared", "without fio", "an error"],
)
def test_what_a_job_could_not_do(
    more: dict[str, Any], gate: str, status: str, seen: str, lab: Handoff
) -> None:
    sound = report("gpu-001", write=2.0 * GB, read=2.0 * GB, error="")
    found = proven(lab, Stand([sound, report("gpu-002", **more)]), GB)
    assert found[gate, "gpu-002"][0] == status
    assert seen in found[gate, "gpu-002"][1]


def test_a_job_that_did_not_report_is_a_failure_and_one_that_may_not_write_a_skip(lab: Handoff) -> None:
    assert proven(lab, Stand([report("gpu-001")]))["share-job", "gpu-002"][0] == "fail"
    found = proven(lab, Stand([], refused=True))
    assert {status for status, _ in found.values()} == {"skip"}


def test_shares_of_the_cluster_itself_are_left_to_the_shared_home(lab: Handoff) -> None:
    stand = Stand([])
    groups, session = jobs.groups(lab, lab.with_role("compute")), cast(Session, stand)
    assert shares.prove(lab, lab.with_role("login")[0], groups, session, lambda: session, TOKEN) == []
    assert stand.ran == []


def test_the_program_says_what_fio_measured(tmp_path: Path) -> None:
    folder, programs = tmp_path / "share", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    (folder / "token").write_text("abc123\n")
    answer = '{"jobs": [{"read": {"bw_bytes": 3e9}, "write": {"bw_bytes": 2e9}}]}'
    (programs / "fio").write_text(f"#!/bin/sh\necho a note\necho '{answer}'\n")
    (programs / "fio").chmod(0o755)
    rows = [{"path": "/scratch", "folder": str(folder), "expected": GB}]
    rows.append({"path": "/other", "folder": str(tmp_path / "absent"), "expected": 0})
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "CLUSTERWRIGHT_SHARES": json.dumps(rows),
        "CLUSTERWRIGHT_TOKEN": "abc123",
        "SLURM_JOB_ID": "7",
        "SLURMD_NODENAME": "gpu-001",
    }
    done = subprocess.run(
        [sys.executable, "-c", program("share_rate")],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = jobs.json_lines(done.stdout)
    assert (first["write"], first["read"], first["error"]) == (2e9, 3e9, "")
    assert "No such file" in second["error"]
    assert sorted(path.name for path in folder.iterdir()) == ["token"]
