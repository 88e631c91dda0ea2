"""What docs/from-the-floor.md types where no machine is needed, what it shows, and its pictures."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.accept.wired.netfile import Fabric
from tests.accept.wired.sim import look
from tests.docs.typed import Typed, missing, typed

from clusterwright.operate.source import Source
from clusterwright.operate.wired import cables
from clusterwright.spec.init import template

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/from-the-floor.md"


def test_the_paper_part_of_the_page(tmp_path: Path) -> None:
    [listed] = re.findall(r"```text\n(Hostname,.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "list.csv").write_text(listed)
    steps = list(typed(PAGE))
    assert len(steps) == 7
    for step in steps:
        said = _answer(step, tmp_path)
        assert not missing(step.shown, said), f"$ {step.command}\n{said}"
        if step.command.startswith("clusterwright inventory"):
            _uncomment(tmp_path / "own.yaml", "machines", "bmc_credentials")
    for name in ("racks", "fabric"):
        assert (tmp_path / f"{name}.svg").read_text() == (ROOT / f"docs/pictures/own-{name}.svg").read_text()


@pytest.mark.slurm
def test_the_cables_are_held_against_the_drawing(tmp_path: Path) -> None:
    """What the real ibnetdiscover says of a simulated fabric, as it is drawn and with two cables swapped."""
    (tmp_path / "own.yaml").write_text(template("onprem"))
    [step] = typed(PAGE, "fabric")
    [swapped] = re.findall(r"```text\n(r1gpu1 mlx5_0: .*?)\n```", PAGE.read_text())
    wiring, _ = cables(Source(tmp_path / "own.yaml"))
    fabric = Fabric(wiring)
    program = tmp_path / "ibnetdiscover"
    program.write_text(f"#!/bin/sh\ncat {look(fabric.text(), tmp_path).discovered}\n")
    program.chmod(0o755)
    assert not missing(step.shown, _answer(step, tmp_path))
    fabric.swap("r1gpu1 mlx5_0", "r1gpu2 mlx5_0")
    look(fabric.text(), tmp_path)
    assert not missing((swapped,), _answer(step, tmp_path, code=1))


def test_every_command_of_the_page_is_typed_somewhere() -> None:
    """Those of `machines` by tests/story/test_netboot.py, in their order."""
    blocks = re.findall(r"^```([a-z ]*)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert {kind for kind, text in blocks if "clusterwright " in text} == {
        "console",
        "console machines",
        "console fabric",
    }


def _answer(step: Typed, folder: Path, code: int = 0) -> str:
    path = f"{folder}:{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "300"}
    done = subprocess.run(
        ["bash", "-c", step.command], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, f"$ {step.command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def _uncomment(file: Path, *fields: str) -> None:
    text = file.read_text()
    for field in fields:
        text, count = re.subn(rf"^  # ({field}: \S+).*$", r"  \1", text, flags=re.MULTILINE)
        assert count == 1, field
    file.write_text(text)
