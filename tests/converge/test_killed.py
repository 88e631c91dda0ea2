"""An operator's command that is killed leaves no Ansible behind, which would go on beside the next run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

PLAY = """\
- hosts: all
  gather_facts: false
  tasks:
    - name: Tell that it runs
      ansible.builtin.copy: {content: "", dest: FOLDER/runs, mode: "0600"}
    - name: Take long
      ansible.builtin.command: sleep 60
"""
COMMAND = """\
import sys
from pathlib import Path
from clusterwright.converge.runner import Run, link_collection

folder = Path(sys.argv[1])
link_collection(folder)
Run(folder, lambda event: None).play(str(folder / "play.yml"), folder / "hosts", ["here"])
"""


def runs_in(folder: Path) -> list[str]:
    """Processes of Ansible that work in this folder."""
    found = subprocess.run(
        ["pgrep", "--full", f"ansible-playbook .*{folder}"], capture_output=True, text=True
    )
    return found.stdout.split()


@pytest.mark.skipif(sys.platform != "linux", reason="needs prctl(2)")
def test_ansible_ends_with_the_command_that_started_it(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(PLAY.replace("FOLDER", str(tmp_path)))
    (tmp_path / "hosts").write_text(
        f"here ansible_connection=local ansible_python_interpreter={sys.executable}\n"
    )
    command = subprocess.Popen([sys.executable, "-c", COMMAND, str(tmp_path)])
    deadline = time.monotonic() + 120
    while not (tmp_path / "runs").exists():
        assert command.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    assert runs_in(tmp_path)
    command.kill()
    command.wait()
    deadline = time.monotonic() + 60
    while runs_in(tmp_path):
        assert time.monotonic() < deadline, "Ansible still runs"
        time.sleep(0.1)
