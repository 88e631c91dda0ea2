"""What only a cluster can show: Slurm's view of its nodes, jobs, accounting. Asked from one of its nodes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from clusterwright.accept import fabric, home, job_gates, jobs, scheduler_gates, shares, slurm_text
from clusterwright.accept.home import Token
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Session
from clusterwright.event import Event, Report
from clusterwright.handoff import Handoff, Node

JOBS_AT_ONCE = 4
"""sshd lets one multiplexed connection carry 10 sessions (MaxSessions)."""
RECORD_SECONDS = 15.0
"""slurmctld sends finished jobs to slurmdbd in the background."""
BATCH_SECONDS = 30.0
BEGIN_SECONDS = 5.0
"""What srun and salloc ask for begins at once, or not soon."""
END_SECONDS = 30.0
"""How long the last job's epilog may keep the acceptance from its end."""


class Others(Protocol):
    """How the node that asks Slurm meets all others."""

    def opened(self, token: Token) -> None:
        """The folder in the shared home is there; a token without one says that it could not be made."""

    def reach(self, idle: Sequence[Node]) -> tuple[list[Node], list[GateResult]]:
        """Those that answer. A node that is gone may still be idle to Slurm, and a job there would hang."""

    def finish(self) -> None:
        """Returns once nobody needs the folder."""


@dataclass(frozen=True, slots=True)
class Front:
    """The node that asks Slurm, in one run of the gates."""

    handoff: Handoff
    entry: Node
    session: Session
    connect: Callable[[], Session]
    """For what goes on beside `session`."""
    token: Token
    report: Report

    def tell(self, gates: str) -> None:
        self.report(Event("accept", "progress", gates))


def prove(
    handoff: Handoff, entry: Node, connect: Callable[[], Session], others: Others, report: Report
) -> list[GateResult]:
    """Every gate over several nodes. Raises NoAnswer where the entry does not answer."""
    with connect() as session:
        written, results = _write_token(handoff, entry, session)
        others.opened(written)
        front = Front(handoff, entry, session, connect, written, report)
        try:
            return results + _slurm(front, others)
        finally:
            if written.folder:
                others.finish()
                home.remove_folder(session, written.user, written.folder)


def _slurm(front: Front, others: Others) -> list[GateResult]:
    handoff, session = front.handoff, front.session
    planned = handoff.with_role("compute")
    asked = session.run("scontrol", "show", "nodes", "--oneliner")
    seen = slurm_text.nodes(asked.output)
    if asked.code:
        remedy = "Look at `systemctl status slurmctld` on the controller"
        return [GateResult("scheduler", "", "fail", "slurmctld answers", asked.complaint, remedy)]
    results = [scheduler_gates.membership(planned, seen), *_controllers(front)]
    results += [scheduler_gates.state(node, seen.get(node.name)) for node in planned]
    if front.token.folder:
        idle = [node for node in planned if node.name in seen and seen[node.name].idle]
        reached, found = others.reach(idle)
        results += found
        results += _left_alone(planned, seen, {node.name for node in reached})
        groups = jobs.groups(handoff, reached)
        results += _jobs(front, groups)
        front.tell("share-job, share-rate")
        # After all other jobs: a rate is measured on nodes that do nothing else.
        results += shares.prove(handoff, front.entry, groups, session, front.connect, front.token)
        _wait_until_ended(session, front.token)
    return results


def _controllers(front: Front) -> list[GateResult]:
    """Of one, the answers to everything else tell."""
    controllers = front.handoff.with_role("controller")
    if len(controllers) < 2:
        return []
    return scheduler_gates.controllers(controllers, front.session.run("scontrol", "ping").output)


def _write_token(handoff: Handoff, entry: Node, session: Session) -> tuple[Token, list[GateResult]]:
    people, text = sorted(handoff.cluster["users"]), secrets.token_hex(6)
    expected = "a user whose home is there, to run jobs as"
    user = home.job_user(session, people)
    if not user:
        remedy = "Name a user in the description, and run `clusterwright up`"
        fault = GateResult("job-user", entry.name, "fail", expected, "none", remedy)
        return Token(), [fault]
    folder, ran = home.open_folder(session, user, text)
    if ran.code:
        remedy = f"The home of {user} must be writable for {user}: look at its owner and mode"
        fault = GateResult("shared-home", entry.name, "fail", "a writable home", ran.complaint, remedy)
        return Token(), [fault]
    return Token(user, folder, text, entry.name), []


def _jobs(front: Front, groups: Sequence[jobs.Group]) -> list[GateResult]:
    if not groups:
        return []
    handoff, session, connect, token = front.handoff, front.session, front.connect, front.token
    with_gpus = [group for group in groups if group.gpus]
    results = [job_gates.whole_nodes(group, jobs.whole(session, group, token)) for group in with_gpus]

    def isolate(group: jobs.Group) -> jobs.Trial:
        with connect() as own:
            return jobs.isolate(own, handoff, group, token)

    def contain(group: jobs.Group) -> jobs.Trial:
        with connect() as own:
            return jobs.contain(own, group, token)

    def reduce(group: jobs.Group) -> jobs.Trial:
        with connect() as own:
            return jobs.reduce(own, handoff, group, token)

    front.tell("batch-job, all-reduce, gpu-isolation")
    with ThreadPoolExecutor(JOBS_AT_ONCE) as pool:
        reducing = [pool.submit(reduce, group) for group in groups]  # takes no GPU: NCCL need not wait for it
        isolating = [pool.submit(isolate, group) for group in with_gpus]
        _let_begin(session, token, [*reducing, *isolating][:JOBS_AT_ONCE])
        home_there = _with_this_home(front, groups)
        submitted = jobs.submit_batch(session, home_there.partition, token) if home_there else None
        batch = submitted.output.split(";")[0].strip() if submitted and submitted.code == 0 else ""
        isolated = [pending.result() for pending in isolating]
        if not all(trial.reports for trial in isolated):
            wait(reducing)
            jobs.cancel(session, token)
        able = [group for group in with_gpus if _has_containers(handoff, group)]
        if able:
            front.tell("container")
        contained = list(pool.map(contain, able))
        front.tell("nccl-node, nccl-fabric")
        proven = fabric.prove(handoff, with_gpus, connect, token)
        reduced = [pending.result() for pending in reducing]
    refused: set[str] = set()
    if not all(trial.reports for trial in isolated + reduced):
        jobs.cancel(session, token)
        refused = _drained(session)
    for trial in isolated:
        results += job_gates.gpu_isolation(handoff, trial, refused)
    results += [job_gates.all_reduce(trial) for trial in reduced]
    for trial in contained:
        results += job_gates.container(trial)
    results += proven
    front.tell("batch-job, accounting")
    state, reason = _wait_for(session, batch) if batch else ("", "")
    output = session.run("cat", f"{token.folder}/batch.out", user=token.user).output if batch else ""
    if submitted is None:
        seen = f"every compute node has another home than {front.entry.name}"
        results.append(GateResult("batch-job", "", "skip", "a batch job that writes at home", seen))
    else:
        results.append(job_gates.batch_job(submitted, batch, state, reason, output, token.user))
    if handoff.scheduler["accounting"]:
        recorded = batch if state == "COMPLETED" else ""
        results.append(_accounting(session, isolated + reduced, recorded, token.user))
    return results


def _with_this_home(front: Front, groups: Sequence[jobs.Group]) -> jobs.Group | None:
    """What a batch job writes at home is read where people log in: nodes of another site may have another."""
    return next(
        (group for group in groups if front.handoff.have_in_common(group.nodes[0], front.entry)), None
    )


def _let_begin(session: Session, token: Token, asked: Sequence[Future[jobs.Trial]]) -> None:
    """Until these jobs have begun. What srun asks for begins at once, but not behind a batch job that waits:
    then both begin with the next round of Slurm's scheduler, in up to three seconds (`batch_sched_delay`)."""
    deadline = time.monotonic() + BEGIN_SECONDS
    while time.monotonic() < deadline:
        begun = jobs.begun(session, token)
        if begun + sum(pending.done() for pending in asked) >= len(asked):
            return
        time.sleep(0.1)


def _wait_until_ended(session: Session, token: Token) -> None:
    """A job's epilog runs on behind srun; while it does, its node is not idle, and nobody may replace it."""
    deadline = time.monotonic() + END_SECONDS
    while jobs.left(session, token) and time.monotonic() < deadline:
        time.sleep(0.1)


def _drained(session: Session) -> set[str]:
    """Nodes that were idle and take no job now: the health check, or a prolog, found a fault."""
    asked = session.run("scontrol", "show", "nodes", "--oneliner")
    return {name for name, node in slurm_text.nodes(asked.output).items() if not node.healthy}


def _has_containers(handoff: Handoff, group: jobs.Group) -> bool:
    """A runtime, and what gives it GPUs: not instances, which CDI names by another number than Slurm."""
    stacks = handoff.software["stacks"]
    toolkit = all("container_toolkit" in stacks.get(node.pool, {}) for node in group.nodes)
    return bool(handoff.software["containers"]) and toolkit and group.kind == "gpu"


def _left_alone(
    planned: Sequence[Node], seen: Mapping[str, slurm_text.SlurmNode], used: Container[str]
) -> list[GateResult]:
    """Say of every node without a job gate why it has none."""
    left = [node.name for node in planned if node.name in seen and node.name not in used]
    why = {name: "does not answer" if seen[name].idle else f"is {seen[name].state.lower()}" for name in left}
    return [GateResult("jobs", name, "skip", "an idle node", f"left alone: it {why[name]}") for name in left]


def _wait_for(session: Session, job: str) -> tuple[str, str]:
    deadline = time.monotonic() + BATCH_SECONDS
    while True:
        shown = session.run("scontrol", "show", "job", job, "--oneliner")
        state, reason = slurm_text.job_state(shown.output)
        if state not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING"):
            return state, reason
        if time.monotonic() > deadline:
            session.run("scancel", job)
            return state, reason
        time.sleep(0.1)


def _accounting(session: Session, trials: Sequence[jobs.Trial], batch: str, user: str) -> GateResult:
    numbers = [trial.job for trial in trials if trial.job] + ([batch] if batch else [])
    deadline = time.monotonic() + RECORD_SECONDS
    query = ["sacct", "--allocations", "--parsable2", "--noheader", f"--jobs={','.join(numbers)}"]
    query.append(f"--format={','.join(slurm_text.JOB_FIELDS)}")
    while True:
        records = slurm_text.records(session.run(*query).output) if numbers else {}
        ended = {job for job, record in records.items() if record.state not in ("", "PENDING", "RUNNING")}
        if ended >= set(numbers) or time.monotonic() > deadline:
            return job_gates.accounting(trials, batch, records, user)
        time.sleep(0.1)
