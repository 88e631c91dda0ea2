"""Take a backup, and restore one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from clusterwright.event import Event, Report
from clusterwright.finding import Where, refuse
from clusterwright.operate.admit import REGISTER_SECONDS
from clusterwright.operate.backup.program import Backup, Overview, follow, overview
from clusterwright.operate.queue import Queue
from clusterwright.operate.remote import Reached, run_on

_STOP_SECONDS = 150.0
_QUEUED = "TZ=UTC squeue --noheader --states=PENDING,RUNNING,SUSPENDED --format='%A %V'"


@dataclass(frozen=True, slots=True)
class Loss:
    """What is there and not in a backup. `jobs`: those in the queue now that were submitted after it."""

    backup: Backup
    jobs: tuple[str, ...]
    fresh: bool
    """Whether the controller has nothing that could be lost."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What Slurm knows after a restore."""

    backup: Backup
    pending: int
    running: int


def take(queue: Queue, report: Report) -> Backup:
    """Raises Refused with the controller's words where it could not."""
    overview(queue.controller)
    report(Event("backup", "started", "jobs, node states and the accounting database"))
    said: list[str] = []
    if complaint := follow(queue.controller, "take", said.append):
        remedy = "Mend what it says; `clusterwright backup list` shows what is there"
        raise refuse("CW8264", Where(path=queue.controller.name), complaint, remedy)
    taken = Backup(**json.loads(said[-1]))
    report(Event("backup", "ok", taken.name))
    return taken


def chosen(found: Overview, name: str | None, controller: str) -> Backup:
    """The one with this name, else the last whole one. Raises Refused where there is none."""
    if name is None and found.whole:
        return found.whole[-1]
    for backup in found.backups:
        if backup.name == name and backup.whole:
            return backup
        if backup.name == name:
            raise refuse("CW8262", Where(path=controller), backup.problem, "Take another one")
    what = f"there is no backup {name}" if name else found.problem or "there is no backup"
    remedy = f"`clusterwright backup list` shows those in {found.folder}"
    raise refuse("CW8262", Where(path=controller), what, remedy)


def loss(queue: Queue, found: Overview, backup: Backup) -> Loss:
    if found.hold:
        return Loss(backup, (), fresh=True)
    answer = run_on(queue.controller, _QUEUED)
    rows = [line.split() for line in answer.output.splitlines()] if answer.code == 0 else []
    return Loss(backup, tuple(row[0] for row in rows if len(row) == 2 and f"{row[1]}Z" > backup.taken), False)


def restore(queue: Queue, backup: Backup, report: Report, *, discard: bool = False) -> Restored:
    """Raises Refused with the controller's words where it could not; slurmctld may stand still then."""
    words = shlex.join(["restore", backup.name, *(["--discard"] if discard else [])])
    stopped = [] if _led_elsewhere(queue) else stop_others(queue, report)
    _run(queue, words, report)
    for other in stopped:
        run_on(other, "systemctl start --no-block slurmctld")
    queue.answered()
    queue.wait_until_heard(REGISTER_SECONDS)
    states = _states(queue)
    restored = Restored(backup, states.count("PENDING"), states.count("RUNNING"))
    report(Event("restore", "ok", f"{restored.running} jobs run, {restored.pending} wait"))
    return restored


def begin_empty(queue: Queue, report: Report) -> None:
    """Have slurmctld start with an empty queue on a controller that waits for a backup."""
    _run(queue, "begin-empty", report)
    queue.answered()
    report(Event("restore", "ok", "slurmctld has begun with an empty queue"))


def _led_elsewhere(queue: Queue) -> bool:
    """Whether another controller goes on with the queue, and only the database is to come back."""
    return bool(queue.others) and overview(queue.controller).hold == "waiting" and bool(queue.states())


def stop_others(queue: Queue, report: Report) -> list[Reached]:
    """Those that would take over meanwhile. Raises Refused for one that runs and cannot be stopped."""
    stopped = []
    for other in queue.others:
        if run_on(other, "systemctl stop slurmctld", timeout=_STOP_SECONDS).code == 0:
            report(Event("restore", "progress", "slurmctld stands still", other.name))
            stopped.append(other)
        elif f" at {other.name} is UP" in run_on(queue.controller, "scontrol ping").output:
            remedy = "Switch that machine off, then run the same command again"
            what = "its slurmctld runs, cannot be stopped from here, and would take over meanwhile"
            raise refuse("CW8306", Where(path=other.name), what, remedy)
    return stopped


def _run(queue: Queue, words: str, report: Report) -> None:
    report(Event("restore", "started", words))
    complaint = follow(queue.controller, words, lambda said: report(Event("restore", "progress", said)))
    if complaint:
        remedy = "Mend what it says, and run the same command again; `clusterwright backup list` shows others"
        raise refuse("CW8263", Where(path=queue.controller.name), complaint, remedy)


def _states(queue: Queue) -> Sequence[str]:
    answer = run_on(queue.controller, "squeue --noheader --states=PENDING,RUNNING --format=%T")
    return answer.output.split()
