"""Images that are listed and removed, and those that nobody may remove."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clusterwright.finding import Refused
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.stock import remove, stock


@pytest.fixture
def home(tmp_path: Path) -> LabHome:
    """Four images: two unused, one of a lab here that is off, one of a lab that runs under another state."""
    made = LabHome(tmp_path / "cache", tmp_path / "state")
    for age, digest in enumerate(("recorded", "running", "older", "newer")):
        (made.images / digest).mkdir(parents=True)
        (made.images / digest / "file").write_bytes(b"x" * 10000)
        os.utime(made.images / digest, (1000 + age, 1000 + age))
    (made.images / ".half.partial").mkdir()
    node = made.labs / "mine/nodes/gpu-001/node.json"
    node.parent.mkdir(parents=True)
    node.write_text(json.dumps({"address": "10.0.0.1", "layers": f"{made.images / 'recorded'}:/base"}))
    mounts = tmp_path / "proc/17/mounts"
    mounts.parent.mkdir(parents=True)
    upper = "/elsewhere/lab/labs/theirs/nodes/gpu-001/upper"
    mounts.write_text(f"overlay / overlay rw,lowerdir={made.images / 'running'}:/base,upperdir={upper} 0 0\n")
    return made


def test_unused_images_come_first_and_the_oldest_of_them(home: LabHome, tmp_path: Path) -> None:
    found = stock(home, tmp_path / "proc")
    assert [(image.digest, image.labs) for image in found] == [
        ("older", ()),
        ("newer", ()),
        ("recorded", ("mine",)),
        ("running", ("theirs",)),
    ]
    assert all(image.size >= 10000 for image in found)


def test_an_image_that_is_removed_is_gone(home: LabHome, tmp_path: Path) -> None:
    remove(home, ["older"], tmp_path / "proc")
    assert sorted(path.name for path in home.images.iterdir()) == [
        ".half.partial",
        "newer",
        "recorded",
        "running",
    ]


def test_where_one_cannot_be_removed_none_is(home: LabHome, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        remove(home, ["older", "recorded", "running", "unheard"], tmp_path / "proc")
    assert [(row.where.path, row.code) for row in refused.value.findings] == [
        ("recorded", "CW7062"),
        ("running", "CW7062"),
        ("unheard", "CW7061"),
    ]
    assert (home.images / "older").exists()
