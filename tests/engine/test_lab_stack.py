"""A stack whose lab is real: engine, program, plugin, nodes and Slurm."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from clusterwright.handoff import loads
from clusterwright.providers.lab import host
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.lab import Lab

from .conftest import Stack

pytestmark = [pytest.mark.engine, pytest.mark.lab]
NAME = "stacked"
CLUSTER = "clusterwright:lab:Cluster"
DESCRIPTION = """
cluster: stacked
site: {provider: lab}
pools:
  head: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 1}
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The test's own state, beside the user's; the image in the cache is shared."""
    home = tmp_path / "state-home"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    errors = [str(finding) for finding in host.missing(LabHome.of_user()) if finding.severity == "error"]
    if errors:
        pytest.skip("; ".join(errors))
    yield home
    Lab(LabHome.of_user(), NAME).destroy()


def test_real_lab_comes_changes_and_goes(stack: Stack, project: Path, state: Path) -> None:
    description = project / "clusters/lab.yaml"
    description.write_text(DESCRIPTION)
    description.with_name("lab.lock.yaml").unlink()  # of the description that this one takes the place of
    assert stack.run("preview")["changes"] == {"create": 2}
    assert list(state.rglob("*.json")) == []

    first = stack.run("up")
    assert loads(first["outputs"]["cluster"]).by_name["head"].address == first["outputs"]["login_address"]
    assert clusterwright("ssh", NAME, "--", "srun", "--gres=gpu:8", "hostname") == "gpu-001\n"
    assert stack.up() == {"same": 2}

    description.write_text(DESCRIPTION.replace("count: 1", "count: 2"))
    assert stack.up() == {"same": 1, "update": 1}
    both = clusterwright("ssh", NAME, "--", "srun", "-N2", "--gres=gpu:8", "hostname")
    assert sorted(both.split()) == ["gpu-001", "gpu-002"]
    assert keys_in(state, stack.kept()) == []

    clusterwright("destroy", NAME)
    stack.run("refresh")
    assert CLUSTER not in stack.kept()

    description.write_text(DESCRIPTION)
    stack.up()
    stack.run("destroy")
    assert traces(state) == []


def clusterwright(*words: str) -> str:
    argv = [str(Path(sys.executable).with_name("clusterwright")), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def keys_in(state: Path, kept: object) -> list[Path]:
    """Private keys of the operator whose text the engine has seen."""
    known = repr(kept)
    private = [path for path in state.rglob("*") if path.is_file() and path.stat().st_mode & 0o077 == 0]
    texts = {path: path.read_text(errors="replace").strip() for path in private if "key" in str(path)}
    assert texts
    return [path for path, text in texts.items() if text in known]


def traces(state: Path) -> list[str]:
    """What a lab of this state has left on the machine."""
    key = Lab(LabHome.of_user(), NAME).key
    listed = [
        Path("/proc/self/mountinfo").read_text(),
        subprocess.check_output(["ip", "-oneline", "link", "show"], text=True),
        subprocess.check_output(["nft", "list", "tables"], text=True),
    ]
    lines = [line for text in listed for line in text.splitlines() if key in line or str(state) in line]
    running = (text for text in command_lines() if key in text)
    return [*lines, *running, *map(str, state.glob("*/clusters/*"))]


def command_lines() -> Iterator[str]:
    """Of every process; some end while others are looked at."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):
            yield file.read_bytes().decode(errors="replace")
