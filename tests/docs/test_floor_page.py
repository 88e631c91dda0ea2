"""What docs/from-the-floor.md types before a machine is needed, what it shows, and its pictures."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.docs.typed import Typed, missing, typed

from clusterwright.cli.parser import parse

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/from-the-floor.md"


def test_the_paper_part_of_the_page(tmp_path: Path) -> None:
    [listed] = re.findall(r"```text\n(Hostname,.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "list.csv").write_text(listed)
    environ = {**os.environ, "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}
    steps = list(typed(PAGE))
    assert len(steps) == 7
    for step in steps:
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not missing(step.shown, done.stdout + done.stderr), f"$ {step.command}\n{done.stdout}"
        if step.command.startswith("clusterwright inventory"):
            _uncomment(tmp_path / "own.yaml", "machines", "bmc_credentials")
    for name in ("racks", "fabric"):
        assert (tmp_path / f"{name}.svg").read_text() == (ROOT / f"docs/pictures/own-{name}.svg").read_text()


@pytest.mark.parametrize("step", list(typed(PAGE, "machines")), ids=lambda step: step.command)
def test_what_machines_are_needed_for_are_commands(step: Typed) -> None:
    parse(shlex.split(step.command)[1:])


def _uncomment(file: Path, *fields: str) -> None:
    text = file.read_text()
    for field in fields:
        text, count = re.subn(rf"^  # ({field}: \S+).*$", r"  \1", text, flags=re.MULTILINE)
        assert count == 1, field
    file.write_text(text)
