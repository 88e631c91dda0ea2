"""Machines switched on and off: what is so already is left alone, so a run that broke off is run again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Literal

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity
from clusterwright.operate.bmc.machine import Action, Bmc, Way
from clusterwright.operate.bmc.reach import AT_ONCE, differs, each, reach
from clusterwright.operate.bmc.starts import Starts
from clusterwright.operate.own.harm import together

Switch = Literal["on", "off", "cycle", "reset", "status"]
WAIT = 300.0
"""Seconds that a system may take to shut down: eight GPUs and a full page cache are let go in less."""
SWITCH_SECONDS = 180.0
"""For a BMC that was given an order: it may wait for supplies, and answers late while it does."""
_LOOKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_MOST_THREADS = 512


@dataclass(frozen=True)
class Switched:
    """By node: the state in the end, and what was done. Machines that failed are in findings."""

    states: Mapping[str, str]
    done: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def look(bmcs: Sequence[Bmc], at_once: int = AT_ONCE) -> Switched:
    """The power of each. A machine that is another one than described is a finding, and has no state."""

    def ask(bmc: Bmc) -> str:
        with reach(bmc) as way:
            if other := differs(bmc, way.serial()):
                raise Refused([other])
            return way.power()

    states, findings = each(bmcs, ask, at_once)
    return Switched(states, {}, tuple(together(findings)))


@dataclass(frozen=True)
class Switching:
    """One switch for many machines. `limits` as in Starts; `wait` and `force`: of systems that do not end."""

    switch: Switch
    limits: Mapping[str, Mapping[str, int]]
    report: Report
    wait: float = WAIT
    force: bool = False
    at_once: int = AT_ONCE
    before_start: Callable[[Bmc], None] = lambda _: None
    """Called for each machine that is off, right before it is switched on."""

    def run(self, bmcs: Sequence[Bmc], before: Switched) -> Switched:
        """All that `before` has a state of; the findings of the others are kept."""
        starts, talks = Starts(self.limits), threading.Semaphore(self.at_once)
        self.report(Event("power", "started", f"{self.switch}: {len(bmcs)} machines"))

        def one(bmc: Bmc) -> tuple[str, str]:
            state = before.states[bmc.node]
            try:
                state, done = _One(self, bmc, starts, talks).go(state)
            except Refused as refused:
                self.report(Event("power", "failed", refused.findings[0].what, bmc.node))
                raise
            self.report(Event("power", "changed" if done else "skipped", done or f"is {state}", bmc.node))
            return state, done

        known = [bmc for bmc in bmcs if bmc.node in before.states]
        found, findings = each(known, one, _MOST_THREADS, starts.stop)
        every = (*before.findings, *together(findings))
        states = {node: state for node, (state, _) in found.items()}
        done = {node: what for node, (_, what) in found.items() if what}
        after = Switched(states, done, tuple(sorted(every, key=lambda one: (one.where, one.code))))
        words = f"{len(done)} switched, {len(found) - len(done)} were so already"
        self.report(Event("power", "ok" if after.ok else "failed", words))
        return after


@dataclass(frozen=True)
class _One:
    of: Switching
    bmc: Bmc
    starts: Starts
    talks: threading.Semaphore

    def go(self, state: str) -> tuple[str, str]:
        """The state in the end, and what was done; nothing where nothing was to do."""
        switch, was_on = self.of.switch, state != "off"
        if switch == "on":
            return ("on", "" if state == "on" else self._start())
        if not was_on and switch in ("off", "reset"):
            return ("off", "")
        if switch == "reset":
            self._tell("reset")
            return ("on", "reset")
        done = self._stop() if was_on else ""
        return ("off", done) if switch == "off" else ("on", f"{done}, {self._start()}".lstrip(", "))

    def _start(self) -> str:
        with self.starts.room(self.bmc.node):
            with self.talks:
                self.of.before_start(self.bmc)
            self._tell("on", until="on")
        return "on"

    def _stop(self) -> str:
        """Asks the system to end; pulls its plug only where that was asked for."""
        if self.of.force and not self.of.wait:
            self._tell("off", until="off")
            return "off by force"
        try:
            self._tell("shutdown", until="off", within=self.of.wait)
            return "off"
        except Refused as refused:
            if refused.findings[0].code not in ("CW8202", "CW8197") or not self.of.force:
                raise
        self._tell("off", until="off")
        return "off by force"

    def _tell(self, action: Action, until: str = "", within: float | None = None) -> None:
        within = SWITCH_SECONDS if within is None else within
        with self.talks if action != "shutdown" else nullcontext(), reach(self.bmc) as way:
            way.act(action)
            if until and (state := self._awaited(way, until, within)) != until:
                raise self._late(action, until, state, within)

    def _late(self, action: Action, until: str, state: str, within: float) -> Refused:
        if action == "shutdown":
            what = f"its system was asked to shut down, and is {state} after {within:.0f} seconds"
            remedy = "Look at its console, give it longer with --wait, or pull its plug with --force"
            return self.bmc.refuse("CW8202", what, remedy)
        what = f"its BMC took the order, and the machine is {state} after {within:.0f} seconds, not {until}"
        return self.bmc.refuse(
            "CW8203", what, "Look at the BMC's event log: supplies, power limit, mainboard"
        )

    def _awaited(self, way: Way, state: str, within: float) -> str:
        """The state that it came to: `state`, unless it takes longer than `within` seconds."""
        deadline, looks = time.monotonic() + within, 0
        while (seen := way.power()) != state and time.monotonic() < deadline:
            longest = _LOOKS[min(looks, len(_LOOKS) - 1)]
            self.starts.wait(min(longest, max(0.0, deadline - time.monotonic())))
            looks += 1
        return seen
