"""Somebody with a description and a cloud that is played: the real command on the real engine."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

ROOT = Path(__file__).parents[2]
ECHO = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.engine.echo import main
main()
"""
CLOUDY = """
cluster: cloudy
converge: pull
site:
  provider: aws
  region: us-east-2
  zone: us-east-2a
  network: 10.40.0.0/22
  vpc:
    id: vpc-0123456789abcdef0
    nodes: subnet-0123456789abcdef0
    services: subnet-0123456789abcdef1
    s3_endpoint: vpce-0123456789abcdef0
pools:
  head: {roles: [controller, login], machine: m7i.large}
  gpu: {roles: compute, machine: g5.4xlarge, nodes: "gpu[1-2]"}
"""
DOOR = r"""#!/bin/sh
# Slurm with one node, behind a cloud's door: the last word is the command.
for command; do :; done
echo "$command" >> "$DOOR_LOG"
state="$(dirname "$DOOR_LOG")/slurm"
case "$command" in
    *journalctl*) echo "slurmd: the node says this" ;;
    *"state=drain "*) echo drained > "$state" ;;
    *state=down*) echo down > "$state" ;;
    *state=resume*) echo idle > "$state" ;;
    *sinfo*) echo "gpu1|$(cat "$state" 2>/dev/null || echo idle)|none" ;;
esac
"""
COMMAND = "import sys; from clusterwright.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Operator:
    """Somebody with a description, a machine of their own and a cloud that is played."""

    root: Path
    environment: dict[str, str]

    def start(self, *words: str) -> subprocess.Popen[str]:
        argv = [str(self.root / "venv/bin/python"), "-c", COMMAND, *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv,
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, code: int = 0) -> tuple[str, str]:
        """What it says: to standard output, and to standard error."""
        with self.start(*words) as process:
            output, errors = process.communicate(timeout=900)
        assert process.returncode == code, output + errors
        return output, errors

    def describe(self, text: str) -> None:
        (self.root / "cloudy.yaml").write_text(text)

    def held_at(self, title: str, *words: str) -> subprocess.Popen[str]:
        """An `up`, or another verb, that goes no further than this resource."""
        (self.root / "SLOW").write_text(title)
        before, process = self.made(title), self.start(*(words or ("up", "cloudy.yaml")))
        until = time.monotonic() + 600
        while self.made(title) == before:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.1)
        return process

    def interrupt(self, process: subprocess.Popen[str]) -> str:
        """All that it says of it; what held it is taken away once it has heard, and not before."""
        assert process.stderr
        process.send_signal(signal.SIGINT)
        said, deaf = [], Timer(600, process.kill)
        deaf.start()
        for line in process.stderr:
            said.append(line)
            if "interrupted: " in line:
                (self.root / "SLOW").unlink()
        deaf.cancel()
        process.wait()
        return "".join(said)

    @property
    def deeds(self) -> str:
        log = self.root / "echo.log"
        return log.read_text() if log.exists() else ""

    @property
    def door(self) -> str:
        """What was run on nodes."""
        return (self.root / "door.log").read_text()

    def made(self, title: str) -> int:
        """How often it was begun."""
        return len(re.findall(f"^create .*:{title}$", self.deeds, re.MULTILINE))

    @property
    def state(self) -> Path:
        return self.root / "state/clusterwright/clusters/cloudy"
