"""Verbs on a cluster on a cloud: its store, its consoles and its door, each of which may be closed."""

from __future__ import annotations

import json
import tarfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.node import drain, resume
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.stack import diagnose as diagnosing
from clusterwright.operate.stack import heard as hearing
from clusterwright.operate.stack.accept import accept
from clusterwright.operate.stack.diagnose import diagnose
from clusterwright.operate.stack.known import Known, ssh_argv
from clusterwright.operate.stack.logs import logs
from clusterwright.operate.stack.replace import Replacement
from clusterwright.operate.stack.way import OnCloud, Way
from clusterwright.providers.engine.kept import Kept, Resource

from .cloud import MACHINES, NODES, SLOW, Cloud, answer

INSTANCE, ACCEPTANCE = "aws:ec2/instance:Instance", "clusterwright:pull:Acceptance"
OFF_THE_BUS = "NVRM: Xid (PCI:0000:53:00): 79, pid=1234, GPU has fallen off the bus."
SSH = "ssh -o ProxyCommand='aws ec2-instance-connect open-tunnel --instance-id {}' 10.9.0.3"
Door = Callable[[str], None]


@pytest.fixture(autouse=True)
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    """What stands for `ssh` is a shell script; at first nobody opens."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")

    def opens(script: str) -> None:
        last = "for command; do :; done"
        file = tmp_path / "bin/ssh"
        file.write_text(f'#!/bin/sh\n{last}\necho "$command" >> {tmp_path}/asked\n{script}\n')
        file.chmod(0o755)

    opens("echo 'Connection timed out' >&2; exit 255")
    return opens


@pytest.fixture
def known(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Known:
    """A cluster that was accepted, as its stack has it."""
    nodes = cloud.report_when_pointed()
    cloud.settle()
    nodes.join()
    told = {
        "provider": "aws",
        "region": "us-east-2",
        "bucket": "far",
        "url": "https://store.example.com",
        "signer": Signing.of(cloud.home).public,
        "machines": MACHINES,
        "hostKeys": {node: cloud.key(node) for node in NODES},
        "nodes": dict.fromkeys(NODES, "accepted"),
    }
    rows = [resource(INSTANCE, node, MACHINES[node]) for node in NODES]
    rows.append(resource(ACCEPTANCE, "far", "far", told))
    outputs = {"cluster": cloud.handoff.dumps(), "ssh_command": SSH.format(MACHINES["controller"])}
    monkeypatch.setattr(hearing, "store_of", lambda *_: cloud.store)
    said = {MACHINES["gpu-002"]: OFF_THE_BUS}
    monkeypatch.setattr(diagnosing, "console_texts", lambda *_: lambda machine: said.get(machine, "login:"))
    engine: Any = None
    return Known("far", Kept(tuple(rows), (), outputs), engine)


def resource(kind: str, name: str, identity: str, outputs: dict[str, Any] | None = None) -> Resource:
    urn = f"urn:pulumi:far::clusterwright::{kind}::{name}"
    return Resource(urn, kind, name, identity, "", False, False, {"password": "hunter2"}, outputs or {})


def test_cause_is_found_with_the_head_node_dead(known: Known, cloud: Cloud, tmp_path: Path) -> None:
    cloud.report("gpu-002", "failed", "FAIL xid: expected none, seen 79")
    cloud.prove("failed", SLOW)
    found = diagnose(Cluster(cloud.home), known, tmp_path / "why.tar.gz", cloud.said.append)
    assert [(cause.nodes, "bus" in cause.cause) for cause in found.causes[:1]] == [(("gpu-002",), True)]
    with tarfile.open(found.archive) as archive:
        texts = {
            name.partition("/")[2]: file.read().decode()
            for name in archive.getnames()
            if (file := archive.extractfile(name))
        }
    assert OFF_THE_BUS in texts["nodes/gpu-002/console.log"]
    assert json.loads(texts["nodes/gpu-002/report.json"])["state"] == "failed"
    assert texts["nodes/controller/door.txt"] == "Connection timed out\n"
    assert "nodes/gpu-001/console.log" not in texts, "it is accepted"
    assert "194 GB/s" in texts["gates.json"]
    assert not [name for name, text in texts.items() if "hunter2" in text]


def test_what_answers_is_asked(known: Known, cloud: Cloud, door: Door, tmp_path: Path) -> None:
    door("case $command in *sinfo*) echo 'gpu-001 down Not responding';; *) echo it;; esac")
    found = diagnose(Cluster(cloud.home), known, tmp_path / "why.tar.gz", cloud.said.append)
    with tarfile.open(found.archive) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"nodes/controller/slurm.txt", "nodes/controller/journal.log"} <= names
    assert "nodes/gpu-001/journal.log" not in names


def test_gates_are_asked_for_through_the_bundle(known: Known, cloud: Cloud) -> None:
    before = cloud.store.pointer(Signing.of(cloud.home).public)
    again = threading.Thread(target=lambda: answer(cloud, before))
    again.start()
    assert accept(Cluster(cloud.home), known, cloud.said.append).accepted
    again.join()
    after = cloud.store.pointer(Signing.of(cloud.home).public)
    assert before and after and after.asked == before.asked + 1
    (cloud.home.keys / "signing_ed25519").unlink()
    (cloud.home.keys / "signing_ed25519.pub").unlink()
    with pytest.raises(Refused, match="CW8057"):
        accept(Cluster(cloud.home), known, cloud.said.append)
    nobody = Known("far", Kept(known.kept.resources[:3], (), known.kept.outputs), known.stack)
    with pytest.raises(Refused, match=r"CW8163 .*without --no-accept"):
        accept(Cluster(cloud.home), nobody, cloud.said.append)


def test_a_node_shows_the_key_that_its_cloud_vouches_for(known: Known, cloud: Cloud) -> None:
    argv = Way(known, "gpu-001").argv("true")
    assert argv[-2:] == ["10.9.0.3", "sudo -n sh -c true"]
    assert MACHINES["gpu-001"] in str(argv)
    assert f"HostKeyAlias={'gpu-001'}" in argv
    file = next(word.partition("=")[2] for word in argv if word.startswith("UserKnownHostsFile"))
    assert f"gpu-001 {cloud.key('gpu-001')}\n" in Path(file).read_text()
    google = {**known.kept.outputs, "ssh_command": "gcloud compute ssh far-controller --tunnel-through-iap"}
    argv = Way(Known("far", Kept(known.kept.resources, (), google), known.stack), "gpu-001").argv("true")
    assert argv[3:] == ["far-gpu-001", "--tunnel-through-iap", "--command", "sudo -n sh -c true", "--quiet"]


def test_jobs_are_let_end_through_the_door(known: Known, door: Door, tmp_path: Path) -> None:
    said: list[Event] = []
    with pytest.raises(Refused, match=r"controller: CW8160 .*Connection timed out"):
        drain(OnCloud(known), "gpu-001", said.append, reason="fan")
    door("case $command in *sinfo*) echo 'gpu-001|drained|fan'; echo 'gpu-002|idle|none';; esac")
    assert drain(OnCloud(known), "gpu-001", said.append, reason="fan")
    resume(OnCloud(known), "gpu-002", said.append)
    asked = (tmp_path / "asked").read_text()
    assert "nodename=gpu-001 state=drain" in asked
    assert "nodename=gpu-002 state=resume" in asked
    with pytest.raises(Refused, match="CW8012"):
        drain(OnCloud(known), "gpu-009", said.append, reason="fan")


def test_journal_is_on_the_node_and_its_console_is_the_clouds(known: Known, door: Door) -> None:
    with pytest.raises(Refused, match=r"CW8087 .*logs far gpu-002 --console"):
        logs(known, "gpu-002", follow=False, console=False)
    assert [*logs(known, "gpu-002", follow=False, console=True)] == [OFF_THE_BUS]
    with pytest.raises(Refused, match="CW8087"):
        logs(known, "gpu-002", follow=True, console=True)
    door("case $command in *journalctl*) echo first; echo second;; esac")
    assert [*logs(known, "gpu-002", follow=False, console=False)] == ["first", "second"]


def test_a_node_without_a_machine_is_told_to_be_none(known: Known) -> None:
    gone = Known("far", Kept(known.kept.resources[2:], (), known.kept.outputs), known.stack)
    with pytest.raises(Refused, match="CW8013 gpu-001 does not exist now"):
        logs(gone, "gpu-001", follow=False, console=True)
    with pytest.raises(Refused, match="CW8013 gpu-001 does not exist now"):
        ssh_argv(gone, "gpu-001", [], None)


def test_nothing_is_replaced_while_nobody_knows_of_jobs(
    known: Known, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clusterwright.operate.stack.replace.is_applied", lambda _: True)
    prepared = SimpleNamespace(handoff=cloud.handoff)
    work: Any = SimpleNamespace(name="far", before=known.kept, stack=None, prepared=prepared)
    with pytest.raises(Refused, match=r"controller: CW8162 .*--disturb"):
        Replacement(work, ("gpu-001",), disturb=False).run(cloud.said.append)
    with pytest.raises(Refused, match=r"gpu-001: CW8013"):
        gone = Kept(known.kept.resources[2:], (), known.kept.outputs)
        lost: Any = SimpleNamespace(name="far", before=gone, stack=None, prepared=prepared)
        Replacement(lost, ("gpu-001",), disturb=True).run(cloud.said.append)


def test_a_member_of_a_group_is_replaced_by_its_group(
    known: Known, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clusterwright.operate.stack.replace.is_applied", lambda _: True)
    acceptance = next(iter(known.kept.of_type(ACCEPTANCE)))
    grouped = replace(acceptance, outputs={**acceptance.outputs, "members": {"gpu-001": "i-0abc"}})
    kept = Kept((grouped,), (), known.kept.outputs)
    prepared = SimpleNamespace(handoff=cloud.handoff)
    work: Any = SimpleNamespace(name="far", before=kept, stack=None, prepared=prepared)
    with pytest.raises(Refused, match=r"gpu-001: CW8153 .*i-0abc.*terminate-instance-in-auto-scaling-group"):
        Replacement(work, ("gpu-001",), disturb=True).run(cloud.said.append)
