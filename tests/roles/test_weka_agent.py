"""WEKA's agent, installed by the program itself from a server that plays a backend."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "roles/weka_client/files/weka-agent"


@pytest.fixture
def installer(tmp_path: Path) -> bytes:
    """It leaves the program, and what it was told."""
    program = tmp_path / "bin/weka"
    return f"echo $WEKA_CGROUPS_MODE > {program} && chmod +x {program}\n".encode()


@pytest.fixture
def port(installer: bytes) -> Iterator[int]:
    class Backend(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/dist/v1/install"
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(installer if found else b"")

        def log_message(self, format: str, *arguments: object) -> None:
            """pytest's output is no place for it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()
    thread.join()


def run(folder: Path, *words: str) -> tuple[int, str]:
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {folder}/started\n')
    (programs / "systemctl").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:/usr/bin:/bin", "http_proxy": "http://127.0.0.1:1"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *words], env=environment, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stderr


def test_the_first_backend_that_answers_hands_out_the_installer_once(
    tmp_path: Path, installer: bytes, port: int
) -> None:
    digest = hashlib.sha256(installer).hexdigest()
    words = (f"--sha256={digest}", f"--port={port}", "127.0.0.2", "127.0.0.1")
    assert run(tmp_path, *words) == (0, "")
    assert (tmp_path / "bin/weka").read_text() == "none\n"
    assert (tmp_path / "started").read_text() == "start weka-agent\n"
    assert run(tmp_path, "--port=1", "127.0.0.1")[0] == 0, "what is there is not fetched again"


def test_another_installer_is_not_run(tmp_path: Path, port: int) -> None:
    code, said = run(tmp_path, f"--sha256={'0' * 64}", f"--port={port}", "127.0.0.1")
    assert code == 1 and "expected 0000" in said and "it was not run" in said
    assert not (tmp_path / "bin/weka").exists() and not (tmp_path / "started").exists()


def test_backends_that_are_away_are_named(tmp_path: Path) -> None:
    code, said = run(tmp_path, "--port=1", "127.0.0.1", "127.0.0.2")
    assert code == 1
    assert "no backend hands out an installer: 127.0.0.1: " in said and "127.0.0.2: " in said
