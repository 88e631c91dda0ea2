"""An acceptance's life without an engine: what makes it work again, and what one that fails says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.plugin.acceptance import AcceptanceProvider
from clusterwright.plugin.server import PartlyMade
from clusterwright.spec.load import loads

from .played import PlayedClusters
from .test_resource import SilentEngine, properties, ran

URN = "urn:pulumi:p5::clusterwright::clusterwright:pull:Acceptance::p5"
TEXT = """
cluster: p5
site: {provider: lab}
pools: {head: {roles: [controller, login], machine: lab-small}}
"""
TEXTS = {
    "handoff": "{}",
    "provider": "aws",
    "region": "us-east-2",
    "bucket": "b",
    "url": "https://b.s3.us-east-2.amazonaws.com",
    "signer": "ssh-ed25519 A",
}


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, PropertyValue]:
    (tmp_path / "p5.yaml").write_text("cluster: p5\n")
    machines = PropertyValue(properties({"gpu-001": "i-1", "gpu-002": "i-2"}))
    return {**properties({"file": str(tmp_path / "p5.yaml"), **TEXTS}), "machines": machines}


@pytest.fixture
def provider(tmp_path: Path) -> AcceptanceProvider:
    return AcceptanceProvider(PlayedClusters(tmp_path), SilentEngine())


def created(provider: AcceptanceProvider, inputs: dict[str, PropertyValue]) -> dict[str, PropertyValue]:
    checked = ran(provider.check(sdk.CheckRequest(URN, {}, inputs, b""))).inputs or {}
    return ran(provider.create(sdk.CreateRequest(URN, checked, 10, preview=False))).properties


def changed(provider: AcceptanceProvider, old: dict[str, PropertyValue], **new: PropertyValue) -> list[str]:
    request = sdk.DiffRequest(URN, "p5", old, {**old, **new}, [])
    return ran(provider.diff(request)).diffs


def test_accepted_nodes_make_it_and_nothing_is_to_be_done_again(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue]
) -> None:
    made = created(provider, inputs)
    assert made["nodes"] == PropertyValue(properties({"gpu-001": "accepted", "gpu-002": "accepted"}))
    assert changed(provider, made) == []


def test_a_roll_goes_with_what_is_published_and_is_no_reason_to_publish(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue], tmp_path: Path
) -> None:
    made = created(provider, inputs)
    assert (tmp_path / "ROLL").read_text() == "0"
    assert changed(provider, made, roll=PropertyValue(2.0)) == []
    created(provider, {**inputs, "roll": PropertyValue(2.0)})
    assert (tmp_path / "ROLL").read_text() == "2"


def test_host_key_holds_as_long_as_its_machine(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue]
) -> None:
    made = {
        **created(provider, inputs),
        "hostKeys": PropertyValue(properties({"gpu-001": "A", "gpu-002": "B"})),
    }
    machines = PropertyValue(properties({"gpu-001": "i-1", "gpu-002": "i-3"}))
    new = {**inputs, "machines": machines, "digest": made["digest"]}
    request = sdk.UpdateRequest(URN, "p5", made, new, 10, [], preview=False)
    found = (ran(provider.update(request)).properties or {})["hostKeys"]
    assert found == PropertyValue(properties({"gpu-001": "A", "gpu-002": "key of i-3"}))


def test_members_of_a_group_are_remembered_with_their_keys(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue], tmp_path: Path
) -> None:
    nodes = [{"name": name, "pool": "gpu"} for name in ("a1", "a2")]
    grouped = {
        **inputs,
        "handoff": PropertyValue(handoff_with(nodes)),
        "groups": PropertyValue(properties({"gpu": "gpu-0123456"})),
    }
    made = created(provider, grouped)
    assert made["members"] == PropertyValue(properties({"a1": "i-a1", "a2": "i-a2"}))
    assert made["addresses"] == PropertyValue(properties({"a1": "10.40.9.4", "a2": "10.40.9.5"}))
    assert changed(provider, made) == []
    assert changed(provider, made, groups=PropertyValue(properties({"gpu": "gpu-other"}))) == ["groups"]
    (tmp_path / "NODES").write_text(json.dumps({"a2": "gone: its machine is gone"}))
    seen = ran(provider.read(sdk.ReadRequest(URN, "p5", made, grouped))).properties or {}
    assert changed(provider, seen) == ["nodes"], "the next `up` gives its name to another machine"
    assert seen["hostKeys"] == made["hostKeys"]


def handoff_with(nodes: list[dict[str, str]]) -> str:
    like = json.loads(from_plan(plan(loads(TEXT).spec)).dumps())
    return json.dumps({**like, "nodes": [{**like["nodes"][0], **node} for node in nodes]})


def test_what_changes_nodes_is_seen(provider: AcceptanceProvider, inputs: dict[str, PropertyValue]) -> None:
    made = created(provider, inputs)
    assert changed(provider, made, handoff=PropertyValue("{ }")) == ["handoff"]
    assert changed(provider, made, handoff=PropertyValue(rpc.UNKNOWN)) == ["handoff"]
    assert changed(provider, made, machines=PropertyValue(properties({"gpu-001": "i-3"}))) == ["machines"]
    Path(str(made["file"].value)).write_text("cluster: p5\ndomain: other.internal\n")
    checked = ran(provider.check(sdk.CheckRequest(URN, {}, inputs, b""))).inputs or {}
    assert changed(provider, made, digest=checked["digest"]) == ["digest"]


def test_a_node_that_is_not_accepted_fails_the_stack_with_its_cause(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue], tmp_path: Path
) -> None:
    (tmp_path / "NODES").write_text(json.dumps({"gpu-002": "failed: FAIL driver: 535.1 is loaded"}))
    with pytest.raises(PartlyMade) as failed:
        created(provider, inputs)
    assert str(failed.value) == "gpu-002: failed: FAIL driver: 535.1 is loaded"
    (tmp_path / "NODES").unlink()
    left = ran(provider.read(sdk.ReadRequest(URN, "p5", failed.value.properties, inputs))).properties or {}
    now = ran(provider.check(sdk.CheckRequest(URN, {}, inputs, b""))).inputs or {}
    assert changed(provider, left, digest=now["digest"]) == ["digest"], (
        "the next `up` goes on, also refreshed"
    )


def test_cost_is_told_by_what_nodes_were_accepted_with(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue], tmp_path: Path
) -> None:
    """No other memory is needed: another machine may run the next `up`."""

    def updated(old: dict[str, PropertyValue], handoff: str) -> dict[str, PropertyValue]:
        new = {**inputs, "handoff": PropertyValue(handoff), "digest": old["digest"]}
        request = sdk.UpdateRequest(URN, "p5", old, new, 10, [], preview=False)
        return ran(provider.update(request)).properties or {}

    made = created(provider, inputs)
    assert (tmp_path / "BEFORE").read_text() == ""
    (tmp_path / "NODES").write_text(json.dumps({"gpu-002": "failed: FAIL driver"}))
    with pytest.raises(PartlyMade) as failed:
        updated(made, '{"driver": 2}')
    assert (tmp_path / "BEFORE").read_text() == TEXTS["handoff"]
    (tmp_path / "NODES").unlink()
    updated(failed.value.properties, '{"driver": 3}')
    assert (tmp_path / "BEFORE").read_text() == TEXTS["handoff"], "what failed is not what they are"


def test_refresh_sees_a_node_that_is_no_longer_accepted(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue], tmp_path: Path
) -> None:
    made = created(provider, inputs)
    (tmp_path / "NODES").write_text(json.dumps({"gpu-001": "failed: FAIL ecc"}))
    seen = ran(provider.read(sdk.ReadRequest(URN, "p5", made, inputs))).properties or {}
    assert seen["nodes"] == PropertyValue(properties({"gpu-001": "failed: FAIL ecc", "gpu-002": "accepted"}))
    assert changed(provider, seen) == ["nodes"]


def test_gates_of_the_cluster_fail_the_stack_and_are_seen_by_refresh(
    provider: AcceptanceProvider, inputs: dict[str, PropertyValue], tmp_path: Path
) -> None:
    words = "nccl-fabric gpu-002: expected 300 GB/s, seen 194 GB/s. Look at its cards"
    (tmp_path / "GATES").write_text(words)
    with pytest.raises(PartlyMade) as failed:
        created(provider, inputs)
    assert str(failed.value) == words
    (tmp_path / "GATES").unlink()
    made = created(provider, inputs)
    (tmp_path / "GATES").write_text("waiting waits for gpu-002: said nothing yet")
    seen = ran(provider.read(sdk.ReadRequest(URN, "p5", made, inputs))).properties or {}
    assert changed(provider, seen) == ["gates"]
    before = {key: value for key, value in made.items() if key != "gates"}
    assert changed(provider, before) == ["gates"], "of a release that ran none"


def test_preview_waits_for_nobody(provider: AcceptanceProvider, inputs: dict[str, PropertyValue]) -> None:
    unknown = {**inputs, "handoff": PropertyValue(rpc.UNKNOWN), "machines": PropertyValue(rpc.UNKNOWN)}
    shown = ran(provider.create(sdk.CreateRequest(URN, unknown, 10, preview=True))).properties
    assert shown["nodes"] == PropertyValue(rpc.UNKNOWN)
