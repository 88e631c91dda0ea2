"""`clusterwright backup`: what only the controller has, saved and brought back."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.event import Report
    from clusterwright.operate.backup.program import Backup, Overview
    from clusterwright.operate.backup.work import Loss
    from clusterwright.operate.queue import Queue

_ABOUT = """Save what only the controller has, or bring it back.

That is Slurm's queue, its node states and its accounting database. The controller saves them by itself
as `scheduler.backup` says. One that was made anew does not start slurmctld before its state is restored,
so that jobs which nodes still run go on."""


def add(verbs: Verbs) -> None:
    parser = verbs.add("backup", None, _ABOUT, examples={"clusterwright backup restore lab": "at 3 a.m."})
    actions = Verbs(parser, "what to do")
    _now(actions)
    _list(actions)
    _restore(actions)


def _now(actions: Verbs) -> None:
    parser = actions.add(
        "now",
        _run_now,
        "Take a backup now.\n\nBefore work on the controller, say. Nobody's job notices.",
        examples={"clusterwright backup now lab": ""},
    )
    add_target(parser)


def _list(actions: Verbs) -> None:
    parser = actions.add(
        "list",
        _run_list,
        "Show the backups that are there.\n\nExits with 1 when the last whole one is older than twice its "
        "interval, or the controller waits for one.",
        examples={"clusterwright backup list lab": "", "clusterwright backup list lab --json": ""},
    )
    add_target(parser)


def _restore(actions: Verbs) -> None:
    parser = actions.add(
        "restore",
        _run_restore,
        "Bring the controller's state back from a backup.\n\n"
        "It says first what is lost, and asks. Slurm stands still meanwhile; jobs on nodes go on. What the\n"
        "controller has now is saved first, so that this can be taken back. Without a BACKUP: the last one.",
        resumes=True,
        examples={
            "clusterwright backup restore lab": "the last one, after a question",
            "clusterwright backup restore lab 20261122T060000Z --yes": "this one, without",
            "clusterwright backup restore lab --none": "begin a new controller with an empty queue",
        },
    )
    add_target(parser)
    parser.add_argument("backup", metavar="BACKUP", nargs="?", help="its name in `backup list`")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--discard", action="store_true", help="do not save first what is there now")
    parser.add_argument("--none", action="store_true", help="restore nothing: begin with an empty queue")


def _queue(target: str, report: Report) -> Queue:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.stack.known import known, on_cloud
    from clusterwright.operate.stack.way import OnCloud

    far = on_cloud(target)
    return (OnCloud(known(far, report)) if far else Cluster.named(target)).queue()


def _run_now(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.backup.work import take

    with progress(as_json=arguments.json) as report:
        taken = take(_queue(arguments.cluster, report), report)
    if arguments.json:
        print(json.dumps({"outcome": {"ok": True, "backup": asdict(taken)}}))
    else:
        print(f"{taken.name}: {_size(taken)}, {_jobs(taken)}")
    return FINE


def _run_list(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.backup.program import overview

    with progress(as_json=arguments.json) as report:
        found = overview(_queue(arguments.cluster, report).controller)
    if arguments.json:
        print(json.dumps(asdict(found), indent=1))
    else:
        _print(found)
    return FAILED if found.late or found.hold else FINE


def _run_restore(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.cli.terminal.question import agreed
    from clusterwright.operate.backup.program import overview
    from clusterwright.operate.backup.work import begin_empty, chosen, loss, restore

    silent = arguments.json
    with progress(as_json=silent) as report:
        queue = _queue(arguments.cluster, report)
        found = overview(queue.controller)
        lost = (
            None
            if arguments.none
            else loss(queue, found, chosen(found, arguments.backup, queue.controller.name))
        )
    _warn(lost)
    if not agreed("Go on?", yes=arguments.yes, as_json=silent):
        print("nothing was done")
        return FAILED
    with progress(as_json=silent) as report:
        if lost is None:
            begin_empty(queue, report)
            body: dict[str, object] = {"backup": None}
        else:
            body = asdict(restore(queue, lost.backup, report, discard=arguments.discard))
    print(json.dumps({"outcome": {"ok": True, **body}}) if silent else _ending(body))
    return FINE


def _warn(lost: Loss | None) -> None:
    """What a person has to know before the question; a pipeline finds it beside its output."""
    if lost is None:
        words = "The queue will be empty: jobs that nodes still run are ended, and job numbers begin anew."
    elif lost.fresh:
        words = f"Backup of {lost.backup.taken}: {_jobs(lost.backup)}. What came after it is lost."
    else:
        jobs = f", and jobs {', '.join(lost.jobs)} are lost" if lost.jobs else ""
        of = f"Backup of {lost.backup.taken}: {_jobs(lost.backup)}"
        words = f"{of}. What Slurm has learnt since is taken back{jobs}."
    print(words, file=sys.stderr)


def _ending(body: dict[str, object]) -> str:
    if body["backup"] is None:
        return "slurmctld has begun with an empty queue"
    return f"{body['running']} jobs run and {body['pending']} wait"


def _print(found: Overview) -> None:
    from clusterwright.cli.terminal.table import print_table

    print(f"{found.folder}: {found.words}")
    if not found.backups:
        return
    print()
    heads = ("BACKUP", "TAKEN", "SIZE", "SLURM", "JOBS", "PROBLEM")
    rows = (
        (one.name, one.taken, _size(one), one.release, _jobs(one), one.problem) if one.whole
        else (one.name, "", "", "", "", one.problem)
        for one in found.backups
    )  # fmt: skip
    print_table(heads, rows)


def _size(backup: Backup) -> str:
    for unit, bytes_of in (("GB", 10**9), ("MB", 10**6)):
        if backup.bytes >= bytes_of:
            return f"{backup.bytes / bytes_of:.1f} {unit}"
    return f"{backup.bytes / 1000:.0f} kB"


def _jobs(backup: Backup) -> str:
    if backup.jobs is None:
        return "jobs not counted"
    return f"{backup.jobs['running']} running, {backup.jobs['pending']} waiting"
