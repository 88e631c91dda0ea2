"""The tutorial works: its commands are typed one after the other, and what it shows is what appears."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```console( fails)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Typed:
    """A command of the tutorial. In what it shows, `…` stands for anything."""

    command: str
    shown: tuple[str, ...]
    fails: bool


def typed() -> Iterator[Typed]:
    for fails, block in _BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield Typed(command, tuple(shown), bool(fails))


def missing(shown: tuple[str, ...], output: str) -> list[str]:
    """Lines of the page that did not appear."""
    seen = [" ".join(line.split()) for line in output.splitlines()]
    patterns = {
        line: re.compile(re.escape(" ".join(line.split())).replace("…", ".*").replace(r"\ .*\ ", " .*"))
        for line in shown
        if line.strip() != "…"
    }
    return [line for line, pattern in patterns.items() if not any(map(pattern.fullmatch, seen))]


def test_the_page_is_read_and_judged() -> None:
    commands = list(typed())
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
        for step in typed():
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
