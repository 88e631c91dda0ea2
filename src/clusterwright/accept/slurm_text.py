"""What Slurm's commands print, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

JOB_FIELDS = ("JobIDRaw", "JobName", "User", "State", "ExitCode", "NNodes", "NodeList", "AllocTRES")
_REASON = re.compile(r" Reason=(.*?) \[[^\[\]@]*@[0-9T:-]+\]")
_PENDING = re.compile(r"\bReason=(\S+)")
_HEALTHY = {"IDLE", "MIXED", "ALLOCATED"}
_HARMLESS_FLAGS = {"DYNAMIC_NORM", "CLOUD", "COMPLETING", "PLANNED"}


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node as slurmctld knows it. `state` has its flags: `IDLE+DRAIN`."""

    name: str
    state: str
    reason: str
    partitions: tuple[str, ...]
    gres: str

    @property
    def idle(self) -> bool:
        return self._base == "IDLE" and self.healthy

    @property
    def busy(self) -> bool:
        """Jobs run on it, and nothing is wrong with it."""
        return self.healthy and not self.idle

    @property
    def healthy(self) -> bool:
        return self._base in _HEALTHY and self._flags <= _HARMLESS_FLAGS and not self.reason

    @property
    def _base(self) -> str:
        return self.state.split("+")[0].rstrip("*~#!%$@^-")

    @property
    def _flags(self) -> set[str]:
        return set(self.state.split("+")[1:]) | ({"NOT_RESPONDING"} if "*" in self.state else set())


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as the accounting database has it."""

    job: str
    name: str
    user: str
    state: str
    exit_code: str
    nodes: int
    node_list: str
    tres: Mapping[str, str]


def nodes(text: str) -> dict[str, SlurmNode]:
    """`scontrol show nodes --oneliner`."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("NodeName="):
            continue
        reversed_words = (word.split("=", 1) for word in reversed(line.split()) if "=" in word)
        words = dict(reversed_words)  # the first one counts: a Reason may hold anything
        reason = _REASON.search(line)
        partitions = tuple(words.get("Partitions", "").split(",")) if words.get("Partitions") else ()
        node = SlurmNode(
            name=words["NodeName"],
            state=words.get("State", "UNKNOWN"),
            reason=reason[1] if reason else "",
            partitions=partitions,
            gres=words.get("Gres", "").replace("(null)", ""),
        )
        found[node.name] = node
    return found


def job_state(text: str) -> tuple[str, str]:
    """`scontrol show job ID --oneliner` as state and reason."""
    words = dict(word.split("=", 1) for word in text.split() if "=" in word)
    pending = _PENDING.search(text)
    return words.get("JobState", "UNKNOWN"), pending[1] if pending else ""


def records(text: str) -> dict[str, JobRecord]:
    """`sacct --allocations --parsable2 --noheader --format=` JOB_FIELDS."""
    found = {}
    for line in text.splitlines():
        cells = line.split("|")
        if len(cells) != len(JOB_FIELDS):
            continue
        job, name, user, state, exit_code, count, node_list, tres = cells
        pairs = dict(pair.split("=", 1) for pair in tres.split(",") if "=" in pair)
        found[job] = JobRecord(job, name, user, state, exit_code, int(count or 0), node_list, pairs)
    return found
