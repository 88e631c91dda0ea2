"""Container images in an offline bundle: by digest, from a real registry's answers, whole or not at all."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from clusterwright.operate.offline.images import Layout
from clusterwright.operate.program import Failed
from small_registry import Registry, digest

pytestmark = pytest.mark.skipif(not shutil.which("skopeo"), reason="needs skopeo")


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
