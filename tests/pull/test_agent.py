"""The agent's own decisions: whose turn it is, what is a secret of its, what a run came to."""

from __future__ import annotations

import http.client
import http.server
import importlib.util
import io
import json
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clusterwright.bundle.publication import collection

from .world import AGENT, World, key_pair


@pytest.fixture(scope="module")
def agent() -> ModuleType:
    spec = importlib.util.spec_from_loader("agent", SourceFileLoader("agent", str(AGENT)))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def looking(agent: ModuleType, world: World, node: str) -> Any:
    """The agent of a node that has verified what is published."""
    one = started(agent, world, node)
    one.step(verify_only=True)
    return one


def started(agent: ModuleType, world: World, node: str) -> Any:
    one = agent.Agent(str(world.node(node)))
    world.agents.append(one)
    return one


def say(
    world: World, agent: ModuleType, node: str, state: str, digest: str = "", key: Path | None = None
) -> None:
    digest = digest or world.desired().wanted[node].digest
    text = json.dumps({"node": node, "state": state, "digest": digest, "cause": "its fan"})
    signer = key or world.node(node) / "etc/ssh/ssh_host_ed25519_key"
    body = {"signed": text, "signature": agent.sign(text, str(signer), agent.REPORT)}
    (world.stored / "reports" / node).write_text(json.dumps(body))


def turn(agent: ModuleType, one: Any) -> str:
    try:
        one.wait_for_others()
    except agent.Later as later:
        return str(later)
    return "now"


def test_order_is_servers_then_canary_then_everybody(agent: ModuleType, world: World) -> None:
    world.publish()
    nodes = {name: looking(agent, world, name) for name in ("controller", "gpu-001", "gpu-002")}

    def turns() -> list[str]:
        return [turn(agent, one) for one in nodes.values()]

    assert turns() == ["now", "waits for controller", "waits for controller"]
    say(world, agent, "controller", "working")
    assert turns() == ["now", "waits for controller", "waits for controller"]
    say(world, agent, "controller", "accepted")
    assert turns() == ["now", "now", "waits for gpu-001"]
    say(world, agent, "gpu-001", "failed")
    assert turns() == ["now", "now", "held back: gpu-001 failed: its fan"]
    say(world, agent, "gpu-001", "accepted", digest="of another bundle")
    assert turns()[2] == "waits for gpu-001"
    say(world, agent, "gpu-001", "accepted")
    assert turns() == ["now", "now", "now"]


def test_report_of_a_stranger_lets_nobody_go_on(agent: ModuleType, world: World, tmp_path: Path) -> None:
    world.publish()
    key_pair(tmp_path / "stranger")
    say(world, agent, "controller", "accepted", key=tmp_path / "stranger")
    assert turn(agent, looking(agent, world, "gpu-001")) == "waits for controller"


def test_secret_is_taken_only_with_the_signed_digest(agent: ModuleType, world: World) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    kind = one.read(one.mine["kind"])
    assert one.secrets(kind).keys() == {"/etc/slurm/slurm.key"}
    forged = json.dumps({"/etc/slurm/slurm.key": "Zm9yZ2Vk"})
    argv = ["age", "--encrypt", "--recipient", world.host_key("gpu-001")]
    store = world.stored / "secrets" / "gpu-001"
    store.write_bytes(subprocess.run(argv, input=forged.encode(), capture_output=True, check=True).stdout)
    with pytest.raises(agent.Later, match="is not the one of serial 1"):
        one.secrets(kind)
    store.write_bytes(b"not age")
    with pytest.raises(agent.Refused, match="its secrets cannot be read"):
        one.secrets(kind)


def test_cost_of_a_change_is_that_from_where_the_node_is(agent: ModuleType, world: World) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    one.mine = {"digest": "c", "since": {"a": "reboot", "b": "live"}}
    assert [one.impact_of(digest) for digest in ("", "c", "a", "b", "long ago")] == [
        "live",
        "live",
        "reboot",
        "live",
        "drain",
    ]


def test_broken_transfer_goes_on_where_it_broke(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.publish()
    one = started(agent, world, "gpu-001")
    asked: list[int] = []
    whole = one.store.ask

    def broken(method: str, path: str, body: bytes | None = None, start: int = 0) -> tuple[int, bytes]:
        status, content = whole(method, path, body, start)
        if path.startswith("objects/") and len(content) > 1000:
            asked.append(start)
            return status, content[: len(content) // 2]
        return status, content

    monkeypatch.setattr(one.store, "ask", broken)
    one.step(verify_only=True)
    assert len([start for start in asked if start]) > 5


def test_store_that_is_away_is_later(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.time, "sleep", lambda _: None)
    one = started(agent, world, "gpu-001")
    one.store.port = 9
    with pytest.raises(agent.Later, match="the store does not answer"):
        one.step(verify_only=True)


PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Change something
      ansible.builtin.command: "true"
      changed_when: true
    - name: Stop here
      ansible.builtin.fail: {msg: the fan stands still}
      when: broken | default(false) | bool
"""


def test_run_of_the_roles_says_what_it_came_to(agent: ModuleType, tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(collection())) as tar:
        tar.extractall(tmp_path / "tree", filter="data")
    run = tmp_path / "run"
    run.mkdir()
    (run / "hosts.json").write_text(json.dumps({"all": {"hosts": {"here": {"ansible_connection": "local"}}}}))
    (run / "play.yml").write_text(PLAYBOOK)
    play = agent.Play(str(run), sys.executable, str(tmp_path / "tree"))
    assert play.run(str(run / "play.yml")) == 1
    with pytest.raises(agent.Failed, match="Stop here: the fan stands still"):
        play.run(str(run / "play.yml"), {"broken": True})
    with pytest.raises(agent.Failed, match="absent"):
        play.run("absent.yml")


def test_python_is_made_of_wheels_whole_or_not_at_all(agent: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "small-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("small.py", "WORDS = 'here'")
    with pytest.raises(zipfile.BadZipFile):
        agent.make_python(str(tmp_path / "python"), [str(AGENT)])
    assert not list(tmp_path.glob("python*"))
    agent.make_python(str(tmp_path / "python"), [str(wheel)])
    argv = [str(tmp_path / "python/bin/python3"), "-c", "import small; print(small.WORDS)"]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "here\n"


def test_needed_wheels_are_what_ansible_requires() -> None:
    from importlib.metadata import requires

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    from clusterwright.operate.pull.wheels import NEEDED, lock

    found, left = set[str](), ["ansible-core"]
    while left:
        name = left.pop()
        found.add(name)
        rows = (Requirement(row) for row in requires(name) or ())
        left += [
            canonicalize_name(row.name)
            for row in rows
            if (row.marker is None or row.marker.evaluate({"extra": "", "python_version": "3.12"}))
            and canonicalize_name(row.name) not in found
        ]
    assert found == set(NEEDED)
    assert [row.partition("=")[0] for row in lock().splitlines() if "==" in row] == list(NEEDED)


class Machine:
    """What a node's agent does to its machine, written down instead of done."""

    def __init__(self, agent: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.did: list[str] = []
        self.jobs = "12\n"
        self.boot = "first"
        monkeypatch.setattr(agent, "slurm", self.slurm)
        monkeypatch.setattr(agent, "boot", lambda: self.boot)
        monkeypatch.setattr(agent.subprocess, "run", self.run)
        monkeypatch.setattr(agent.time, "sleep", lambda _: None)

    def slurm(self, *argv: str) -> str:
        if argv[0] == "squeue":
            return self.jobs
        self.did.append(" ".join(argv[:4]))
        return ""

    def run(self, argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.did.append(argv[0].rpartition("/")[2] + " ".join(["", *argv[1:]]))
        return subprocess.CompletedProcess(argv, 0, "", "")


@pytest.mark.parametrize("impact", ["drain", "reboot"])
def test_jobs_end_before_the_node_changes_and_it_takes_new_ones_after(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch, impact: str
) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    said: list[str] = []
    monkeypatch.setattr(one, "say", lambda state, *_: said.append(state))
    machine = Machine(agent, monkeypatch)
    drained = "scontrol update nodename=gpu-001 state=drain"
    resumed = "scontrol update nodename=gpu-001 state=resume"
    with pytest.raises(agent.Later, match="drains: waits for jobs 12"):
        one.give_up_jobs(impact)
    assert machine.did == [drained]
    machine.jobs = ""
    one.give_up_jobs(impact)
    if impact == "reboot":
        with pytest.raises(agent.Failed, match="it did not reboot"):
            one.finish(1)
        assert machine.did[2:] == ["systemctl reboot"]
        machine.boot = "second"
    machine.did.clear()
    one.finish(1)
    assert machine.did == ["gate", resumed]
    assert said[-1] == "accepted"
    machine.did.clear()
    one.finish(0)
    assert machine.did == ["gate"], "it is resumed once"


def test_live_change_leaves_jobs_alone(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    machine = Machine(agent, monkeypatch)
    one.give_up_jobs("daemon-restart")
    assert machine.did == []


class Metadata(http.server.BaseHTTPRequestHandler):
    """A metadata server, and a bucket that only its token opens."""

    tokens = 0

    def do_GET(self) -> None:
        if self.path == "/token":
            known = self.headers["Metadata-Flavor"] == "Google"
            type(self).tokens += known
            self._answer(200 if known else 403, json.dumps({"access_token": "t", "expires_in": 3600}))
        else:
            self._answer(200 if self.headers["Authorization"] == "Bearer t" else 401, "what is current")

    def _answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def metadata() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Metadata.tokens = 0
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_the_token_of_a_machine_opens_its_store_and_is_asked_for_once(
    agent: ModuleType, metadata: int
) -> None:
    def ask() -> tuple[int, bytes]:
        store.connection = http.client.HTTPConnection("127.0.0.1", metadata)
        answer: tuple[int, bytes] = store.ask("GET", "current.json")
        store.close()
        return answer

    store = agent.Store("https://storage.example/bucket", None, f"http://127.0.0.1:{metadata}/token")
    assert [ask(), ask()] == [(200, b"what is current")] * 2
    assert Metadata.tokens == 1
    store.until = 0.0
    ask()
    assert Metadata.tokens == 2
    store.token_url, store.until = f"http://127.0.0.1:{metadata}/elsewhere", 0.0
    with pytest.raises(agent.Later, match="no token"):
        ask()
