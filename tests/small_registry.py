"""A registry of one image for two architectures, on an address of this machine."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_DOCKER = "application/vnd.docker."


def digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


@dataclass
class Registry:
    """Answers of a registry by path; one image for two architectures."""

    port: int
    answers: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}/team/tool"

    def add(self, kind: str, media: str, content: bytes) -> dict[str, object]:
        self.answers[f"/v2/team/tool/{kind}/{digest(content)}"] = (media, content)
        return {"mediaType": media, "size": len(content), "digest": digest(content)}

    def image(self) -> str:
        """Its digest."""
        manifests = [self._manifest(architecture) for architecture in ("amd64", "arm64")]
        media = f"{_DOCKER}distribution.manifest.list.v2+json"
        listed = json.dumps({"schemaVersion": 2, "mediaType": media, "manifests": manifests}).encode()
        return str(self.add("manifests", media, listed)["digest"])

    def _manifest(self, architecture: str) -> dict[str, object]:
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as archive:
            row = tarfile.TarInfo(f"for-{architecture}")
            archive.addfile(row, io.BytesIO())
        layers = {"type": "layers", "diff_ids": [digest(plain.getvalue())]}
        config = {"architecture": architecture, "os": "linux", "config": {}, "rootfs": layers}
        media = f"{_DOCKER}distribution.manifest.v2+json"
        layer = gzip.compress(plain.getvalue(), mtime=0)
        content = {
            "schemaVersion": 2,
            "mediaType": media,
            "config": self.add("blobs", f"{_DOCKER}container.image.v1+json", json.dumps(config).encode()),
            "layers": [self.add("blobs", f"{_DOCKER}image.rootfs.diff.tar.gzip", layer)],
        }
        made = self.add("manifests", media, json.dumps(content).encode())
        return {**made, "platform": {"architecture": architecture, "os": "linux"}}


@contextmanager
def serving(home: Path, port: int = 0) -> Iterator[Registry]:
    """Where HOME is this folder, programs take it without TLS."""
    made = Registry(0, {"/v2/": ("application/json", b"{}")})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            media, content = made.answers.get(self.path, ("", b""))
            self.send_response(200 if media else 404)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """pytest's output is no place for it."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    made.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = home / ".config/containers/registries.conf"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'[[registry]]\nlocation = "127.0.0.1:{made.port}"\ninsecure = true\n')
    yield made
    server.shutdown()
    server.server_close()
