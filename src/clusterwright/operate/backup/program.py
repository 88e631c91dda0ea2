"""The controller's own program for backups, and what it answers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen

from clusterwright.accept.backup import PROGRAM
from clusterwright.finding import Finding, Where, refuse
from clusterwright.operate.remote import Reached, run_on

_NOT_THERE = 127
_WORDS = 400


@dataclass(frozen=True, slots=True)
class Backup:
    """One of them. `jobs`: how many waited and ran, where Slurm told."""

    name: str
    whole: bool
    problem: str = ""
    cluster: str = ""
    taken: str = ""
    bytes: int = 0
    release: str = ""
    jobs: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """What a controller says of its backups. `hold` and `why`: what keeps slurmctld from starting."""

    folder: str
    every: int
    keep: int
    hold: str
    why: str
    late: bool
    problem: str
    backups: tuple[Backup, ...]

    @property
    def whole(self) -> tuple[Backup, ...]:
        return tuple(backup for backup in self.backups if backup.whole)

    @property
    def words(self) -> str:
        """The state of things on one line."""
        if self.hold:
            return f"slurmctld does not start: {self.why}"
        last = f"the last one is of {self.whole[-1].taken}" if self.whole else "there is none"
        if self.late:
            return f"overdue: {self.problem or last}"
        return f"{len(self.whole)} whole, {last}"


def overview(controller: Reached) -> Overview:
    """Raises Refused where the controller does not answer, or has no such program."""
    answer = run_on(controller, f"{PROGRAM} list")
    if answer.code == _NOT_THERE:
        remedy = "Say in `scheduler.backup` where to, and run `clusterwright up`"
        raise refuse("CW8261", Where(path=controller.name), "the controller takes no backups", remedy)
    if answer.code:
        said = (answer.error or answer.output).strip()[-_WORDS:] or "it says nothing"
        remedy = "Look at `clusterwright status`: the controller must answer first"
        raise refuse("CW8265", Where(path=controller.name), f"it cannot be asked: {said}", remedy)
    body = json.loads(answer.output)
    return Overview(**{**body, "backups": tuple(Backup(**row) for row in body["backups"])})


def follow(controller: Reached, words: str, say: Callable[[str], None]) -> str:
    """Run the program and tell what it says; its complaint where it failed, else nothing."""
    # A file, not a pipe: an SSH master that stays behind inherits standard error and would keep a pipe open.
    with tempfile.TemporaryFile(mode="w+", errors="replace") as errors:
        argv = controller.argv(f"{PROGRAM} {words}")
        with Popen(argv, stdin=DEVNULL, stdout=PIPE, stderr=errors, text=True, errors="replace") as process:
            for line in process.stdout or ():
                say(line.rstrip("\n"))
        errors.seek(0)
        complaint = errors.read().strip()[-_WORDS:]
    return (complaint or "it says nothing") if process.returncode else ""


def waiting(controller: Reached, cluster: str) -> Finding | None:
    """Why slurmctld does not start there; None where nothing keeps it."""
    answer = run_on(controller, f"test ! -e /var/lib/clusterwright/hold.json || {PROGRAM} list")
    if answer.code or not answer.output.strip():
        return None
    why = json.loads(answer.output)["why"] or "it looks for a backup"
    remedy = f"Run `clusterwright backup restore {cluster}`, then `clusterwright up {cluster}`"
    return Finding("CW8260", Where(path=controller.name), f"slurmctld does not start: {why}", remedy)
