"""The script that is the first to run on a machine: it waits for what a killed run before it began."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "playbooks" / "files" / "bootstrap-admit.sh"
WAITED = 'sleep() { echo "$1" >>waited; command sleep 0.02; }\n'
"""In place of five seconds."""


@pytest.mark.skipif(not shutil.which("dpkg"), reason="needs dpkg")
def test_a_dpkg_that_still_works_is_waited_for(tmp_path: Path) -> None:
    for folder in ("info", "updates"):
        (tmp_path / folder).mkdir()
    (tmp_path / "status").touch()
    found = re.search(r"^patiently\(\) .*?^}$", SCRIPT.read_text(), re.MULTILINE | re.DOTALL)
    assert found
    words = f"patiently dpkg --admindir={tmp_path} --force-not-root --configure --pending"
    with (tmp_path / "lock-frontend").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        script = subprocess.Popen(["sh", "-c", f"{WAITED}{found[0]}\n{words}"], cwd=tmp_path)
        while not (tmp_path / "waited").exists() and script.poll() is None:
            pass
        assert script.poll() is None, "it did not wait"
    assert script.wait(30) == 0
