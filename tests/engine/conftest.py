"""A copy of the project that a test may change, and stacks of it on the real engine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .somebody import DOOR, ECHO, Operator

ROOT = Path(__file__).parents[2]
TESTS = Path(__file__).parent
PLAYER = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(TESTS)!r})
import played
played.main(sys.argv[1])
"""


class Failed(Exception):
    """The engine's own words."""


@dataclass(frozen=True)
class Stack:
    """A stack on a state in a folder."""

    name: str
    engine: Path
    project: Path

    def start(self, verb: str) -> subprocess.Popen[str]:
        script = [sys.executable, str(TESTS / "operation.py")]
        argv = [*script, str(self.engine.parents[1]), str(self.project), self.name, verb]
        return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def run(self, verb: str) -> dict[str, Any]:
        return self.result(self.start(verb))

    def result(self, running: subprocess.Popen[str]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = json.loads(running.communicate(timeout=600)[0])
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGTERM)
            raise
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def up(self) -> dict[str, Any]:
        """What changed, by kind; nothing but the kinds that happened."""
        changes: dict[str, Any] = self.run("change")["changes"]
        return changes

    def kept(self) -> dict[str, Any]:
        """Type → what the engine keeps of it."""
        state = self.project.parent / f"state/.pulumi/stacks/clusterwright/{self.name}.json"
        resources = json.loads(state.read_text())["checkpoint"]["latest"].get("resources", [])
        return {resource["type"]: resource for resource in resources}


@pytest.fixture(scope="session")
def engine() -> Path:
    """The real engine; where there is none the tests skip."""
    built = Path(subprocess.check_output([ROOT / "engine/build", "--where"], text=True).strip())
    found = str(built) if built.exists() else shutil.which("pulumi")
    if found is None:
        pytest.skip("no Pulumi engine: `make engine` builds it (needs Go), or put `pulumi` on PATH")
    return Path(found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The real Pulumi.yaml, program and stack files; a copy, because the engine writes into stack files."""
    root = tmp_path / "project"
    root.mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", root)
    for folder in ("stacks", "clusters"):
        shutil.copytree(ROOT / folder, root / folder)
    (root / ".venv").symlink_to(sys.prefix)
    return root


@pytest.fixture
def played(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plugin with labs that are played; the folder that they live in."""
    settings = project / "Pulumi.yaml"
    settings.write_text(settings.read_text().replace("path: .venv/bin", "path: played"))
    plugin = project / "played/pulumi-resource-clusterwright"
    plugin.parent.mkdir()
    plugin.write_text(PLAYER)
    plugin.chmod(0o755)
    labs = tmp_path / "labs"
    labs.mkdir()
    monkeypatch.setenv("PLAYED_LABS", str(labs))
    return labs


@pytest.fixture
def stack(project: Path, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{state}")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "correct horse")
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    monkeypatch.setenv("PULUMI_SKIP_UPDATE_CHECK", "true")
    return Stack("lab", engine, project)


@pytest.fixture
def operator(engine: Path, tmp_path: Path) -> Operator:
    """Their Python is ours; beside it lies a plugin whose nodes are played."""
    bin_folder, plugins = tmp_path / "venv/bin", tmp_path / "plugins"
    bin_folder.mkdir(parents=True)
    plugins.mkdir()
    shutil.copy(Path(sys.prefix, "pyvenv.cfg"), bin_folder.parent)
    (bin_folder.parent / "lib").symlink_to(Path(sys.prefix, "lib"))
    (bin_folder / "python").symlink_to(Path(sys.executable).resolve())
    for file, text in (
        (bin_folder / "pulumi-resource-clusterwright", PLAYER),
        (plugins / "pulumi-resource-aws", ECHO),
        (plugins / "ssh", DOOR),
    ):
        file.write_text(text)
        file.chmod(0o755)
    (tmp_path / "labs").mkdir()
    own = {
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PATH": f"{plugins}:{engine.parent}:{os.environ['PATH']}",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "ECHO_LOG": str(tmp_path / "echo.log"),
        "DOOR_LOG": str(tmp_path / "door.log"),
        "PLAYED_LABS": str(tmp_path / "labs"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    others = {name: text for name, text in os.environ.items() if not name.startswith(("PULUMI_", "AWS_"))}
    return Operator(tmp_path, {**others, **own})
