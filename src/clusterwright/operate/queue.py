"""What Slurm is doing right now, asked on the controller."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from clusterwright.converge.target import Target
from clusterwright.finding import Where, refuse
from clusterwright.operate.remote import run_on
from clusterwright.spec.nodeset import expand, fold

_OURS = "clusterwright: "
"""How a reason begins that no person gave."""
# `sinfo` marks what is wrong by a suffix: `*` does not answer, `$` maintenance, `~` powered down.
TAKES_JOBS = frozenset({"idle", "mixed", "allocated", "completing"})
REGISTERED = TAKES_JOBS | {"drained", "draining"}
_STARTED = "RUNNING,SUSPENDED,COMPLETING,CONFIGURING"


@dataclass(frozen=True, slots=True)
class Queue:
    """Slurm as seen from the controller."""

    controller: Target

    def jobs_on(self, nodes: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """Started jobs by node, only nodes of `nodes` that have any. Empty when Slurm is not up."""
        answer = run_on(self.controller, f"squeue --noheader --states={_STARTED} --format='%A %N'")
        found: dict[str, list[str]] = {}
        for line in answer.output.splitlines() if answer.code == 0 else ():
            job, _, hosts = line.partition(" ")
            for host in expand(hosts) if hosts.strip() else ():
                if host in nodes:
                    found.setdefault(host, []).append(job)
        return {node: tuple(jobs) for node, jobs in sorted(found.items())}

    def states(self) -> Mapping[str, tuple[str, str]]:
        """Node → (state, reason) for every node that Slurm knows."""
        answer = run_on(self.controller, "sinfo --noheader --Node --format='%N|%T|%E'")
        rows = (line.split("|", 2) for line in answer.output.splitlines() if line.count("|") >= 2)
        return {name: (state, "" if reason == "none" else reason) for name, state, reason in rows}

    def update(self, nodes: Iterable[str], state: str, reason: str = "") -> None:
        """`scontrol update` of nodes; a refusal of Slurm's is a finding."""
        folded = fold(nodes)
        words = ["scontrol", "update", f"nodename={folded}", f"state={state}"]
        answer = run_on(self.controller, shlex.join([*words, *([f"reason={reason}"] if reason else [])]))
        if answer.code:
            raise refuse(
                "CW8010",
                Where(path=folded),
                f"Slurm refused to update {folded}: {(answer.error or answer.output).strip()}",
                "`clusterwright status` shows the node's state",
            )

    def take_away(self, nodes: Collection[str]) -> None:
        """Set nodes DOWN that are about to go. A drain of a person's stays as it is, with its reason;
        one of clusterwright's own, for a gate that failed, ends with the node that it was about."""
        for node, (state, reason) in self.states().items():
            if node not in nodes:
                continue
            if state.startswith("drain") and not reason.startswith(_OURS):
                self.update([node], "down", reason)
                continue
            if state.startswith("drain"):
                self.update([node], "undrain")
            self.update([node], "down", f"{_OURS}rebuilt or removed")

    def take_up(
        self, nodes: Collection[str], patience: float, ready: Collection[str] = REGISTERED
    ) -> tuple[str, ...]:
        """Wait until Slurm has taken up these nodes; returns those that it has not after `patience` seconds.

        A node that Slurm set DOWN while it was being rebuilt is resumed; one that somebody drained is not.
        """
        deadline = time.monotonic() + patience
        while True:
            states = self.states()
            late = tuple(sorted(node for node in nodes if states.get(node, ("", ""))[0] not in ready))
            if not late or time.monotonic() > deadline:
                return late
            down = [node for node in late if states.get(node, ("", ""))[0] == "down"]
            if down:
                self.update(down, "resume")
            time.sleep(0.2)

    def wait_until_heard(self, patience: float) -> None:
        """A slurmctld that has just started knows no node's state until the node answers it."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            states = [state for state, _ in self.states().values()]
            if states and not any(state.startswith("unknown") for state in states):
                return
            time.sleep(0.2)

    def wait_for_jobs(self, nodes: Collection[str], patience: float, say: Callable[[str], None]) -> bool:
        """Wait until no job runs on these nodes; False when `patience` seconds were not enough."""
        deadline = time.monotonic() + patience
        said = ""
        while busy := self.jobs_on(nodes):
            words = "; ".join(f"{node}: {', '.join(jobs)}" for node, jobs in busy.items())
            if words != said:
                say(f"waiting for jobs on {words}")
                said = words
            if time.monotonic() > deadline:
                return False
            time.sleep(0.5)
        return True
