"""Container images in an offline bundle: by digest, from a real registry's answers, whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from clusterwright.operate.offline.images import Layout
from clusterwright.operate.offline.program import Failed

pytestmark = pytest.mark.skipif(not shutil.which("skopeo"), reason="needs skopeo")
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


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = tmp_path / "home/.config/containers/registries.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[[registry]]\nlocation = "127.0.0.1:{made.port}"\ninsecure = true\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    yield made
    server.shutdown()
    server.server_close()


def laid_out(layout: Layout, images: list[str], folder: Path) -> Path:
    for path, file in layout.publish(images).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / path)
    return folder


def test_an_image_is_there_under_its_name_for_one_architecture(registry: Registry, tmp_path: Path) -> None:
    image = f"{registry.name}:1.0@{registry.image()}"
    layout = Layout(tmp_path / "images/arm64", "arm64")
    layout.fetch(image)
    made = laid_out(layout, [image], tmp_path / "made")
    # Read by a program that nobody here wrote.
    inside = tmp_path / "inside"
    copy = ["skopeo", "copy", "--quiet", f"oci:{made}:{registry.name}:1.0", f"dir:{inside}"]
    subprocess.run(copy, check=True)
    manifest = json.loads((inside / "manifest.json").read_text())
    layer = inside / manifest["layers"][0]["digest"].partition(":")[2]
    with tarfile.open(layer) as archive:
        assert archive.getnames() == ["for-arm64"]
    assert len(list((made / "blobs/sha256").iterdir())) == 3


def test_what_is_whole_is_not_fetched_again_and_what_is_not_is(registry: Registry, tmp_path: Path) -> None:
    image = f"{registry.name}@{registry.image()}"
    layout = Layout(tmp_path / "images/amd64", "amd64")
    layout.fetch(image)
    before = len(registry.asked)
    layout.fetch(image)
    assert len(registry.asked) == before
    files = layout.publish([image])
    blob = next(file for path, file in files.items() if path.startswith("blobs/"))
    blob.write_bytes(b"x" * blob.stat().st_size)
    layout.fetch(image)
    assert digest(blob.read_bytes()) == f"sha256:{blob.name}"
    assert layout.publish([image]) == files


def test_an_image_that_is_no_longer_wanted_is_not_published(registry: Registry, tmp_path: Path) -> None:
    first, second = (f"{registry.name}:{tag}@{registry.image()}" for tag in ("1", "2"))
    layout = Layout(tmp_path / "images/amd64", "amd64")
    layout.fetch(first)
    layout.fetch(second)
    index = json.loads(layout.publish([second])["index.json"].read_text())
    assert [list(row["annotations"].values()) for row in index["manifests"]] == [[f"{registry.name}:2"]]


def test_a_digest_that_the_registry_does_not_have_is_refused(registry: Registry, tmp_path: Path) -> None:
    wrong = f"{registry.name}:1.0@sha256:{'0' * 64}"
    with pytest.raises(Failed):
        Layout(tmp_path / "images/amd64", "amd64").fetch(wrong)


def test_a_registry_that_sends_something_else_is_not_believed(registry: Registry, tmp_path: Path) -> None:
    image = f"{registry.name}:1.0@{registry.image()}"
    for path, (media, content) in registry.answers.items():
        if "/blobs/" in path:
            registry.answers[path] = media, b"x" * len(content)
    with pytest.raises(Failed):
        Layout(tmp_path / "images/amd64", "amd64").fetch(image)
