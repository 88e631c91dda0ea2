"""The agent's own runs: one after the other, with its own Python, and what the roles came to."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from clusterwright.bundle.publication import collection

from .world import AGENT, World

PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Change something
      ansible.builtin.command: "true"
      changed_when: true
    - name: Stop here
      ansible.builtin.fail: {msg: the fan stands still}
      when: broken | default(false) | bool
"""


def test_one_run_follows_the_other(agent: ModuleType, world: World) -> None:
    """The timer's and one by hand once removed each other's inventory."""
    root = str(world.node("gpu-001"))
    world.publish()
    world.sign({"cluster": "other"})
    with agent.alone(root):
        argv = [sys.executable, str(AGENT), "--root", root]
        second = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert second.stdout
        assert second.stdout.readline() == "another run is at work; this one follows\n"
    said, _ = second.communicate(timeout=60)
    assert "refused the pointer is of another cluster" in said


def test_run_of_the_roles_says_what_it_came_to(agent: ModuleType, tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(collection())) as tar:
        tar.extractall(tmp_path / "tree", filter="data")
    run = tmp_path / "run"
    run.mkdir()
    (run / "hosts.json").write_text(json.dumps({"all": {"hosts": {"here": {"ansible_connection": "local"}}}}))
    (run / "play.yml").write_text(PLAYBOOK)
    play = agent.Play(str(run), sys.executable, str(tmp_path / "tree"))
    assert play.run(str(run / "play.yml")) == 1
    with pytest.raises(agent.Failed, match="Stop here: the fan stands still"):
        play.run(str(run / "play.yml"), {"broken": True})
    with pytest.raises(agent.Failed, match="absent"):
        play.run("absent.yml")


def test_python_is_made_of_wheels_whole_or_not_at_all(agent: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "small-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("small.py", "WORDS = 'here'")
    with pytest.raises(zipfile.BadZipFile):
        agent.make_python(str(tmp_path / "python"), [str(AGENT)])
    assert not list(tmp_path.glob("python*"))
    agent.make_python(str(tmp_path / "python"), [str(wheel)])
    argv = [str(tmp_path / "python/bin/python3"), "-c", "import small; print(small.WORDS)"]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "here\n"


def test_needed_wheels_are_what_ansible_requires() -> None:
    from importlib.metadata import requires

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    from clusterwright.operate.pull.wheels import NEEDED, lock

    found, left = set[str](), ["ansible-core", "pyrage"]
    while left:
        name = left.pop()
        found.add(name)
        rows = (Requirement(row) for row in requires(name) or ())
        left += [
            canonicalize_name(row.name)
            for row in rows
            if (row.marker is None or row.marker.evaluate({"extra": "", "python_version": "3.12"}))
            and canonicalize_name(row.name) not in found
        ]
    assert found == set(NEEDED)
    assert [row.partition("=")[0] for row in lock().splitlines() if "==" in row] == list(NEEDED)
