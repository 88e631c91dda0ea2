"""The shared home: a token written on one node and read on all, in a folder that is removed after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event

from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Ran, Session
from clusterwright.handoff import Node

PREFIX = ".clusterwright-accept-"
JOB_PREFIX = "clusterwright-accept-"
SYSTEM_USER = "clusterwright"
_UNSHARED = "Look at `findmnt --target /home` on both nodes, and at the user's number (`id`) on both"
# Seen over NFS 4.2 with NFS-Ganesha 4.3 and Linux 6.12, 2026-11: what was just written reads as a hole.
_A_HOLE = "The server takes new data for a hole: give the share `options: vers=4.1`, or another server"
STALE_MINUTES = 60
"""Folders of runs that were killed are older than any run lasts."""


@dataclass(frozen=True, slots=True)
class Token:
    """What the entry node wrote into the shared home; without a folder, it could not."""

    user: str = ""
    folder: str = ""
    text: str = ""
    written_on: str = ""

    @property
    def name(self) -> str:
        """What the jobs of this run are called."""
        return f"{JOB_PREFIX}{self.text}"


@dataclass(frozen=True)
class Exchange:
    """How the entry node and the others meet: the token is there, who answers, and all have read it."""

    answers: Mapping[str, Future[bool]]
    """By node. A node that is gone may still be idle to Slurm, and a job there would hang."""
    token: Future[Token] = field(default_factory=Future)
    all_read: Event = field(default_factory=Event)

    def opened(self, token: Token) -> None:
        if not self.token.done():
            self.token.set_result(token)

    def reach(self, idle: Sequence[Node]) -> tuple[list[Node], list[GateResult]]:
        """The other nodes say what they read there themselves."""
        return [node for node in idle if self.answers[node.name].result()], []

    def finish(self) -> None:
        self.all_read.wait()


def job_user(session: Session, people: list[str]) -> str:
    """Who submits the jobs: the system user made for it, else the first person; empty when there is none."""
    for name in (SYSTEM_USER, *people):
        found = session.run("getent", "passwd", name)
        cells = found.output.strip().split(":")
        if found.code == 0 and len(cells) == 7 and session.run("test", "-d", cells[5]).code == 0:
            return name
    return ""


def open_folder(session: Session, user: str, token: str) -> tuple[str, Ran]:
    """Make the run's folder with the token in it; also removes what killed runs left."""
    script = (
        f'find "$HOME" -maxdepth 1 -name "{PREFIX}*" -mmin +{STALE_MINUTES} -exec rm -rf {{}} +; '
        f'umask 077 && mkdir "$HOME/{PREFIX}{token}" && cd "$HOME/{PREFIX}{token}" && '
        f"echo {token} > token && pwd"
    )
    ran = session.run("sh", "-c", script, user=user)
    return ran.output.strip(), ran


def remove_folder(session: Session, user: str, folder: str) -> None:
    session.run("rm", "-rf", folder, user=user)


def shared_home(session: Session, node: Node, token: Token) -> GateResult:
    """What was written on one node is read here, by the same user."""
    ran = session.run("cat", f"{token.folder}/token", user=token.user)
    return read_there(node, token, ran.complaint if ran.code else ran.output, round(ran.seconds, 3))


def read_there(node: Node, token: Token, words: str, seconds: float = 0.0) -> GateResult:
    """`words` are what the node read, zeros as they are or as digits, or why it could not."""
    expected = f"what {token.user} wrote on {token.written_on} is read here"
    if words.strip() == token.text:
        return GateResult("shared-home", node.name, "pass", expected, expected, seconds=seconds)
    hole = bool(words.strip()) and not words.strip("\00 \n")
    seen = "zeros" if hole else words.strip() or "nothing"
    remedy = _A_HOLE if hole else _UNSHARED
    return GateResult("shared-home", node.name, "fail", expected, seen, remedy, seconds)
