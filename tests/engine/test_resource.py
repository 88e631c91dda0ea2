"""The resource's life without an engine: what changes, what is said, and when work ends."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from clusterwright.plugin.kinds import Kinds
from clusterwright.plugin.resource import LabProvider
from clusterwright.plugin.schema import ACCEPTANCE, LAB
from clusterwright.plugin.server import PartlyMade

from .played import PlayedLabs

DESCRIPTION = Path(__file__).parents[2] / "clusters/lab.yaml"
URN = "urn:pulumi:lab::clusterwright::clusterwright:lab:Cluster::lab"
T = TypeVar("T")
STATE = {"name": "lab", "description": "text", "digest": "1"}


class SilentEngine:
    """Nobody looks at the engine's log."""

    def status(self, urn: str, text: str) -> None: ...
    def info(self, urn: str, text: str) -> None: ...
    def debug(self, text: str) -> None: ...


@pytest.fixture
def provider(tmp_path: Path) -> LabProvider:
    return LabProvider(PlayedLabs(tmp_path), SilentEngine())


def ran(answer: Coroutine[Any, Any, T]) -> T:
    """Not `asyncio.run`: it takes away the event loop that the Pulumi SDK made for this thread."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(answer)
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def properties(values: dict[str, str]) -> dict[str, PropertyValue]:
    return {key: PropertyValue(value) for key, value in values.items()}


def diff(provider: LabProvider, news: dict[str, str], ignore: str = "", **nodes: str) -> sdk.DiffResponse:
    olds = {**properties(STATE), "nodes": PropertyValue(properties(nodes))}
    request = sdk.DiffRequest(URN, "lab", olds, properties({**STATE, **news}), ignore.split())
    return ran(provider.diff(request))


def test_nothing_changed(provider: LabProvider) -> None:
    assert diff(provider, {}, gpu="running").changes is False


def test_another_name_is_another_cluster(provider: LabProvider) -> None:
    found = diff(provider, {"name": "bench", "description": "cluster: bench"})
    assert found.replaces == ["name"]
    assert found.diffs == ["name", "description"]


def test_words_that_changed_hide_the_digest_that_follows_from_them(provider: LabProvider) -> None:
    found = diff(provider, {"description": "other", "digest": "2"})
    assert (found.changes, found.replaces, found.diffs) == (True, [], ["description"])
    assert diff(provider, {"digest": "2"}).diffs == ["digest"]


def test_node_that_is_down_is_a_change(provider: LabProvider) -> None:
    found = diff(provider, {}, gpu="running", login="missing")
    assert (found.changes, found.diffs) == (True, ["nodes"])


def test_ignored_changes_are_none(provider: LabProvider) -> None:
    assert diff(provider, {"digest": "2"}, ignore="digest").changes is False


def check(provider: LabProvider, file: str) -> sdk.CheckResponse:
    return ran(provider.check(sdk.CheckRequest(URN, {}, properties({"file": file}), b"")))


def test_inputs_come_from_the_description(provider: LabProvider) -> None:
    checked = check(provider, str(DESCRIPTION))
    assert checked.inputs is not None
    assert checked.inputs["name"] == PropertyValue("lab")
    assert checked.inputs["description"] == PropertyValue(DESCRIPTION.read_text())


def test_every_mistake_of_a_description_is_a_failure(provider: LabProvider, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("cluster: LAB\nsite: {provider: lab}\npols: {}\n")
    failures = check(provider, str(tmp_path / "bad.yaml")).failures or []
    assert {failure.property for failure in failures} == {"file"}
    reasons = "\n".join(failure.reason for failure in failures)
    assert "bad.yaml:1:10: cluster: CW" in reasons
    assert "bad.yaml:3:1: pols: CW" in reasons


def test_path_that_depends_on_where_the_plugin_runs_is_a_failure(provider: LabProvider) -> None:
    (failure,) = check(provider, "clusters/lab.yaml").failures or []
    assert "no absolute path" in failure.reason


def test_file_that_only_a_later_step_knows_is_left_alone(provider: LabProvider) -> None:
    checked = check(provider, rpc.UNKNOWN)
    assert checked.inputs == properties({"file": rpc.UNKNOWN})


def test_time_out_ends_the_work_and_keeps_what_is_there(provider: LabProvider, tmp_path: Path) -> None:
    (tmp_path / "SLOW").touch()
    inputs = check(provider, str(DESCRIPTION)).inputs or {}
    with pytest.raises(PartlyMade, match="it goes on from here") as ended:
        ran(provider.create(sdk.CreateRequest(URN, inputs, 0.5, preview=False)))
    assert ended.value.resource_id == "lab"
    assert ended.value.properties["digest"] == PropertyValue("")


def test_schema_names_what_the_resources_have(provider: LabProvider) -> None:
    schema = json.loads(ran(Kinds({LAB: provider}).get_schema(sdk.GetSchemaRequest(1))).schema or "")
    cluster, acceptance = schema["resources"][LAB], schema["resources"][ACCEPTANCE]
    assert sorted(cluster["inputProperties"]) == ["file"]
    assert {"handoff", "login", "nodes"} <= set(cluster["properties"])
    assert {"machines", "signer"} <= set(acceptance["inputProperties"]) < set(acceptance["properties"])


def test_plugin_started_by_hand_says_what_it_is() -> None:
    plugin = Path(sys.executable).with_name("pulumi-resource-clusterwright")
    done = subprocess.run([plugin], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the Pulumi engine starts it" in done.stderr
