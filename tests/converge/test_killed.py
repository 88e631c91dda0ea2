"""An operator's command that is killed leaves no Ansible behind, which would go on beside the next run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PLAY = """\
- hosts: all
  gather_facts: false
  tasks:
    - name: Take long
      ansible.builtin.command: sh -c 'touch FOLDER/runs; sleep 600'
"""
COMMAND = """\
import sys
from pathlib import Path
from clusterwright.converge.runner import Run, link_collection

folder = Path(sys.argv[1])
link_collection(folder)
Run(folder, lambda event: None).play(str(folder / "play.yml"), folder / "hosts", ["here"])
"""


def processes(*words: str) -> list[int]:
    found = subprocess.run(["pgrep", *words], capture_output=True, text=True, check=False)
    return [*map(int, found.stdout.split())]


@pytest.mark.skipif(sys.platform != "linux", reason="needs prctl(2)")
@pytest.mark.parametrize("killed", ["the command", "Ansible"])
def test_ansible_and_its_workers_end_with_the_command_that_started_it(tmp_path: Path, killed: str) -> None:
    """Killed for good, Ansible has no time to tell its workers, as where it is just forking one."""
    (tmp_path / "play.yml").write_text(PLAY.replace("FOLDER", str(tmp_path)))
    (tmp_path / "hosts").write_text(
        f"here ansible_connection=local ansible_python_interpreter={sys.executable}\n"
    )
    command = subprocess.Popen([sys.executable, "-c", COMMAND, str(tmp_path)])
    deadline = time.monotonic() + 300
    while not (tmp_path / "runs").exists():
        assert command.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    [ansible] = processes("--parent", str(command.pid), "--full", "ansible_playbook.py")
    os.kill(command.pid if killed == "the command" else ansible, signal.SIGKILL)
    command.wait()
    while left := processes("--full", str(tmp_path)):
        assert time.monotonic() < deadline, f"{left} still run"
        time.sleep(0.1)
