"""One cluster's whole story, as its operator and its users live it; each test goes on from the one before."""

from __future__ import annotations

import json
import tarfile

import pytest

from .ground import DESCRIPTION, Desk

pytestmark = pytest.mark.lab
SAVING = DESCRIPTION + "scheduler: {backup: {folder: /home/backups}}\n"
HISTORY = "sacct --allusers --allocations --noheader --parsable2 --format=JobID,State,End"


def test_up_ends_in_an_accepted_cluster(desk: Desk) -> None:
    desk.describe()
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    report = json.loads((desk.state / "clusterwright/clusters/story/reports/accept.json").read_text())
    gates = {gate["name"]: gate for gate in report["gates"] if gate["status"] == "pass"}
    assert {"all-reduce", "gpu-isolation", "accounting", "shared-home", "time-skew", "gpus"} <= set(gates)
    assert gates["all-reduce"]["figures"]["bandwidth_gb_s"] > 0


def test_first_job_has_every_gpu_of_both_nodes(desk: Desk) -> None:
    job = ["srun", "-N2", "--gres=gpu:8", "sh", "-c", "echo $(hostname) $CUDA_VISIBLE_DEVICES"]
    assert sorted(desk.as_user(*job).splitlines()) == [
        "gpu-001 0,1,2,3,4,5,6,7",
        "gpu-002 0,1,2,3,4,5,6,7",
    ]


FENCE = """\
import ctypes, os, time
pmix = ctypes.CDLL("libpmix.so.2")
pmix.PMIx_Init(ctypes.create_string_buffer(512), None, 0)
time.sleep(int(os.environ["PMIX_RANK"]) / 2)
entered = time.monotonic()
pmix.PMIx_Fence(None, 0, None, 0)
print(entered, time.monotonic())
pmix.PMIx_Finalize(None, 0)
"""


def test_no_rank_leaves_a_fence_before_every_rank_has_entered_it(desk: Desk) -> None:
    rows = desk.as_user("srun", "-N2", "python3", "-c", FENCE).splitlines()
    entered, left = zip(*(map(float, row.split()) for row in rows), strict=True)
    assert len(rows) == 2
    assert max(entered) <= min(left)


def test_job_cannot_open_gpus_that_it_was_not_given(desk: Desk) -> None:
    script = "for n in 0 1 2 3 4 5 6 7; do (exec 3</dev/nvidia$n) 2>&1; done; true"
    assert desk.as_user("srun", "--gres=gpu:2", "bash", "-c", script).count("Operation not permitted") == 6


def test_second_up_changes_nothing(desk: Desk) -> None:
    outcome = desk.outcome("up", "cluster.yaml")
    assert {(node["status"], node["tasks"]) for node in outcome["nodes"].values()} == {("ok", 0)}


DRIFTS = {
    "/etc/hosts: content": ("gpu-001", "echo 127.0.0.9 evil >>/etc/hosts"),
    "/etc/hosts: mode 0666 should be 0644": ("login", "chmod 0666 /etc/hosts"),
    "package prometheus-node-exporter: not installed": (
        "gpu-002",
        "dpkg --purge --force-depends prometheus-node-exporter >/dev/null 2>&1",
    ),
    "unit slurmd: inactive": ("gpu-001", "systemctl stop slurmd; systemctl reset-failed slurmd || true"),
}


def test_next_up_names_what_drifted_and_repairs_it(desk: Desk) -> None:
    for node, damage in DRIFTS.values():
        desk.on(node, damage)
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {drift: node for node, row in nodes.items() for drift in row["drift"] if drift in DRIFTS} == {
        drift: node for drift, (node, _) in DRIFTS.items()
    }
    damaged = {node for node, _ in DRIFTS.values()}
    assert {name for name, row in nodes.items() if row["status"] == "changed"} == damaged
    assert set(nodes) - damaged == {"controller"}
    again = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {row["status"] for row in again.values()} == {"ok"}


def test_full_run_finds_nothing_to_change(desk: Desk) -> None:
    nodes = desk.outcome("up", "cluster.yaml", "--full")["nodes"]
    assert all(row["tasks"] > 0 for row in nodes.values())
    assert {name: row["changed"] for name, row in nodes.items() if row["changed"]} == {}


def test_dead_node_is_replaced_and_no_other_is_touched(desk: Desk) -> None:
    desk.submit("gpu-001", "--no-requeue")
    kept = desk.submit("gpu-002")
    desk.cut_power("gpu-001")
    refused = desk.run("node", "replace", "story", "gpu-002", code=2)
    assert f"running jobs: {kept}" in refused
    outcome = desk.outcome("node", "replace", "story", "gpu-001", "--disturb")
    assert outcome["ok"]
    assert set(outcome["nodes"]) == {"gpu-001"}
    assert desk.running() == {kept}
    assert desk.as_user("srun", "--nodelist=gpu-001", "--gres=gpu:8", "hostname") == "gpu-001\n"
    desk.as_user("scancel", "--user=ada")


def test_node_is_added_beside_a_running_job(desk: Desk) -> None:
    desk.describe(DESCRIPTION.replace("count: 2", "count: 3"))
    job = desk.submit("gpu-001")
    # Since 23.11 a reconfigured slurmd becomes a new process by itself; systemd has started nothing.
    since = "systemctl show --property=InvocationID slurmd"
    started = desk.on("gpu-001", since)
    assert desk.outcome("node", "add", "cluster.yaml", "gpu-003")["created"] == ["gpu-003"]
    assert desk.on("gpu-001", since) == started
    assert desk.running() == {job}
    assert desk.as_user("srun", "--nodelist=gpu-003", "--gres=gpu:1", "hostname") == "gpu-003\n"
    desk.as_user("scancel", job)


def test_drained_node_takes_no_job_until_it_is_resumed(desk: Desk) -> None:
    desk.run("node", "drain", "story", "gpu-003", "--reason", "fan's $(noise)")
    assert "fan's $(noise)" in desk.run("status", "story")
    desk.run("node", "resume", "story", "gpu-003")
    assert desk.as_user("srun", "--nodelist=gpu-003", "hostname").splitlines()[-1] == "gpu-003"
    desk.until_the_queue_is_empty()  # srun returns before slurmd has told that the job is gone


def test_diagnosis_reaches_every_node_and_holds_no_key(desk: Desk) -> None:
    desk.on("gpu-003", "systemctl stop slurmd")
    archive = desk.folder / "story.tar.gz"
    desk.run("diagnose", "story", "--out", str(archive))
    with tarfile.open(archive) as tar:
        names = [entry.name.partition("/")[2] for entry in tar]
        content = "".join(tar.extractfile(entry).read().decode() for entry in tar)  # type: ignore[union-attr]
    assert {"nodes/gpu-003/journal.log", "nodes/controller/slurm.txt", "causes.json"} <= set(names)
    for key in (desk.state / "clusterwright/clusters/story/keys").iterdir():
        assert key.read_text() not in content


def test_smaller_pool_loses_its_last_node_only(desk: Desk) -> None:
    desk.describe()
    outcome = desk.outcome("up", "cluster.yaml")
    assert outcome["ok"]
    assert outcome["removed"] == ["gpu-003"]


def test_lost_controller_comes_back_with_its_jobs(desk: Desk) -> None:
    """Its disk is gone with it; the share that has the backup is not."""
    desk.describe(SAVING)
    assert desk.outcome("up", "cluster.yaml", "--no-accept")["ok"]
    running = desk.submit("gpu-001")
    waiting = desk.as_user("sbatch", "--parsable", "--hold", "--wrap=true").strip()
    known, process = desk.on("controller", HISTORY), desk.batch_script("gpu-001")
    taken = desk.outcome("backup", "now", "story")["backup"]
    assert taken["jobs"] == {"pending": 1, "running": 1}
    desk.cut_power("controller")
    outcome = desk.outcome("node", "replace", "story", "controller", code=1)
    assert [finding["code"] for finding in outcome["failed"]] == ["CW8260"]
    assert "slurmctld does not start: this disk has no state" in desk.run("backup", "list", "story", code=1)
    restored = desk.outcome("backup", "restore", "story", "--yes")
    assert (restored["running"], restored["pending"]) == (1, 1)
    assert {*known.splitlines()} <= {*desk.on("controller", HISTORY).splitlines()}
    assert desk.batch_script("gpu-001") == process
    assert desk.running() == {running}
    assert desk.submit("gpu-002") == str(int(waiting) + 1)
    assert desk.outcome("up", "cluster.yaml", "--no-accept")["ok"]
    assert "whole, the last one is of" in desk.run("status", "story", code=1)  # nobody has accepted it yet
    desk.as_user("scancel", "--user=ada")


def test_change_restarts_what_diff_says_once_and_nothing_else(desk: Desk) -> None:
    desk.describe(DESCRIPTION + "scheduler: {rest: true}\n")
    rows = json.loads(desk.run("diff", "cluster.yaml", "--json"))["changes"]
    restarts = {(node, unit) for row in rows for unit in row["units"] for node in row["nodes"]}
    assert ("controller", "slurmctld") in restarts
    daemons = {
        "controller": ("slurmctld", "slurmdbd", "mariadb"),
        "login": ("sackd",),
        "gpu-001": ("slurmd",),
    }
    watched = [(node, unit) for node, units in daemons.items() for unit in units]

    def starts() -> dict[tuple[str, str], int]:
        count = "journalctl --unit=$unit --grep='^Started ' --output=cat --quiet | wc -l"
        count = f"journalctl --sync; for unit in {{}}; do {count}; done"
        seen = [
            int(row)
            for node, units in daemons.items()
            for row in desk.on(node, count.format(" ".join(units))).split()
        ]
        return dict(zip(watched, seen, strict=True))

    before = starts()
    assert desk.outcome("up", "cluster.yaml")["ok"]
    after = starts()
    assert {one: after[one] - before[one] for one in watched} == {
        one: int(one in restarts) for one in watched
    }
    assert desk.outcome("up", "cluster.yaml")["ok"]
    assert starts() == after
