"""What an agent takes from its store: broken off, away, behind a token, and its secrets."""

from __future__ import annotations

import http.client
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from types import ModuleType

import pytest

from .agents import looking, started
from .world import World


def test_secret_is_taken_only_with_the_signed_digest(agent: ModuleType, world: World) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    kind = one.read(one.mine["kind"])
    assert one.secrets(kind, sys.executable).keys() == {"/etc/slurm/slurm.key"}
    forged = json.dumps({"/etc/slurm/slurm.key": "Zm9yZ2Vk"})
    argv = ["age", "--encrypt", "--recipient", world.host_key("gpu-001")]
    store = world.stored / "secrets" / "gpu-001"
    store.write_bytes(subprocess.run(argv, input=forged.encode(), capture_output=True, check=True).stdout)
    with pytest.raises(agent.Later, match="is not the one of serial 1"):
        one.secrets(kind, sys.executable)
    store.write_bytes(b"not age")
    with pytest.raises(agent.Refused, match="its secrets cannot be read"):
        one.secrets(kind, sys.executable)


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


def test_whether_the_store_is_reached_is_asked_over_a_connection_of_its_own(
    agent: ModuleType, world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.time, "sleep", lambda _: None)
    root = str(world.node("gpu-001"))
    assert agent.reach(root) == 1  # it has nothing yet
    world.publish()
    assert agent.reach(root) == 0
    monkeypatch.setattr(agent.Store, "once", _away)
    assert agent.reach(root) == 1
    assert "the store does not answer" in capsys.readouterr().out


def _away(*_: object) -> tuple[int, bytes]:
    raise OSError("no route to host")


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
