"""Stacks on the real engine with the real program and plugin; only the labs themselves are played."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from clusterwright.handoff import loads

from .conftest import Failed, Stack

pytestmark = pytest.mark.engine
CLUSTER = "clusterwright:lab:Cluster"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_life_of_a_lab(stack: Stack, played: Path, project: Path) -> None:
    preview = stack.run("preview")
    assert preview["changes"] == {"create": 2}
    assert "gpu-002: add" in preview["text"]
    assert list(played.iterdir()) == []

    first = stack.run("up")
    assert first["changes"] == {"create": 2}
    handoff = loads(first["outputs"]["cluster"])
    assert [node.name for node in handoff.nodes] == ["controller", "login", "gpu-001", "gpu-002"]
    assert handoff.dumps() == first["outputs"]["cluster"]
    assert first["outputs"]["login_address"] == handoff.by_name["login"].address
    assert first["outputs"]["ssh_command"] == "clusterwright ssh lab"
    assert stack.up() == {"same": 2}

    edit(project / "clusters/lab.yaml", "count: 2", "count: 3")
    more = stack.run("up")
    assert more["changes"] == {"same": 1, "update": 1}
    assert "gpu-003" in loads(more["outputs"]["cluster"]).by_name

    edit(project / "clusters/lab.yaml", "cluster: lab", "cluster: bench")
    assert stack.up() == {"same": 1, "create": 1, "delete": 1}
    assert [lab.name for lab in played.glob("*.json")] == ["bench.json"]

    stack.run("destroy")
    assert list(played.glob("*.json")) == []
    assert stack.kept() == {}


def test_what_changed_beside_the_description_is_seen(stack: Stack, played: Path) -> None:
    stack.up()
    record = played / "lab.json"
    lab = json.loads(record.read_text())
    record.write_text(json.dumps({**lab, "nodes": {**lab["nodes"], "gpu-001": "failed"}}))
    assert stack.up() == {"same": 1, "update": 1}
    assert json.loads(record.read_text()) == lab

    (played / "DIGEST").write_text("another release of the roles")
    assert stack.up() == {"same": 1, "update": 1}

    record.unlink()
    stack.run("refresh")
    assert CLUSTER not in stack.kept()


def test_engine_accepts_the_schema(stack: Stack, played: Path) -> None:
    plugin = played.parent / "project/played/pulumi-resource-clusterwright"
    schema = subprocess.check_output([stack.engine, "package", "get-schema", plugin], text=True)
    assert CLUSTER in json.loads(schema)["resources"]


def test_half_made_lab_is_kept_and_resumed(stack: Stack, played: Path) -> None:
    (played / "FAIL").touch()
    with pytest.raises(Failed, match="the last node did not boot"):
        stack.up()
    kept = stack.kept()[CLUSTER]
    assert kept["id"] == "lab"
    assert kept["initErrors"]

    (played / "FAIL").unlink()
    assert stack.up() == {"same": 1, "update": 1}
    assert "initErrors" not in stack.kept()[CLUSTER]


def test_refusal_is_said_in_words_and_keeps_nothing(stack: Stack, played: Path) -> None:
    (played / "REFUSE").touch()
    with pytest.raises(Failed) as refused:
        stack.up()
    assert "CW7001 the host has no nodes to play. Give it some" in str(refused.value)
    assert 'File "' not in str(refused.value)
    assert CLUSTER not in stack.kept()


def test_description_is_refused_in_words(stack: Stack, played: Path, project: Path) -> None:
    edit(project / "clusters/lab.yaml", "provider: lab", "provider: aws, region: us-east-2, zone: us-east-2a")
    with pytest.raises(Failed) as refused:
        stack.run("preview")
    assert "clusters/lab.yaml:" in str(refused.value)
    assert "is a machine of 'lab', and the site is of 'aws'" in str(refused.value)
    assert "Traceback" not in str(refused.value)
    assert list(played.iterdir()) == []


def test_interrupted_lab_is_kept_and_destroyed(stack: Stack, played: Path) -> None:
    interrupt(stack, played, signal.SIGINT)
    assert stack.kept()[CLUSTER]["id"] == "lab"
    stack.run("destroy")
    assert list(played.glob("*.json")) == []


def test_update_whose_engine_was_killed_is_resumed(stack: Stack, played: Path) -> None:
    interrupt(stack, played, signal.SIGKILL)
    stack.run("cancel")
    (played / "SLOW").unlink()
    stack.up()
    assert json.loads((played / "lab.json").read_text())["handoff"]


def interrupt(stack: Stack, played: Path, how: signal.Signals) -> None:
    """End the engine in the middle of its work; the plugin must not outlive it."""
    (played / "SLOW").touch()
    update = stack.start("up")
    wait_for((played / "lab.json").exists)
    (engine,) = [child for child in children(update.pid) if "up" in command(child)]
    plugins = [child for child in children(engine) if "pulumi-resource" in " ".join(command(child))]
    assert plugins
    os.kill(engine, how)
    with pytest.raises(Failed):
        stack.result(update)
    wait_for(lambda: not any(Path(f"/proc/{plugin}").exists() for plugin in plugins))


def children(parent: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
            found += map(int, file.read_text().split())
    return found


def command(process: int) -> list[str]:
    return Path(f"/proc/{process}/cmdline").read_text().split("\0")


def wait_for(ready: Callable[[], object]) -> None:
    deadline = time.monotonic() + 600
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.05)
