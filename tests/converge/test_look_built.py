"""Looking at what a node builds by itself: it counts as a package that is there, or is not."""

from __future__ import annotations

import builtins
import json
import os
from pathlib import Path
from typing import Any

import pytest

from clusterwright.converge import look

WANTED = {"archive": "nccl-tests-2.17.6.tar.gz", "version": "2.17.6", "cuda": "13", "capabilities": ["9.0"]}
THERE = {"version": "2.17.6", "cuda": "13", "capabilities": ["9.0"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for /opt/nccl-tests/build."""
    real_open, real_access = builtins.open, os.access

    def here(path: Any) -> Any:
        return str(path).replace("/opt/nccl-tests/build", str(tmp_path))

    monkeypatch.setattr(builtins, "open", lambda path, *more, **named: real_open(here(path), *more, **named))
    monkeypatch.setattr(os, "access", lambda path, mode: real_access(here(path), mode))
    program = tmp_path / "all_reduce_perf"
    program.touch()
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "seen"),
    [
        ({}, None),
        ({"capabilities": ["10.0", "9.0"]}, None),
        ({"capabilities": ["8.0"]}, "2.17.6 for CUDA 13 and 8.0"),
        ({"version": "2.16.3"}, "2.16.3 for CUDA 13 and 9.0"),
        ({"cuda": "12"}, "2.17.6 for CUDA 12 and 9.0"),
    ],
)
def test_what_was_built_for_these_gpus_serves(
    folder: Path, changed: dict[str, Any], seen: str | None
) -> None:
    (folder / "built.json").write_text(json.dumps({**THERE, **changed}))
    assert look.differing_build(WANTED) == ({} if seen is None else {"nccl-tests": seen})


def test_what_is_not_whole_is_not_there(folder: Path) -> None:
    assert look.differing_build(WANTED) == {"nccl-tests": ""}
    (folder / "built.json").write_text(json.dumps(THERE))
    (folder / "all_reduce_perf").unlink()
    assert look.differing_build(WANTED) == {"nccl-tests": ""}
    assert look.differing_build(None) == {}
