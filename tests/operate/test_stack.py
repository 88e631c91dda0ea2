"""Clusters on clouds without an engine: their state, what changes, how they are reached, what they cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.stack.changes import Changes
from clusterwright.operate.stack.failures import findings_of
from clusterwright.operate.stack.known import Known, ssh_argv
from clusterwright.operate.stack.spent import spent
from clusterwright.operate.stack.up import refuse_to_disturb
from clusterwright.operate.stack.work import refuse_another_signer
from clusterwright.plan import plan
from clusterwright.providers.engine.backend import Backend, backend
from clusterwright.providers.engine.executable import executable
from clusterwright.providers.engine.kept import Kept, Resource, kept
from clusterwright.providers.engine.stack import Complaint, Failed
from clusterwright.providers.engine.steps import Step
from clusterwright.spec.load import load, loads

ROOT = Path(__file__).parents[2]
INSTANCE, MACHINE = "aws:ec2/instance:Instance", "gcp:compute/instance:Instance"
ACCEPTANCE = "clusterwright:pull:Acceptance"


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who never heard of Pulumi."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("BACKEND_URL", "ACCESS_TOKEN", "HOME", "CONFIG_PASSPHRASE", "CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(f"PULUMI_{name}", raising=False)


def test_state_is_the_users_choice_and_then_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = backend(tmp_path / "state", None)
    assert (own.url, own.own) == (f"file://{tmp_path}/state", True)
    assert own.environment(tmp_path / "passphrase")["PULUMI_CONFIG_PASSPHRASE_FILE"]

    (tmp_path / ".pulumi").mkdir()
    (tmp_path / ".pulumi/credentials.json").write_text(json.dumps({"current": "s3://states"}))
    assert backend(tmp_path / "state", None).url == "s3://states"
    monkeypatch.setenv("PULUMI_BACKEND_URL", "gs://states")
    assert backend(tmp_path / "state", None).url == "gs://states"
    with pytest.raises(Refused, match=r"CW7114 .* s3://states"):
        backend(tmp_path / "state", "s3://states")
    monkeypatch.delenv("PULUMI_BACKEND_URL")
    assert backend(tmp_path / "state", own.url).own


def test_shared_state_asks_for_its_passphrase_and_hides_passwords(tmp_path: Path) -> None:
    shared = Backend("postgres://me:hunter2@db/states", own=False)
    with pytest.raises(Refused, match="CW7113") as refused:
        shared.environment(tmp_path)
    assert "hunter2" not in str(refused.value)
    assert "CONFIG_PASSPHRASE" not in str(Backend("https://api.pulumi.com", own=False).environment(tmp_path))


def test_engine_is_looked_for_and_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(Refused, match=r"CW7110 .*make engine"):
        executable()
    built = tmp_path / "cache/clusterwright/engine/0123/bin/pulumi"
    built.parent.mkdir(parents=True)
    built.write_text("")
    built.chmod(0o755)
    assert executable() == built


def step(op: str, kind: str, name: str, *changed: str) -> Step:
    return Step(op, kind, name, f"urn:pulumi:c::clusterwright::{kind}::{name}", changed)


def test_changes_are_told_by_node_and_what_ends_jobs_is_known() -> None:
    changes = Changes(
        "cloudy",
        (
            step("create", INSTANCE, "new"),
            step("delete-replaced", INSTANCE, "other"),
            step("replace", INSTANCE, "other"),
            step("create-replacement", INSTANCE, "other"),
            step("update", INSTANCE, "larger", "instanceType"),
            step("update", INSTANCE, "tagged", "tags"),
            step("delete", MACHINE, "cloudy-gone"),
            step("update", "aws:ec2/launchTemplate:LaunchTemplate", "tagged", "tags"),
            step("update", ACCEPTANCE, "cloudy", "digest"),
            step("create", "clusterwright:aws:NodePool", "gpu"),
        ),
    )
    assert changes.nodes == {
        "gone": "delete",
        "larger": "stop",
        "new": "create",
        "other": "replace",
        "tagged": "update",
    }
    assert changes.disturbed == ("gone", "larger", "other")
    assert changes.resources == {"create": 1, "delete": 1, "replace": 1, "update": 3}
    assert changes.renews_bundle


def test_nodes_that_work_are_not_taken_away_unasked() -> None:
    spec = load(ROOT / "clusters/aws-p5.yaml").spec
    handoff = from_plan(plan(spec))
    first, second = [node.name for node in handoff.with_role("compute")][:2]
    controller = handoff.with_role("controller")[0].name
    said = {"nodes": {first: "accepted", second: "failed: FAIL ecc", controller: "accepted"}}
    acceptance = Resource("", ACCEPTANCE, spec.cluster, "", "", False, False, {}, said)
    work: Any = SimpleNamespace(
        name=spec.cluster, before=Kept((acceptance,), (), {"cluster": handoff.dumps()})
    )
    gone = tuple(step("delete", INSTANCE, node) for node in (first, second))
    with pytest.raises(Refused, match=f"^{first}: CW8084 .*squeue --nodelist={first}`") as refused:
        refuse_to_disturb(work, Changes(spec.cluster, gone))
    assert second not in str(refused.value)
    refuse_to_disturb(work, Changes(spec.cluster, (step("replace", INSTANCE, controller),)))


def test_members_of_a_group_that_work_are_not_taken_away_unasked() -> None:
    """Of which a preview shows the group's size, and nothing else."""
    text = (ROOT / "clusters/aws-p5-large.yaml").read_text()
    before, now = (
        from_plan(plan(loads(text.replace("count: 320", f"count: {count}")).spec)) for count in (320, 318)
    )
    members = {node.name: f"i-{node.name}" for node in before.nodes if node.pool == "gpu"}
    said = {"nodes": dict.fromkeys(members, "accepted"), "members": members}
    acceptance = Resource("", ACCEPTANCE, before.name, "", "", False, False, {}, said)
    kept = Kept((acceptance,), (), {"cluster": before.dumps()})

    def work(wanted: Handoff) -> Any:
        return SimpleNamespace(name=before.name, before=kept, prepared=SimpleNamespace(handoff=wanted))

    group = "aws:autoscaling/group:Group"
    smaller = Changes(before.name, (step("update", group, "gpu", "maxSize"),))
    with pytest.raises(Refused, match=r"gpu-\[319-320\]: CW8084"):
        refuse_to_disturb(work(now), smaller)
    refuse_to_disturb(work(before), smaller)
    with pytest.raises(Refused, match=r"gpu-\[001-320\]: CW8084"):
        refuse_to_disturb(work(before), Changes(before.name, (step("delete", group, "gpu"),)))


def test_machine_without_the_clusters_keys_signs_nothing(tmp_path: Path) -> None:
    first, second = Signing.of(ClusterHome("a", tmp_path / "a")), Signing.of(ClusterHome("b", tmp_path / "b"))
    acceptance = Resource("", ACCEPTANCE, "cloudy", "", "", False, False, {}, {"signer": first.public})
    state = Kept((acceptance,), (), {})
    refuse_another_signer(state, first)
    with pytest.raises(Refused, match="CW8057"):
        refuse_another_signer(state, second)
    (second.folder / "revoked.pub").write_text(first.public + "\n")
    refuse_another_signer(state, second)


def test_engines_words_name_resource_or_node() -> None:
    urn = "urn:pulumi:c::clusterwright::clusterwright:aws:Cluster$aws:ec2/instance:Instance::gpu1"
    said = "1 error occurred:\n\t* gpu1: failed: FAIL ecc\ngpu2: waiting"
    complaints = (
        Complaint(urn, "InsufficientInstanceCapacity"),
        Complaint(f"urn:pulumi:c::clusterwright::{ACCEPTANCE}::cloudy", said),
        Complaint("", "no credentials"),
    )
    found = findings_of(Failed(complaints), "cloudy")
    assert [(one.code, one.where.path, one.what) for one in found] == [
        ("CW8082", "Instance gpu1", "InsufficientInstanceCapacity"),
        ("CW8083", "gpu1", "failed: FAIL ecc"),
        ("CW8083", "gpu2", "waiting"),
        ("CW8082", "cloudy", "no credentials"),
    ]


def known(file: str, ssh_command: str, machines: Mapping[str, str], kind: str) -> Known:
    spec = load(ROOT / file).spec
    handoff = from_plan(plan(spec))
    outputs = {"cluster": handoff.dumps(), "ssh_command": ssh_command}
    resources = tuple(resource(kind, name, identity) for name, identity in machines.items())
    nowhere: Any = SimpleNamespace()
    return Known(spec.cluster, Kept(resources, (), outputs), nowhere)


def resource(kind: str, name: str, identity: str, created: str = "") -> Resource:
    return Resource("", kind, name, identity, created, False, False, {}, {})


def test_other_nodes_are_reached_as_the_door_is() -> None:
    tunnel = "aws ec2-instance-connect open-tunnel --region us-east-2 --instance-id i-1"
    amazon = known(
        "clusters/aws-p5.yaml",
        f"ssh -o ProxyCommand='{tunnel}' 10.0.0.4",
        {"login": "i-1", "controller": "i-1", "head": "i-1", "p5-001": "i-2", "gpu-001": "i-2"},
        INSTANCE,
    )
    gpu = next(node for node in amazon.handoff.nodes if node.gpus)
    assert ssh_argv(amazon, None, ["sinfo", "-N"], None)[-2:] == ["10.0.0.4", "sinfo -N"]
    argv = ssh_argv(amazon, gpu.name, [], "ada")
    assert argv[:3] == ["ssh", "-l", "ada"]
    assert argv[-1] == gpu.address
    assert any(word.endswith("--instance-id i-2") for word in argv)
    with pytest.raises(Refused, match="CW8012"):
        ssh_argv(amazon, "gpu-999", [], None)
    with pytest.raises(Refused, match="CW8011 these are 2 nodes"):
        ssh_argv(amazon, f"{gpu.name},login", [], None)

    google = known("clusters/gcp-a3-mega.yaml", "", {}, MACHINE)
    door = (*google.handoff.with_role("login"), *google.handoff.with_role("controller"))[0].name
    gpu = next(node for node in google.handoff.nodes if node.gpus)
    name = google.name
    command = f"gcloud compute ssh {name}-{door} --project p --zone z --tunnel-through-iap"
    google = known("clusters/gcp-a3-mega.yaml", command, {f"{name}-{gpu.name}": "1"}, MACHINE)
    argv = ssh_argv(google, gpu.name, ["hostname"], "ada")
    assert argv[3] == f"ada@{name}-{gpu.name}"
    assert argv[-2:] == ["--command", "hostname"]

    behind = known("clusters/gcp-a3-mega.yaml", "ssh 192.0.2.1", {f"{name}-{gpu.name}": "1"}, MACHINE)
    assert ssh_argv(behind, gpu.name, [], None) == ["ssh", "-J", "192.0.2.1", gpu.address]


def test_cost_so_far_counts_hours_and_names_what_has_no_price() -> None:
    planned = plan(load(ROOT / "clusters/aws-p5.yaml").spec)
    handoff = from_plan(planned)
    one = next(cost for cost in planned.cost.pools if cost.price)
    node = next(node.name for node in handoff.nodes if node.pool == one.pool)
    made = [
        resource(INSTANCE, node, "i-1", "2026-11-20T00:00:00.123456789Z"),
        resource(INSTANCE, "stranger", "i-2"),
    ]
    now = datetime(2026, 11, 21, tzinfo=UTC)
    found = spent(Kept(tuple(made), (), {}), handoff, planned.cost, now)
    assert one.price is not None
    assert found.usd == pytest.approx(24 * one.price.usd_per_hour, abs=0.01)
    assert found.unpriced == ("stranger",)


def test_cost_so_far_of_a_group_is_of_its_members() -> None:
    handoff = from_plan(plan(load(ROOT / "clusters/aws-p5-large.yaml").spec))
    price = SimpleNamespace(usd_per_hour=2.0)
    cost: Any = SimpleNamespace(pools=[SimpleNamespace(pool="gpu", price=price)])
    said = {"members": {"gpu-001": "i-1", "gpu-002": "i-2"}}
    made = (
        resource("aws:autoscaling/group:Group", "gpu", "gpu-0123456", "2026-11-20T00:00:00.123456789Z"),
        Resource("", ACCEPTANCE, handoff.name, "", "", False, False, {}, said),
    )
    found = spent(Kept(made, (), {}), handoff, cost, datetime(2026, 11, 21, tzinfo=UTC))
    assert found.usd == pytest.approx(2 * 24 * 2.0, abs=0.01)


def test_state_is_read_as_the_engine_writes_it() -> None:
    stack, machine = "pulumi:pulumi:Stack", {"urn": f"a::b::{INSTANCE}::gpu1", "type": INSTANCE}
    found = kept(
        {
            "resources": [
                {"urn": f"a::b::{stack}::s", "type": stack, "outputs": {"cluster": "text"}},
                {"urn": "a::b::pulumi:providers:aws::p", "type": "pulumi:providers:aws", "custom": True},
                {"urn": "a::b::clusterwright:aws:Network::n", "type": "clusterwright:aws:Network"},
                {**machine, "custom": True, "id": "i-1", "protect": True},
            ],
            "pending_operations": [{"type": "creating", "resource": machine}],
        }
    )
    assert [(one.name, one.id, one.protected) for one in found.resources] == [("gpu1", "i-1", True)]
    assert [(one.op, one.name) for one in found.pending] == [("creating", "gpu1")]
    assert found.outputs == {"cluster": "text"}
