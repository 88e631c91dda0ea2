"""The literal commands, where Pulumi's language host for Python is installed beside the engine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Stack


@pytest.fixture
def pulumi(stack: Stack) -> str:
    if shutil.which("pulumi-language-python") is None:
        pytest.skip("no `pulumi-language-python` on PATH: it comes with Pulumi's own installer only")
    return str(stack.engine)


def test_preview_by_hand(pulumi: str, project: Path, played: Path) -> None:
    for words in (["stack", "init", "lab"], ["preview", "-s", "lab", "--non-interactive"]):
        done = subprocess.run([pulumi, *words], cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "clusterwright:lab:Cluster" in done.stdout
    assert list(played.iterdir()) == []
