"""All gates of a cluster, side by side: nodes prove themselves while jobs prove the scheduler."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from clusterwright.accept import (
    fabric,
    home,
    job_gates,
    jobs,
    node_gates,
    one_node,
    scheduler_gates,
    shares,
    slurm_text,
)
from clusterwright.accept.home import Exchange, Token
from clusterwright.accept.report import write
from clusterwright.accept.result import Acceptance, GateResult, GateStatus
from clusterwright.accept.session import NoAnswer, Session
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report, Status
from clusterwright.handoff import Handoff, Node

NODES_AT_ONCE = 32
JOBS_AT_ONCE = 4
"""sshd lets one multiplexed connection carry 10 sessions (MaxSessions)."""
RECORD_SECONDS = 15.0
"""slurmctld sends finished jobs to slurmdbd in the background."""
BATCH_SECONDS = 30.0
_STATUS: Mapping[GateStatus, Status] = {"pass": "ok", "fail": "failed", "skip": "skipped"}


def accept(
    handoff: Handoff,
    targets: Iterable[Target],
    *,
    units: Mapping[str, Sequence[str]],
    report: Report,
    run_dir: Path,
    before: Iterable[GateResult] = (),
) -> Acceptance:
    """Prove the cluster. Only reads, but for jobs on idle nodes and a short-lived folder in the shared home.

    `units` are the systemd units that must be active, by node; `before` is what was found before the gates
    and counts with them. Leaves `accept.json` and `accept.html` in `run_dir`. Never raises for a broken
    cluster: a node that is gone is a failed gate.
    """
    started, clock = time.time(), time.monotonic()
    reach = {target.name: target for target in targets}
    gates: list[GateResult] = []

    def say(results: Iterable[GateResult]) -> None:
        for result in results:
            gates.append(result)
            text = f"{result.name}: {result.seen}"
            report(Event("accept", _STATUS[result.status], text, result.node or None))

    say(before)
    exchange = Exchange({node.name: Future() for node in handoff.nodes})
    with ThreadPoolExecutor(NODES_AT_ONCE) as pool, ThreadPoolExecutor(1) as front:
        scheduler = front.submit(_cluster, handoff, reach, exchange)
        nodes = [
            pool.submit(_node, handoff, node, reach.get(node.name), units.get(node.name, ()), exchange)
            for node in handoff.nodes
        ]
        try:
            for pending in nodes:
                say(pending.result())
        finally:
            exchange.all_read.set()
        say(scheduler.result())
    simulated = any(site.get("simulated") for site in handoff.site.values())
    spent = round(time.monotonic() - clock, 3)
    acceptance = Acceptance(handoff.name, tuple(gates), round(started, 3), spent, simulated)
    write(acceptance, run_dir)
    return acceptance


def _node(
    handoff: Handoff, node: Node, target: Target | None, units: Sequence[str], exchange: Exchange
) -> list[GateResult]:
    started = time.monotonic()
    if target is None:
        exchange.answers[node.name].set_result(False)
        return [one_node.silent(node, "no address is known")]
    try:
        with Session(target) as session:
            skew = node_gates.time_skew(session, node)
            exchange.answers[node.name].set_result(True)
            results = [one_node.answered(node, started), skew]
            results += one_node.look(session, handoff, node, units)
            written = exchange.token.result()
            if written.folder:
                results.append(home.shared_home(session, node, written))
            return results
    except NoAnswer as error:
        return [one_node.silent(node, str(error))]
    finally:
        if not exchange.answers[node.name].done():
            exchange.answers[node.name].set_result(False)


def _cluster(handoff: Handoff, reach: Mapping[str, Target], exchange: Exchange) -> list[GateResult]:
    """Everything that is asked of Slurm, from where users log in."""
    entries = [*handoff.with_role("login"), *handoff.with_role("controller")]
    complaint = "no login node and no controller"
    try:
        for entry in entries:
            if entry.name not in reach:
                continue
            try:
                with Session(reach[entry.name]) as session:
                    return _scheduler(handoff, entry, session, partial(Session, reach[entry.name]), exchange)
            except NoAnswer as error:
                complaint = f"{entry.name}: {error}"
        remedy = "Bring a login node or the controller back first: nothing can be asked of Slurm"
        return [GateResult("scheduler", "", "fail", "a node to ask Slurm from", complaint, remedy)]
    finally:
        if not exchange.token.done():
            exchange.token.set_result(Token())


def _scheduler(
    handoff: Handoff, entry: Node, session: Session, connect: Callable[[], Session], exchange: Exchange
) -> list[GateResult]:
    written, results = _write_token(handoff, entry, session)
    if not exchange.token.done():
        exchange.token.set_result(written)
    try:
        return results + _slurm(handoff, session, connect, written, exchange.answers)
    finally:
        if written.folder:
            exchange.all_read.wait()
            home.remove_folder(session, written.user, written.folder)


def _slurm(
    handoff: Handoff,
    session: Session,
    connect: Callable[[], Session],
    token: Token,
    answers: Mapping[str, Future[bool]],
) -> list[GateResult]:
    planned = handoff.with_role("compute")
    asked = session.run("scontrol", "show", "nodes", "--oneliner")
    seen = slurm_text.nodes(asked.output)
    if asked.code:
        remedy = "Look at `systemctl status slurmctld` on the controller"
        return [GateResult("scheduler", "", "fail", "slurmctld answers", asked.complaint, remedy)]
    results = [scheduler_gates.membership(planned, seen)]
    results += [scheduler_gates.state(node, seen.get(node.name)) for node in planned]
    if token.folder:
        idle = [node for node in planned if node.name in seen and seen[node.name].idle]
        reached = [node for node in idle if answers[node.name].result()]
        results += _left_alone(planned, seen, {node.name for node in reached})
        groups = jobs.groups(handoff, reached)
        results += _jobs(handoff, groups, session, connect, token)
        results += _shares(handoff, token, groups, session, connect)
    return results


def _shares(
    handoff: Handoff,
    token: Token,
    groups: Sequence[jobs.Group],
    session: Session,
    connect: Callable[[], Session],
) -> list[GateResult]:
    """After all other jobs: a rate is measured on nodes that do nothing else."""
    entry = next(node for node in handoff.nodes if node.name == token.written_on)
    return shares.prove(handoff, entry, groups, session, connect, token)


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


def _jobs(
    handoff: Handoff,
    groups: Sequence[jobs.Group],
    session: Session,
    connect: Callable[[], Session],
    token: Token,
) -> list[GateResult]:
    if not groups:
        return []
    with_gpus = [group for group in groups if group.gpus]
    results = [job_gates.whole_nodes(group, jobs.whole(session, group, token)) for group in with_gpus]
    submitted = jobs.submit_batch(session, groups[0].partition, token)
    batch = submitted.output.split(";")[0].strip() if submitted.code == 0 else ""

    def isolate(group: jobs.Group) -> jobs.Trial:
        with connect() as own:
            return jobs.isolate(own, handoff, group, token)

    def contain(group: jobs.Group) -> jobs.Trial:
        with connect() as own:
            return jobs.contain(own, group, token)

    def reduce(group: jobs.Group) -> jobs.Trial:
        with connect() as own:
            return jobs.reduce(own, handoff, group, token)

    with ThreadPoolExecutor(JOBS_AT_ONCE) as pool:
        reducing = [pool.submit(reduce, group) for group in groups]  # takes no GPU: NCCL need not wait for it
        isolated = list(pool.map(isolate, with_gpus))
        if not all(trial.reports for trial in isolated):
            wait(reducing)
            jobs.cancel(session, token)
        contained = list(pool.map(contain, (group for group in with_gpus if _has_containers(handoff, group))))
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
    state, reason = _wait_for(session, batch) if batch else ("", "")
    output = session.run("cat", f"{token.folder}/batch.out", user=token.user).output if batch else ""
    results.append(job_gates.batch_job(submitted, batch, state, reason, output, token.user))
    if handoff.scheduler["accounting"]:
        recorded = batch if state == "COMPLETED" else ""
        results.append(_accounting(session, isolated + reduced, recorded, token.user))
    return results


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
