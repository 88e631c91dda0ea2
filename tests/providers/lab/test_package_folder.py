"""The folder of downloaded packages, which every builder shares and apt locks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.rootfs import DEFAULT_BASE, ensure_base

BUILDER = """\
#!/bin/sh
for word; do case $word in /*) target=$word ;; esac; done
mkdir -p "$target/var/lib/apt/lists"
flock --nonblock {lock} true
test $? = 1
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_who_builds_a_base_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = LabHome(tmp_path / "cache", tmp_path / "state")
    builder = tmp_path / "bin/mmdebstrap"
    builder.parent.mkdir()
    builder.write_text(BUILDER.format(lock=home.cache / "locks/archives"))
    builder.chmod(0o755)
    monkeypatch.setenv("PATH", f"{builder.parent}:{os.environ['PATH']}")
    assert ensure_base(home, lambda *_: None, DEFAULT_BASE).is_dir()
