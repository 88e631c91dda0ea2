"""The bucket and the machines' keys, asked of a server that answers as Google documents."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from google.auth.credentials import AnonymousCredentials

from clusterwright.finding import Refused
from clusterwright.providers.gcp.bucket import Bucket
from clusterwright.providers.gcp.console import Consoles, keys_of

KEY = "A" * 68
_MARK = "SSH HOST KEY KEYS-----"
PRINTED = f"boot\r\n-----BEGIN {_MARK}\r\nssh-ed25519 {KEY} root@n\r\n-----END {_MARK}\r\n"
MACHINE = "projects/p/zones/z/instances/"


class Google(http.server.BaseHTTPRequestHandler):
    """Objects of one bucket, two to a page; machines 2 (printed) and 3 (silent); 403 for `locked`."""

    objects: ClassVar[dict[str, tuple[int, bytes]]] = {}

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {key: value[0] for key, value in parse_qs(parts.query).items()}
        if parts.path == "/storage/v1/b/ours/o":
            self._listed(asked)
        elif parts.path.startswith("/storage/v1/b/locked"):
            self._answer(403, b'{"error": {"message": "denied"}}')
        elif parts.path.startswith("/storage/v1/b/ours/o/"):
            found = self.objects.get(unquote(parts.path.rpartition("/")[2]))
            self._answer(200, found[1]) if found and asked["alt"] == "media" else self._answer(404, b"")
        elif parts.path == f"/{MACHINE}2/serialPort" and asked["port"] == "1":
            self._answer(200, json.dumps({"contents": PRINTED}).encode())
        else:
            self._answer(404, b"")

    def do_POST(self) -> None:
        asked = {key: value[0] for key, value in parse_qs(urlsplit(self.path).query).items()}
        assert asked["uploadType"] == "media"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        generation = self.objects.get(asked["name"], (0, b""))[0] + 1
        self.objects[asked["name"]] = (generation, body)
        self._answer(200, b"{}")

    def do_DELETE(self) -> None:
        gone = self.objects.pop(unquote(urlsplit(self.path).path.rpartition("/")[2]), None)
        self._answer(204 if gone else 404, b"")

    def _listed(self, asked: dict[str, str]) -> None:
        names = sorted(name for name in self.objects if name.startswith(asked["prefix"]))
        first = int(asked.get("pageToken", 0))
        rows = [{"name": name, "generation": str(self.objects[name][0])} for name in names[first : first + 2]]
        more = {"nextPageToken": str(first + 2)} if names[first + 2 :] else {}
        self._answer(200, json.dumps({"items": rows, **more}).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def google() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Google)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Google.objects = {}
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_files_of_a_store(google: str, tmp_path: Path) -> None:
    bucket = Bucket("ours", google, AnonymousCredentials())
    assert bucket.read("current.json") is None
    bucket.write("current.json", b"{}")
    file = tmp_path / "object"
    file.write_bytes(b"wheel")
    bucket.take("objects/ab", file)
    assert (bucket.read("current.json"), bucket.read("objects/ab")) == (b"{}", b"wheel")
    for node in ("n1", "n2", "n3"):
        bucket.write(f"reports/{node}", b"ok")
    before = bucket.versions("reports")
    assert set(before) == {"n1", "n2", "n3"}
    bucket.write("reports/n2", b"again")
    assert [node for node, version in bucket.versions("reports").items() if version != before[node]] == ["n2"]
    bucket.remove("objects/ab")
    bucket.remove("objects/ab")
    assert bucket.read("objects/ab") is None
    bucket._service.session.close()


def test_a_missing_permission_is_named(google: str) -> None:
    bucket = Bucket("locked", google, AnonymousCredentials())
    with pytest.raises(Refused, match=r"storage\.objects\.get") as refused:
        bucket.read("current.json")
    assert [finding.code for finding in refused.value.findings] == ["CW7080"]
    bucket._service.session.close()


def test_machines_show_their_keys_on_their_consoles(google: str) -> None:
    consoles = Consoles(google, AnonymousCredentials())
    machines = {f"n{number}": f"{MACHINE}{number}" for number in (2, 3)}
    assert keys_of(consoles, machines) == {"n2": f"ssh-ed25519 {KEY}"}
    consoles._service.session.close()
