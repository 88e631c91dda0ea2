"""Other nodes met through Slurm alone: a job on each reads what the entry wrote into the shared home."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from clusterwright.accept import jobs
from clusterwright.accept.home import Token, read_there
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Ran, Session
from clusterwright.handoff import Handoff, Node

ANSWERS = "a job starts on it"
ALONE_AT_ONCE = 8
SECONDS = 15.0
# A shell drops zeros, which say that the server takes new data for a hole.
_READ = 'printf "%s %s\\n" "$SLURMD_NODENAME" "$(cat "$1"/token 2>&1 | tr "\\000" 0)"'
_SILENT = "Look at slurmd on it, and at slurmctld's log; `clusterwright logs` shows its console"


class ByJobs:
    """One job over all idle nodes of a group; where some are silent, one of its own on each of those."""

    def __init__(self, handoff: Handoff, connect: Callable[[], Session]) -> None:
        self._handoff = handoff
        self._connect = connect
        self._token = Token()

    def opened(self, token: Token) -> None:
        self._token = token

    def finish(self) -> None:
        """Every job that reads it has ended."""

    def reach(self, idle: Sequence[Node]) -> tuple[list[Node], list[GateResult]]:
        answering: list[Node] = []
        results: list[GateResult] = []
        for group in jobs.groups(self._handoff, idle):
            ran, read = self._ask(group)
            complaints: dict[str, str] = {}
            if not ran.taken:
                alone = self._one_by_one(group, [node for node in group.nodes if node.name not in read])
                for name, (own, words) in alone.items():
                    read |= words
                    complaints[name] = own.complaint
            for node in group.nodes:
                if node.name in read:
                    answering.append(node)
                    results.append(read_there(node, self._token, read[node.name]))
                else:
                    results.append(_silent(node, complaints.get(node.name)))
        return answering, results

    def _ask(self, group: jobs.Group) -> tuple[Ran, dict[str, str]]:
        """By node, what it read."""
        count = len(group.nodes)
        shape = [f"--nodelist={group.names}", f"--nodes={count}", f"--ntasks={count}"]
        shape += ["--ntasks-per-node=1", "--cpus-per-task=1", "--mem=64M"]
        command = ["/bin/sh", "-c", _READ, "sh", self._token.folder]
        with self._connect() as session:
            ran = jobs.start(session, group.partition, self._token, shape, command, {}, SECONDS)
        rows = (line.partition(" ") for line in ran.output.splitlines())
        known = {node.name for node in group.nodes}
        return ran, {name: words for name, _, words in rows if name in known}

    def _one_by_one(self, group: jobs.Group, silent: Sequence[Node]) -> dict[str, tuple[Ran, dict[str, str]]]:
        """A job that one node spoils says little of the others."""
        own = [replace(group, nodes=(node,)) for node in silent]
        with ThreadPoolExecutor(ALONE_AT_ONCE) as pool:
            return {node.name: said for node, said in zip(silent, pool.map(self._ask, own), strict=True)}


def _silent(node: Node, complaint: str | None) -> GateResult:
    """Without a complaint nobody asked it: others' jobs were faster."""
    if complaint is None:
        return GateResult("answers", node.name, "skip", ANSWERS, "other jobs took the idle nodes")
    return GateResult("answers", node.name, "fail", ANSWERS, complaint, _SILENT)
