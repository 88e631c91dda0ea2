"""What a node does with the images of a bundle: all of them by digest, once, and nothing that was changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from clusterwright.bundle.collection import root
from clusterwright.operate.offline.images import Layout
from clusterwright.spec.software import image_name
from small_registry import Registry, digest

pytestmark = pytest.mark.skipif(not shutil.which("skopeo"), reason="needs skopeo")
PROGRAM = root() / "roles" / "container_images" / "files" / "load-images"


@pytest.fixture(scope="module")
def program() -> Any:
    loader = SourceFileLoader("load_images", str(PROGRAM))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


@dataclass
class Site:
    """The `images` of a bundle, and what was asked of it."""

    folder: Path
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def publish(self, cache: Path, images: list[str]) -> dict[str, Any]:
        """What a node is told then."""
        lists = {}
        for architecture in ("amd64", "arm64"):
            layout = Layout(cache / architecture, architecture)
            for image in images:
                layout.fetch(image)
            for path, file in layout.publish(images).items():
                (self.folder / architecture / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, self.folder / architecture / path)
            lists[architecture] = digest((self.folder / architecture / "index.json").read_bytes())
        listed = json.dumps(lists).encode()
        (self.folder / "index.json").write_bytes(listed)
        names = sorted(map(image_name, images))
        return {"source": self.url, "digest": digest(listed), "names": names}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path / "images")
    made.folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            super().do_GET()

        def log_message(self, format: str, *arguments: object) -> None:
            """pytest's output is no place for it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(made.folder)))
    made.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


def test_an_image_comes_whole_and_once(registry: Registry, site: Site, program: Any, tmp_path: Path) -> None:
    wanted = site.publish(tmp_path / "cache", [f"{registry.name}:1.0@{registry.image()}"])
    node = tmp_path / "node"
    program.main(wanted, node, "arm64")
    # Read by a program that nobody here wrote.
    inspect = ["skopeo", "inspect", f"oci:{node}:{registry.name}:1.0"]
    seen = subprocess.run(inspect, check=True, capture_output=True, text=True).stdout
    assert json.loads(seen)["Architecture"] == "arm64"
    site.asked.clear()
    program.main(wanted, node, "arm64")
    assert site.asked == []


def test_an_interrupted_run_is_finished_and_what_is_not_wanted_goes(
    registry: Registry, site: Site, program: Any, tmp_path: Path
) -> None:
    image = registry.image()
    both = [f"{registry.name}:{tag}@{image}" for tag in ("1", "2")]
    node = tmp_path / "node"
    program.main(site.publish(tmp_path / "cache", both), node, "amd64")
    half = node / "blobs/sha256" / f".{'0' * 64}"
    half.write_bytes(b"half")
    next(blob for blob in (node / "blobs/sha256").iterdir() if blob != half).unlink()
    program.main(site.publish(tmp_path / "cache", both[1:]), node, "amd64")
    index = json.loads((node / "index.json").read_text())
    assert [list(row["annotations"].values()) for row in index["manifests"]] == [[f"{registry.name}:2"]]
    assert not half.exists()
    for blob in (node / "blobs/sha256").iterdir():
        assert digest(blob.read_bytes()) == f"sha256:{blob.name}"


def test_what_was_changed_on_the_way_is_refused_and_leaves_what_was_there(
    registry: Registry, site: Site, program: Any, tmp_path: Path
) -> None:
    first = f"{registry.name}:1@{registry.image()}"
    node = tmp_path / "node"
    wanted = site.publish(tmp_path / "cache", [first])
    blobs = (site.folder / "amd64/blobs/sha256").iterdir()
    layer = next(blob for blob in blobs if blob.read_bytes()[:2] == b"\x1f\x8b")
    whole = layer.read_bytes()
    layer.write_bytes(whole + b"x")
    with pytest.raises(program.Refused, match="is not what was collected"):
        program.main(wanted, node, "amd64")
    assert not (node / "index.json").exists()
    layer.write_bytes(whole)
    program.main(wanted, node, "amd64")
    before = (node / "index.json").read_bytes()
    (site.folder / "index.json").write_text('{"amd64": "sha256:' + "0" * 64 + '"}')
    with pytest.raises(program.Refused, match="is not what was collected"):
        program.main(wanted | {"digest": f"sha256:{'1' * 64}"}, node, "amd64")
    assert (node / "index.json").read_bytes() == before


def test_what_the_bundle_does_not_have_is_named(
    registry: Registry, site: Site, program: Any, tmp_path: Path
) -> None:
    wanted = site.publish(tmp_path / "cache", [f"{registry.name}:1@{registry.image()}"])
    with pytest.raises(program.Refused, match="does not have other:1 for amd64"):
        program.main(wanted | {"names": ["other:1"]}, tmp_path / "node", "amd64")
    with pytest.raises(program.Refused, match="no images for riscv64"):
        program.main(wanted, tmp_path / "node", "riscv64")
