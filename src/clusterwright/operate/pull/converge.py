"""Pull, seen from the operator: publish, wake nodes that have something to do, and read what they report."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from clusterwright.bundle.pointer import Pointer
from clusterwright.bundle.turns import InTurn, Order
from clusterwright.bundle.userdata import user_data
from clusterwright.catalog.changes import Impact
from clusterwright.converge.result import NodeResult
from clusterwright.converge.target import Target
from clusterwright.converge.verify import Verified, verify
from clusterwright.event import Event, Report, Status
from clusterwright.operate.desired import Desired
from clusterwright.operate.pull.publish import order_of, publish_to
from clusterwright.operate.pull.reports import NodeReport, Reports
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.pull.store import Store
from clusterwright.operate.pull.wake import WAKE, WAKE_AGAIN_SECONDS, WAKE_SILENT_SECONDS
from clusterwright.operate.remote import run_on

SILENCE_SECONDS = 300.0
"""So long nothing new may be heard of any node that has something to do and waits for no job."""
_AT_ONCE = 32
_HELD_BACK = "held back"

Revive = Callable[[], object]
"""Boots nodes that switched themselves off to reboot, where machines do not do that by themselves."""


def start_with(store: Store, desired: Desired) -> str:
    """User data of every node: it says where to look, and whose signature to trust."""
    return user_data(desired.handoff.name, store.url, Signing.of(desired.home).public, store.authority)


@dataclass
class Pulling:
    """One round: from publishing until every node that it is about has said how it went."""

    store: Store
    desired: Desired
    host_keys: Mapping[str, str]
    """Of every node that is there."""
    targets: Mapping[str, Target]
    """Those of them that SSH reaches from here: they are asked and woken; others are heard of only."""
    report: Report
    revive: Revive
    silence: float = SILENCE_SECONDS
    results: dict[str, NodeResult] = field(default_factory=dict)

    def run(
        self,
        looked: Collection[str],
        seen: Mapping[str, Verified],
        impacts: Mapping[str, Impact],
        *,
        full: bool,
        roll: InTurn | None = None,
    ) -> Mapping[str, NodeResult]:
        """Results of the nodes in `looked`; others take the bundle up when they look for it themselves.

        `seen` is what some of them answered just now."""
        unknown = [self.targets[name] for name in looked if name in self.targets and name not in seen]
        found = {**seen, **verify(unknown, self.desired.wanted)}
        self.reports = Reports(self.store, self.host_keys)
        before = self.reports.now()
        costs = {name: str(impact) for name, impact in impacts.items()}
        pointer = publish_to(self.store, self.desired, self.host_keys, costs, self.report, roll)
        due = {name for name in looked if full or not self._is_done(before.get(name), name, found.get(name))}
        for name in sorted(set(looked) - due):
            self.results[name] = NodeResult("ok")
            self.report(Event("verify", "ok", "as wanted", name))
        for name in sorted(due):
            for drifted in _drift(found.get(name)):
                self.report(Event("verify", "progress", drifted, name))
        self._wait(due, before, pointer, full)
        return {name: replace(result, drift=_drift(found.get(name))) for name, result in self.results.items()}

    def _is_done(self, said: NodeReport | None, name: str, found: Verified | None) -> bool:
        accepted = said is not None and said.state == "accepted"
        wanted = said is not None and said.digest == self.desired.wanted[name].digest
        return accepted and wanted and (found is None or found.ok)

    def _wait(self, due: set[str], before: Mapping[str, NodeReport], pointer: Pointer, full: bool) -> None:
        self._wake(due, "touch /run/clusterwright/pull-full; " if full else "")
        heard = woken = time.monotonic()
        said, touched = dict(before), dict.fromkeys(due, heard)
        order = order_of(self.desired.handoff, self.host_keys, pointer.roll)
        while left := due - set(self.results):
            for name, now in sorted(self.reports.now().items()):
                if name in left and now != said.get(name):
                    heard = touched[name] = time.monotonic()
                    said[name] = now
                    self._hear(name, now, pointer)
            self._hold_back(due - set(self.results), said, order)
            if any(said[name].drains for name in due - set(self.results) if name in said):
                heard = time.monotonic()
            if time.monotonic() - heard > self.silence:
                self._give_up(due - set(self.results), said)
            if time.monotonic() - woken > WAKE_AGAIN_SECONDS:
                woken, left = time.monotonic(), due - set(self.results)
                if any(now.state == "rebooting" for name, now in said.items() if name in left):
                    self.revive()
                idle = {name for name in left if said.get(name) == before.get(name) or _idle(said[name])}
                asleep = idle | set(_longest_silent(left - idle, touched, woken))
                touched |= dict.fromkeys(asleep, woken)
                self._wake(asleep)
            time.sleep(self.store.shelf.pause)

    def _hear(self, name: str, said: NodeReport, pointer: Pointer) -> None:
        words = f"{said.state} {said.cause}".strip()
        if said.state == "failed" and said.serial < pointer.serial:
            # Its timer had begun on the one before when this was published; it is woken for this one.
            self.report(Event("converge", "progress", f"{words} (serial {said.serial})", name))
            return
        if said.state == "accepted" and said.digest == self.desired.wanted[name].digest:
            status: Status = "changed" if said.changed else "ok"
            self.results[name] = NodeResult("changed" if said.changed else "ok", said.changed, said.changed)
            self.report(Event("converge", status, f"{words}, {said.seconds:.1f} s", name))
        elif said.state in ("failed", "refused"):
            self.results[name] = NodeResult("failed", failed_task=said.state, message=said.cause)
            self.report(Event("converge", "failed", said.cause, name))
        else:
            self.report(Event("converge", "progress", words, name))

    def _hold_back(self, left: Collection[str], said: Mapping[str, NodeReport], order: Order) -> None:
        """Who waits for a node that failed keeps what it has."""
        for name in sorted(left):
            if name in said and said[name].digest == self.desired.wanted[name].digest and said[name].begun:
                continue
            awaited = order.awaited(name, self.desired.handoff.by_name[name].pool)
            broken = next((other for other in awaited if self._failed(other)), None)
            if broken:
                behind = self.results[broken]
                words = f"{broken} failed before it, and nothing was changed here"
                message = behind.message if behind.failed_task == _HELD_BACK else words
                self.results[name] = NodeResult("failed", failed_task=_HELD_BACK, message=message)
                self.report(Event("converge", "skipped", message, name))

    def _failed(self, name: str) -> bool:
        return name in self.results and self.results[name].status == "failed"

    def _give_up(self, left: Collection[str], said: Mapping[str, NodeReport]) -> None:
        for name in left:
            last = said.get(name)
            words = f"its last words: {last.state} {last.cause}" if last else "it never reported"
            self.results[name] = NodeResult(
                "unreachable", message=f"silent for {self.silence:.0f} s; {words}"
            )
            self.report(Event("converge", "unreachable", words, name))

    def _wake(self, names: Collection[str], before: str = "") -> None:
        """Best effort: a node that SSH does not reach looks for its bundle by itself."""
        targets = [self.targets[name] for name in sorted(names) if name in self.targets]
        if targets:
            with ThreadPoolExecutor(min(len(targets), _AT_ONCE)) as pool:
                list(pool.map(lambda target: run_on(target, before + WAKE, timeout=10), targets))


def _idle(said: NodeReport) -> bool:
    """Whether its agent has ended. One that works, or waits for its turn, needs nobody to wake it."""
    return said.state not in ("working", "waiting") or said.cause.startswith(_HELD_BACK)


def _longest_silent(names: Collection[str], touched: Mapping[str, float], now: float) -> list[str]:
    """Of many that wait for hours, as many at a time as are woken at once."""
    silent = (name for name in sorted(names) if now - touched[name] > WAKE_SILENT_SECONDS)
    return sorted(silent, key=touched.__getitem__)[:_AT_ONCE]


def _drift(found: Verified | None) -> tuple[str, ...]:
    """What a node that was applied to before has otherwise than wanted."""
    return found.drift if found and found.applied else ()
