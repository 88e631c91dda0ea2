"""Parallel file systems as jobs see them: the same on every node, and as fast as the description says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clusterwright.accept import jobs
from clusterwright.accept.fabric_gates import REHEARSAL
from clusterwright.accept.home import PREFIX, STALE_MINUTES, Token
from clusterwright.accept.result import GateResult, judged
from clusterwright.accept.session import Session, program
from clusterwright.bundle.shares import PARALLEL, mounted
from clusterwright.handoff import Handoff, Node

JOB, RATE = "share-job", "share-rate"
AT_ONCE = 8
"""Nodes whose rate is measured, all at once: more of them would measure the servers and not the nodes."""
SECONDS = 180
_LOOK = "Look at `findmnt --target {0}` on the node, and at who may write there"
_SLOW = (
    "Compare with `fio` by hand on this and another node: if one is slow, look at its links and its client; "
    "if all are, at the servers, and at who else uses them"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of this run in one share."""

    path: str
    folder: str
    expected: int
    """Bytes a second that a node reads and writes at least; 0: not measured."""


def prove(
    handoff: Handoff,
    entry: Node,
    groups: Sequence[jobs.Group],
    session: Session,
    connect: Callable[[], Session],
    token: Token,
) -> list[GateResult]:
    """On idle nodes, a job each. The folders in the shares are removed again."""
    simulated = any(site.get("simulated") for site in handoff.site.values())
    places, results = _open(handoff, entry, session, token)
    try:
        for group in groups:
            here = [one for one in places if handoff.have_in_common(group.nodes[0], entry, one.path)]
            if not here:
                continue
            ran = _run(handoff, group, connect, token, here)
            for node in group.nodes:
                for place in here:
                    results += _judge(ran, node, place, simulated=simulated)
    finally:
        for place in places:
            session.run("rm", "-rf", place.folder)
    return results


def _open(
    handoff: Handoff, entry: Node, session: Session, token: Token
) -> tuple[list[Place], list[GateResult]]:
    """The run's folder in each share, made where users log in; by root, else by the user that jobs run as."""
    places, results = [], []
    for path, share in mounted(handoff, entry).items():
        if share["kind"] not in PARALLEL:
            continue
        folder = f"{path}/{PREFIX}{token.text}"
        script = (
            f'find "{path}" -maxdepth 1 -name "{PREFIX}*" -mmin +{STALE_MINUTES} -exec rm -rf {{}} +; '
            f'umask 077 && mkdir -p "{folder}" && echo {token.text} > "{folder}/token"'
        )
        made = session.run("sh", "-c", f'{script} && chown -R {token.user} "{folder}"')
        if made.code:
            made = session.run("sh", "-c", script, user=token.user)
        if made.code:
            what, seen = f"a folder in {path}", f"{token.user} may not write there: {made.complaint}"
            results.append(GateResult(JOB, entry.name, "skip", what, seen))
        else:
            places.append(Place(path, folder, int(share["throughput"] or 0)))
    return places, results


def _run(
    handoff: Handoff,
    group: jobs.Group,
    connect: Callable[[], Session],
    token: Token,
    places: Sequence[Place],
) -> jobs.Trial:
    chosen = group.nodes[:: max(1, len(group.nodes) // AT_ONCE)][:AT_ONCE]
    few = replace(group, nodes=chosen)
    cpus = min(16, *(handoff.hardware[node.machine].cpus for node in chosen))
    shape = [f"--nodelist={few.names}", f"--nodes={len(chosen)}", f"--ntasks={len(chosen)}"]
    shape += ["--ntasks-per-node=1", f"--cpus-per-task={cpus}", "--mem=4G"]
    rows = [{"path": one.path, "folder": one.folder, "expected": one.expected} for one in places]
    env = {"CLUSTERWRIGHT_SHARES": json.dumps(rows), "CLUSTERWRIGHT_TOKEN": token.text}
    command = ["/usr/bin/python3", "-c", program("share_rate")]
    with connect() as own:
        ran = jobs.start(own, few.partition, token, shape, command, env, SECONDS)
    return jobs.Trial(few, ran, jobs.json_lines(ran.output))


def _judge(trial: jobs.Trial, node: Node, place: Place, *, simulated: bool) -> list[GateResult]:
    if node not in trial.group.nodes:
        return []
    expected = f"a job on it shares {place.path} with the login nodes"
    spent = round(trial.ran.seconds, 3)
    report = next(
        (row for row in trial.reports if row["node"] == node.name and row["path"] == place.path), None
    )
    if report is None:
        if trial.taken:
            return [GateResult(JOB, node.name, "skip", expected, "other jobs took the idle nodes")]
        remedy = "Run a job there by hand, and look at slurmctld's and slurmd's logs"
        return [GateResult(JOB, node.name, "fail", expected, trial.ran.complaint, remedy, spent)]
    if report.get("error") and "write" not in report:
        seen, remedy = str(report["error"]), _LOOK.format(place.path)
        return [GateResult(JOB, node.name, "fail", expected, seen, remedy, spent)]
    shared = GateResult(JOB, node.name, "pass", expected, expected, seconds=spent)
    return [shared, _rate(report, node, place, simulated=simulated)] if place.expected else [shared]


def _rate(report: Mapping[str, Any], node: Node, place: Place, *, simulated: bool) -> GateResult:
    """Both directions reach what the description says of one node."""
    expected = f"{place.expected / 1e9:g} GB/s written and read at {place.path}"
    if report.get("absent"):
        return GateResult(RATE, node.name, "skip", expected, f"{report['absent']} is not installed")
    if report.get("error"):
        return GateResult(RATE, node.name, "fail", expected, str(report["error"]), _LOOK.format(place.path))
    write, read = float(report["write"]), float(report["read"])
    seen = f"{write / 1e9:.1f} GB/s written, {read / 1e9:.1f} read" + (f" ({REHEARSAL})" if simulated else "")
    figures = {"write_gb_s": round(write / 1e9, 3), "read_gb_s": round(read / 1e9, 3)}
    passed = min(write, read) >= place.expected
    result = judged(RATE, node.name, passed, expected=expected, seen=seen, remedy=_SLOW)
    return replace(result, figures=figures)
