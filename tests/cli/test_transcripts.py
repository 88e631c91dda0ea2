"""What a person sees, word for word: each file in transcripts/ is a session that is played again.

`UPDATE_TRANSCRIPTS=1 pytest tests/cli` writes what is seen now; read the diff before you commit it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command import environment

HERE = Path(__file__).parent
TRANSCRIPTS = sorted((HERE / "transcripts").glob("*.console"))


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(transcript: Path, tmp_path: Path) -> None:
    shutil.copytree(HERE / "files", tmp_path, dirs_exist_ok=True)
    expected = transcript.read_text()
    commands = [line[2:] for line in expected.splitlines() if line.startswith("$ ")]
    seen = "\n".join(_play(command, tmp_path) for command in commands)
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        transcript.write_text(seen)
    assert seen == expected


def _play(command: str, home: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        env=environment(home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    ending = f"[exit {done.returncode}]\n" if done.returncode else ""
    return f"$ {command}\n{done.stdout}{ending}"
