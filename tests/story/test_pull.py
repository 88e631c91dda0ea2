"""Nodes that converge themselves: real cloud-init, a bundle over HTTPS, and what can be wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from clusterwright.operate.home import ClusterHome
from clusterwright.operate.pull.signing import Signing

from . import stock_image
from .ground import Desk

pytestmark = pytest.mark.lab

PULLED = """\
cluster: pulled
site: {provider: lab}
converge: pull
pools:
  controller: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
users:
  ada: {uid: 2001}
"""
WITH_BOB = PULLED + "  bob: {uid: 2002}\n"
WITH_STEP = WITH_BOB + "hooks: [{at: after-configure, run: step.sh, pools: [gpu]}]\n"
WITH_CPU = WITH_STEP.replace("users:", "  cpu: {roles: compute, machine: lab-small}\nusers:")
SHARE = "storage: {shares: {/data: {kind: nfs, server: filer, export: /export/data}}}\n"
AGENT = "/usr/lib/clusterwright/pull"


@contextmanager
def damaged(desk: Desk, change: Callable[[dict[str, Any]], str | None]) -> Iterator[None]:
    """The pointer as somebody left it who can write to the store; as it was, afterwards."""
    current = store(desk) / "current.json"
    whole = current.read_text()
    envelope = json.loads(whole)
    text = change(envelope)
    current.write_text(json.dumps(envelope) if text is None else text)
    try:
        yield
    finally:
        current.write_text(whole)


def store(desk: Desk) -> Path:
    return desk.state / "clusterwright/lab/labs/pulled/store/objects"


def signing(desk: Desk) -> Signing:
    return Signing.of(ClusterHome("pulled", desk.state / "clusterwright/clusters/pulled"))


def serial(desk: Desk) -> int:
    envelope = json.loads((store(desk) / "current.json").read_text())
    return int(json.loads(envelope["signed"])["serial"])


def on(desk: Desk, node: str, script: str, code: int = 0) -> str:
    return desk.on(node, script, code, "pulled")


def states(desk: Desk) -> dict[str, str]:
    nodes = json.loads(desk.run("status", "pulled", "--json"))["nodes"]
    return {node["name"]: node["report"]["state"] for node in nodes}


def test_nodes_come_up_by_themselves_and_are_accepted(desk: Desk) -> None:
    desk.describe(PULLED)
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert states(desk) == {"controller": "accepted", "gpu-001": "accepted", "gpu-002": "accepted"}
    assert serial(desk) == 1
    assert "Valid schema user-data" in on(desk, "gpu-001", "cloud-init schema --system")
    texts = {
        on(desk, node, "cat /var/lib/cloud/instance/user-data.txt") for node in ("controller", "gpu-001")
    }
    assert len(texts) == 1


def test_no_secret_stands_where_others_read(desk: Desk) -> None:
    key = (desk.state / "clusterwright/clusters/pulled/keys/slurm.key").read_bytes()
    public = [
        *store(desk).rglob("*"),
        *(desk.state / "clusterwright/lab/labs/pulled/nodes").glob("*/upper/var/lib/cloud/**/*"),
    ]
    told = []
    for file in public:
        with suppress(FileNotFoundError, IsADirectoryError):  # nodes go on reporting
            told += [file] if key in file.read_bytes() else []
    assert not told


def test_a_slow_network_is_found_by_the_cluster_itself_and_its_node_is_drained(desk: Desk) -> None:
    """The controller runs the gates; that they are killed in the middle only delays them."""
    desk.run("node", "break", "pulled", "gpu-002", "network-slow")
    begun = "/var/lib/clusterwright/prove/run/asked.json -nt /run/now"
    killed = f"until [ {begun} ]; do sleep 0.1; done; systemctl kill --signal=KILL clusterwright-prove"
    script = f"touch /run/now; echo watches; {killed}"
    killer = desk.until("watches", "ssh", "pulled", "controller", "--", "sh", "-c", script)
    asked = desk.start("accept", "pulled")
    said, _ = asked.communicate(timeout=600)
    killer.communicate(timeout=600)
    assert asked.returncode == 1 and "gpu-002: fabric-pairs failed" in said
    status = desk.run("status", "pulled", code=1)
    assert "its own gates: failed nccl-fabric" in status and "clusterwright: accept fabric-pairs" in status
    desk.run("node", "mend", "pulled", "gpu-002")
    desk.run("node", "resume", "pulled", "gpu-002")
    assert "pulled: accepted" in desk.run("accept", "pulled")


def test_second_up_publishes_and_changes_nothing(desk: Desk) -> None:
    outcome = desk.outcome("up", "cluster.yaml")
    assert {(node["status"], node["tasks"]) for node in outcome["nodes"].values()} == {("ok", 0)}
    assert serial(desk) == 3, "as often as the cluster was asked for its gates"


def test_change_reaches_nodes_and_no_machine_is_touched(desk: Desk) -> None:
    boots = {node: on(desk, node, "cut -d' ' -f22 /proc/1/stat") for node in ("controller", "gpu-002")}
    desk.describe(WITH_BOB)
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert serial(desk) == 4
    assert on(desk, "gpu-002", "id -u bob") == "2002\n"
    assert {node: on(desk, node, "cut -d' ' -f22 /proc/1/stat") for node in boots} == boots


def tampered(envelope: dict[str, Any]) -> None:
    envelope["signed"] = envelope["signed"].replace('"pulled"', '"pvlled"')


REFUSALS: dict[str, tuple[Callable[[Desk, dict[str, Any]], str | None], str]] = {
    "tampered": (lambda _, envelope: tampered(envelope), "the pointer was tampered with"),
    "truncated": (lambda _, envelope: json.dumps(envelope)[:-40], "the pointer is truncated"),
    "foreign": (lambda desk, envelope: again(desk, envelope, cluster="other"), "of another cluster, other"),
    "older": (lambda desk, envelope: again(desk, envelope, serial=1), "older: serial 1, and 4 was seen"),
}


def again(desk: Desk, envelope: dict[str, Any], **change: object) -> str:
    """Validly signed by the operator."""
    text = json.dumps({**json.loads(envelope["signed"]), **change})
    return signing(desk).envelope(text, "clusterwright-pointer")


@pytest.mark.parametrize("refusal", REFUSALS)
def test_wrong_pointer_is_refused_by_name_and_changes_nothing(desk: Desk, refusal: str) -> None:
    change, words = REFUSALS[refusal]
    look = "cat /var/lib/clusterwright/applied.json /var/lib/clusterwright/pull/seen.json"
    before = on(desk, "gpu-002", look)
    with damaged(desk, lambda envelope: change(desk, envelope)):
        said = on(desk, "gpu-002", AGENT, code=1)
        assert "refused " in said
        assert words in said
        assert "refused" in states_unhealthy(desk)["gpu-002"]
    assert on(desk, "gpu-002", look) == before
    assert "accepted" in on(desk, "gpu-002", AGENT)


def states_unhealthy(desk: Desk) -> dict[str, str]:
    nodes = json.loads(desk.run("status", "pulled", "--json"))["nodes"]
    return {node["name"]: f"{node['report']['state']} {node['report']['cause']}" for node in nodes}


def test_network_that_goes_away_midway_only_delays(desk: Desk) -> None:
    script = f"""
        systemctl stop clusterwright-pull.timer clusterwright-pull
        rm -rf /var/lib/clusterwright/pull/objects /var/lib/clusterwright/pull/trees
        rm /etc/clusterwright/node.json
        ip link set host0 down
        {AGENT} >/run/said & agent=$!
        until grep -q "the store does not answer" /run/said || ! kill -0 $agent; do sleep 0.1; done
        ip link set host0 up
        wait $agent
        cat /run/said
        systemctl start clusterwright-pull.timer"""
    said = on(desk, "gpu-002", script)
    assert "the store does not answer" in said
    assert said.splitlines()[-1].startswith("accepted")
    assert on(desk, "gpu-002", "test -s /etc/clusterwright/node.json && echo there") == "there\n"


def test_killed_agent_is_finished_by_the_next(desk: Desk) -> None:
    script = """
        systemctl stop clusterwright-pull.timer clusterwright-pull
        rm /etc/clusterwright/node.json
        since=$(date +%s)
        systemctl start clusterwright-pull
        until journalctl --unit=clusterwright-pull --output=cat --since=@$since | grep -q ^working; do
            sleep 0.05
        done
        systemctl kill --signal=KILL clusterwright-pull
        systemctl start clusterwright-pull.timer"""
    on(desk, "gpu-002", script)
    assert "accepted" in on(desk, "gpu-002", AGENT)
    assert on(desk, "gpu-002", "test -s /etc/clusterwright/node.json && echo there") == "there\n"


def test_bad_bundle_stops_at_the_canary_and_the_next_good_one_goes_through(desk: Desk) -> None:
    applied = "cat /var/lib/clusterwright/applied.json"
    before = on(desk, "gpu-002", applied)
    desk.describe(WITH_STEP)
    step = desk.folder / "step.sh"
    step.write_text("#!/bin/sh\necho the fan stands still >&2\nexit 1\n")
    nodes = desk.outcome("up", "cluster.yaml", code=1)["nodes"]
    assert nodes["gpu-001"]["status"] == "failed"
    assert nodes["gpu-002"]["message"] == "gpu-001 failed before it, and nothing was changed here"
    assert on(desk, "gpu-002", applied) == before
    step.write_text("#!/bin/sh\ntouch /run/step\n")
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert on(desk, "gpu-002", "ls /run/step") == "/run/step\n"


def test_added_node_of_a_stock_image_makes_itself_and_touches_no_other(desk: Desk) -> None:
    since = "systemctl show --property=InvocationID slurmd munge ssh"
    started = on(desk, "gpu-001", since)
    desk.describe(WITH_CPU)
    stock_image.machine(desk, "cpu")
    desk.run("node", "add", "cluster.yaml", "cpu")
    assert on(desk, "gpu-001", since) == started
    assert states(desk)["cpu"] == "accepted"
    python = "ls -d /usr/lib/clusterwright/python /var/lib/clusterwright/pull/python 2>/dev/null || true"
    assert on(desk, "gpu-001", python) == "/usr/lib/clusterwright/python\n", "its image brings it"
    assert on(desk, "cpu", python) == "/var/lib/clusterwright/pull/python\n"


def test_a_share_that_is_added_late_reaches_nodes_that_run(desk: Desk) -> None:
    since = "cut -d' ' -f22 /proc/1/stat; systemctl show --property=InvocationID slurmd"
    started = on(desk, "gpu-002", since)
    desk.describe(WITH_CPU + SHARE)
    desk.run("up", "cluster.yaml", "--no-accept")
    on(desk, "gpu-002", "mountpoint /data && echo written there > /data/file")
    assert on(desk, "cpu", "cat /data/file") == "written there\n"
    assert on(desk, "gpu-002", since) == started


def test_what_disturbs_jobs_goes_from_node_to_node_and_no_job_is_lost(desk: Desk) -> None:
    other = SHARE.replace("export/data", 'export/data, options: "vers=4.2,hard"')
    desk.describe(WITH_CPU + other)
    options = "--uid=bob --chdir=/tmp --output=/dev/null --array=1-900%2 --exclusive --gres=gpu:8"
    array = on(desk, "controller", f"sbatch --parsable {options} --wrap='sleep 3'").strip()
    on(desk, "controller", "until squeue --noheader --states=R | grep -q .; do sleep 0.2; done")
    assert "CW8055 " in desk.run("up", "cluster.yaml", "--roll", "--failures", "1", code=2)
    desk.run("up", "cluster.yaml", "--roll", "--no-accept")
    taken = turns(desk)
    for pool in (("gpu-001", "gpu-002"), ("cpu",)):
        in_turn = [(node, step) for node in pool for step in ("reason", "state")]
        assert [turn for turn in taken if turn[0] in pool] == in_turn
    # slurmctld tells slurmdbd of what has ended in the background.
    ended = f"sacct -X --allusers --noheader --format=State --jobs={array}"
    wait = f"while {ended} | grep -qE 'PENDING|RUNNING'; do sleep 0.3; done"
    on(desk, "controller", f"scancel --state=PENDING {array}; {wait}")
    found = {line.split()[0].rstrip("+") for line in on(desk, "controller", ended).splitlines()}
    assert "COMPLETED" in found and found <= {"COMPLETED", "CANCELLED"}


def turns(desk: Desk) -> list[tuple[str, str]]:
    """Who gave up its jobs, and who takes jobs again, as slurmctld took it down, one after the other."""
    words = "reason set to: clusterwright: new bundle|state set to (IDLE|MIXED|ALLOCATED)"
    journal = "journalctl --sync; journalctl --unit=slurmctld --output=cat"
    held: set[str] = set()
    found = []
    for row in on(desk, "controller", f"{journal} | grep -oE 'node (cpu|gpu-00[12]) ({words})'").splitlines():
        _, node, step, *_ = row.split()
        if step == "reason" or node in held:
            found.append((node, step))
            held ^= {node}
    return found
