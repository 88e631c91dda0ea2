"""The proof of a whole cluster by one of its own nodes, as the operator reads it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clusterwright.accept.report import loads
from clusterwright.accept.result import Acceptance, GateResult, GateStatus
from clusterwright.bundle.pointer import REPORT_NAMESPACE, Pointer
from clusterwright.bundle.proof import prover
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report, Status
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff
from clusterwright.operate.pull.signing import signed_by
from clusterwright.operate.pull.store import PROOF, Store
from clusterwright.operate.pull.wake import WAKE, WAKE_AGAIN_SECONDS
from clusterwright.operate.remote import run_on

SILENCE_SECONDS = 900.0
"""So long nothing new may be heard from the node that runs the gates."""
_EVENT: Mapping[GateStatus, Status] = {"pass": "ok", "fail": "failed", "skip": "skipped"}


@dataclass(frozen=True, slots=True)
class Proof:
    """What was said last. `tree` and `asked` name what it is of."""

    node: str
    tree: str
    asked: int
    state: Literal["waiting", "working", "accepted", "failed"]
    cause: str
    acceptance: Acceptance | None
    """Once the gates have ended."""
    at: float

    def is_of(self, pointer: Pointer) -> bool:
        return (self.tree, self.asked) == (pointer.tree.sha256, pointer.asked)

    @property
    def words(self) -> str:
        return f"{self.state} {self.cause}".strip()


def proof_in(store: Store, handoff: Handoff, host_keys: Mapping[str, str]) -> Proof | None:
    """None where nothing was said that the node signed which the bundle names."""
    node = prover(handoff, host_keys)
    signed = signed_by(store.report(PROOF), host_keys[node], REPORT_NAMESPACE) if node else None
    if signed is None:
        return None
    try:
        body = json.loads(signed)
        gates = loads(json.dumps(body["gates"])) if body["gates"] else None
        row = {name: body[name] for name in ("node", "tree", "asked", "state", "cause", "at")}
    except (ValueError, KeyError, TypeError, Refused):
        return None
    return Proof(acceptance=gates, **row) if row["node"] == node and body["cluster"] == handoff.name else None


@dataclass(frozen=True)
class Waiting:
    """For the proof of what one pointer says."""

    store: Store
    handoff: Handoff
    host_keys: Mapping[str, str]
    report: Report
    targets: Mapping[str, Target] = field(default_factory=dict)
    """Where SSH reaches it, the node is woken; it looks by itself every few minutes."""
    silence: float = SILENCE_SECONDS

    def now(self) -> Proof | None:
        return proof_in(self.store, self.handoff, self.host_keys)

    def until(self, pointer: Pointer) -> Acceptance:
        """Returns when the gates have ended; a cluster that says nothing more is not accepted."""
        heard, woken, version, said = time.monotonic(), -WAKE_AGAIN_SECONDS, "", None
        while said is None or not said.is_of(pointer) or said.acceptance is None:
            now = time.monotonic()
            if now - heard > self.silence:
                return self._gave_up(said)
            if now - woken > WAKE_AGAIN_SECONDS and not (said and said.is_of(pointer)):
                woken = now
                self._wake()
            if (there := self.store.reported().get(PROOF, "")) != version:
                version, heard = there, now
                said = self.now()
                if said and said.is_of(pointer) and said.acceptance is None:
                    self.report(Event("accept", "progress", said.words, said.node))
            else:
                time.sleep(self.store.shelf.pause)
        for gate in said.acceptance.gates:
            text = f"{gate.name}: {gate.seen}"
            self.report(Event("accept", _EVENT[gate.status], text, gate.node or None))
        return said.acceptance

    @property
    def node(self) -> str:
        return prover(self.handoff, self.host_keys) or ""

    def _wake(self) -> None:
        if self.node in self.targets:
            run_on(self.targets[self.node], WAKE, timeout=10)

    def _gave_up(self, said: Proof | None) -> Acceptance:
        words = f"its last words: {said.words}" if said else "it said nothing of the cluster"
        remedy = "Look at `journalctl --unit clusterwright-prove` and `--unit clusterwright-pull` there"
        seen = f"silent for {self.silence:.0f} s; {words}"
        gate = GateResult(
            "cluster-report", self.node, "fail", "what the gates of the cluster found", seen, remedy
        )
        simulated = any(site.get("simulated") for site in self.handoff.site.values())
        return Acceptance(self.handoff.name, (gate,), round(time.time(), 3), self.silence, simulated)
