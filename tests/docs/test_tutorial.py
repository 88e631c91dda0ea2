"""The tutorial works: its commands are typed one after the other, and what it shows is what appears."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.typed import Typed, missing, typed

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"


def test_the_page_is_read_and_judged() -> None:
    commands = list(typed(PAGE))
    assert commands[0] == Typed("make up", commands[0].shown, fails=False)
    assert missing(("gpu-001 … idle … 8 …",), "gpu-001     running  idle   8     compute") == []
    assert missing(("gpu-001 … idle",), "gpu-001 running down") == ["gpu-001 … idle"]


@pytest.mark.lab
def test_every_command_of_the_tutorial(tmp_path: Path) -> None:
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("the lab needs Linux and root")
    home = _checkout(tmp_path / "clusterwright")
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PATH": f"{home}/.venv/bin:{os.environ['PATH']}",
        "NO_COLOR": "1",
    }
    try:
        for step in typed(PAGE):
            done = subprocess.run(
                ["bash", "-c", step.command],
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=900,
                check=False,
            )
            output = done.stdout + done.stderr
            assert (done.returncode != 0) == step.fails, f"$ {step.command}\n{output}"
            assert not missing(step.shown, output), f"$ {step.command}\n{output}"
    finally:
        clean = ["clusterwright", "destroy", "lab"]
        subprocess.run(clean, cwd=home, env=environment, capture_output=True, check=False)


def _checkout(folder: Path) -> Path:
    """The repository as a reader has it: `make up` sets up everything else."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__", "tests"))
    return folder
