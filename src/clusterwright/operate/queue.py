"""What Slurm is doing right now, asked on the controller."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from clusterwright.finding import Refused, Where, refuse
from clusterwright.operate.remote import NO_ANSWER, Answer, Reached, run_on
from clusterwright.spec.nodeset import expand, fold

_OURS = "clusterwright: "
"""How a reason begins that no person gave."""
ROLL = f"{_OURS}roll"
"""How the reason of a node begins that a rolling change holds."""
STOPPED = f"{ROLL} stopped: gate "
"""The same, where a gate says why it goes on no further."""
PULLED = f"{_OURS}new bundle"
"""The reason that a node which pulls gives for its own drain."""
_MARKS = "*~#!%$@^-+"
"""What `sinfo` puts behind a state: `*` does not answer, `$` maintenance, `~` powered down."""
TAKES_JOBS = frozenset({"idle", "mixed", "allocated", "completing"})
REGISTERED = TAKES_JOBS | {"drained", "draining"}
OUT_OF_SERVICE = ("drain", "down", "fail", "error", "unknown")
"""How the states begin of nodes that get no jobs for a reason of their own."""
_EMPTY = ("drained", "down")
ANSWER_SECONDS = 60.0
"""How long a slurmctld that was just started anew may take to answer."""
HEARD_SECONDS = 20.0
"""How long such a one may take to hear of its nodes."""
_JOBS_SHOWN = 8
_STARTED = "RUNNING,SUSPENDED,COMPLETING,CONFIGURING"


@dataclass(frozen=True, slots=True)
class Queue:
    """Slurm as seen from a controller: the first, or another one where that does not answer."""

    controller: Reached
    others: tuple[Reached, ...] = ()
    silent: list[Reached] = field(default_factory=list, compare=False)
    """Those that did not answer: they are asked last from then on."""

    def _answer(self, command: str) -> Answer:
        there = (self.controller, *self.others)
        answer = Answer(NO_ANSWER, "", "")
        for one in sorted(there, key=lambda one: one in self.silent):
            answer = run_on(one, command)
            if answer.code != NO_ANSWER:
                return answer
            if one not in self.silent:
                self.silent.append(one)
        return answer

    def jobs_on(self, nodes: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """Started jobs by node, only nodes of `nodes` that have any. Empty when Slurm is not up."""
        answer = self._answer(f"squeue --noheader --states={_STARTED} --format='%A %N'")
        found: dict[str, list[str]] = {}
        for line in answer.output.splitlines() if answer.code == 0 else ():
            job, _, hosts = line.partition(" ")
            for host in expand(hosts) if hosts.strip() else ():
                if host in nodes:
                    found.setdefault(host, []).append(job)
        return {node: tuple(jobs) for node, jobs in sorted(found.items())}

    def states(self) -> Mapping[str, tuple[str, str]]:
        """Node → (state, reason) for every node that Slurm knows."""
        answer = self._answer("sinfo --noheader --Node --format='%N|%T|%E'")
        rows = (line.split("|", 2) for line in answer.output.splitlines() if line.count("|") >= 2)
        return {name: (state, "" if reason == "none" else reason) for name, state, reason in rows}

    def update(self, nodes: Iterable[str], state: str, reason: str = "") -> None:
        """`scontrol update` of nodes; a refusal of Slurm's is a finding."""
        if refused := self._ask(nodes, state, reason):
            raise refused

    def resume(self, nodes: Iterable[str]) -> None:
        """Give these nodes jobs again.

        Slurm calls that an invalid state of a node that takes jobs already, as one may since it was looked
        at: its slurmd registered, or its own gate resumed it. And of one not heard since slurmctld started.
        """
        left, deadline = sorted(nodes), time.monotonic() + HEARD_SECONDS
        while left and (refused := self._ask(left, "resume")):
            states = self.states()
            left = [name for name in left if states.get(name, ("", ""))[0].rstrip(_MARKS) not in TAKES_JOBS]
            if left and time.monotonic() > deadline:
                raise refused
            time.sleep(0.2)

    def _ask(self, nodes: Iterable[str], state: str, reason: str = "") -> Refused | None:
        """None where Slurm took it."""
        folded = fold(nodes)
        words = ["scontrol", "update", f"nodename={folded}", f"state={state}"]
        answer = self._answer(shlex.join([*words, *([f"reason={reason}"] if reason else [])]))
        if not answer.code:
            return None
        what = f"Slurm refused to update {folded}: {(answer.error or answer.output).strip()}"
        return refuse("CW8010", Where(path=folded), what, "`clusterwright status` shows the node's state")

    def take_away(self, nodes: Collection[str]) -> None:
        """Set nodes DOWN that are about to go. A drain of a person's stays as it is, with its reason;
        one of clusterwright's own, for a gate that failed, ends with the node that it was about."""
        for node, (state, reason) in self.states().items():
            if node not in nodes:
                continue
            if state.startswith("drain") and not reason.startswith(_OURS):
                self.update([node], "down", reason)
                continue
            self.update([node], "down", f"{_OURS}rebuilt or removed")
            if state.startswith("drain"):  # only now: between the two it must get no job
                self.update([node], "undrain")

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
                self._ask(down, "resume")  # refused of one that came back since: the next look sees it
            time.sleep(0.2)

    def wait_until_heard(self, patience: float, of: Collection[str] | None = None) -> None:
        """A slurmctld that has just started knows no node's state until the node answers it.

        `of`: nodes that can answer, where not all are there yet.
        """
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            states = {name: state for name, (state, _) in self.states().items() if of is None or name in of}
            if states and not any(state.startswith("unknown") for state in states.values()):
                return
            time.sleep(0.2)

    def hold(self, nodes: Collection[str], reason: str) -> tuple[str, ...]:
        """Give these nodes no new jobs, for a rolling change; those that are drained stay as they are.

        Returns the nodes that are held now and were not before.
        """
        states = self.answered()
        free = [node for node in nodes if node in states and not states[node][0].startswith("drain")]
        if free:
            self.update(free, "drain", f"{ROLL}: {reason}")
        return tuple(free)

    def held(self) -> tuple[str, ...]:
        """Nodes that a rolling change holds; not those that a person has drained meanwhile."""
        return tuple(
            node
            for node, (state, reason) in self.answered().items()
            if state.startswith("drain") and reason.startswith(ROLL)
        )

    def answered(self) -> Mapping[str, tuple[str, str]]:
        """The same as `states`, of a Slurm that may take a moment. Raises Refused when it does not answer."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not (found := self.states()):
            if time.monotonic() > deadline:
                remedy = "Look at `systemctl status slurmctld` there, then run the same command again"
                raise refuse("CW8010", Where(path=self.controller.name), "Slurm does not answer", remedy)
            time.sleep(0.5)
        return found

    def wait_until_empty(
        self, nodes: Collection[str], patience: float, say: Callable[[str], None]
    ) -> tuple[str, ...]:
        """Wait until Slurm says that no job is left on these drained nodes.

        Returns those that still had some after `patience` seconds.
        """
        deadline = time.monotonic() + patience
        said = ""
        while True:
            states = self.states()
            # No answer is no sign of an empty node; that Slurm calls it drained, or down, is.
            busy = {
                node
                for node in nodes
                if not states or (node in states and not states[node][0].startswith(_EMPTY))
            }
            if not busy:
                return ()
            if (words := self._what_runs(busy) if states else "Slurm does not answer") != said:
                say(words)
                said = words
            if time.monotonic() > deadline:
                return tuple(sorted(busy))
            time.sleep(1.0)

    def _what_runs(self, nodes: Collection[str]) -> str:
        """Jobs on these nodes, and until when at most."""
        answer = self._answer(f"squeue --noheader --states={_STARTED} --format='%A %e %N'")
        jobs: dict[str, str] = {}
        for line in answer.output.splitlines():
            job, end, hosts = (*line.split(" ", 2), "", "")[:3]
            if hosts.strip() and {*expand(hosts)} & {*nodes}:
                jobs[job] = end
        if not jobs:
            return f"the last jobs on {fold(nodes)} are ending"
        endless = sorted(job for job, end in jobs.items() if not end[:1].isdigit())
        until = f"{endless[0]} has no time limit" if endless else f"until {max(jobs.values())} at most"
        shown = ", ".join(sorted(jobs)[:_JOBS_SHOWN]) + (" …" if len(jobs) > _JOBS_SHOWN else "")
        return f"{len(jobs)} job{'s' if len(jobs) > 1 else ''} on {fold(nodes)} ({shown}): {until}"
