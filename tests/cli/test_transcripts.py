"""What a person sees, word for word: each file in transcripts/ is a session that is played again.

`UPDATE_TRANSCRIPTS=1 pytest tests/cli` writes what is seen now; read the diff before you commit it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

import pytest
from command import environment

HERE = Path(__file__).parent
TRANSCRIPTS = sorted((HERE / "transcripts").glob("*.console"))


@pytest.fixture(scope="module")
def ready() -> Iterator[Popen[str]]:
    """What ready.py says of itself."""
    argv = [sys.executable, str(HERE / "ready.py")]
    with Popen(argv, env=environment(HERE), stdin=PIPE, stdout=PIPE, text=True) as process:
        yield process
        assert process.stdin
        process.stdin.close()


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(transcript: Path, tmp_path: Path, ready: Popen[str]) -> None:
    shutil.copytree(HERE / "files", tmp_path, dirs_exist_ok=True)
    expected = transcript.read_text()
    commands = [line[2:] for line in expected.splitlines() if line.startswith("$ ")]
    seen = "\n".join(_play(command, tmp_path, ready) for command in commands)
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        transcript.write_text(seen)
    assert seen == expected


def _play(command: str, home: Path, ready: Popen[str]) -> str:
    """A command that needs no shell is played without the time that each start of the program takes."""
    plain = command.startswith("clusterwright") and not set(command) & set("|&;<>$")
    said, code = _quickly(command, home, ready) if plain else _by_a_shell(command, home)
    ending = f"[exit {code}]\n" if code else ""
    return f"$ {command}\n{said}{ending}"


def _quickly(command: str, home: Path, ready: Popen[str]) -> tuple[str, int]:
    assert ready.stdin and ready.stdout
    said = home.with_name(f"{home.name}.said")
    said.unlink(missing_ok=True)
    asked = {"words": shlex.split(command), "environment": environment(home), "folder": str(home)}
    print(json.dumps({**asked, "output": str(said)}), file=ready.stdin, flush=True)
    code = int(ready.stdout.readline())
    return said.read_text(), code


def _by_a_shell(command: str, home: Path) -> tuple[str, int]:
    done = subprocess.run(
        ["bash", "-c", command],
        env=environment(home),
        cwd=home,
        stdout=PIPE,
        stderr=STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout, done.returncode
