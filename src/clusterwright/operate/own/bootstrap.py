"""Bootstrap: from machines with an operating system and SSH to machines that `up` can work on."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clusterwright.bundle.login import ADMIN
from clusterwright.converge.result import NodeResult
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Severity, Where
from clusterwright.handoff import Node
from clusterwright.operate.own.batches import Batches
from clusterwright.operate.own.contact import Contact
from clusterwright.operate.own.play import Play
from clusterwright.operate.own.record import Known, Record
from clusterwright.operate.own.site import OwnSite
from clusterwright.spec.nodeset import fold

PLAYBOOK = "clusterwright.cluster.bootstrap"
_SKEW_SECONDS = 30.0
_FIRST_FILES = (
    "/etc/apt/",
    "/etc/dnf/",
    "/etc/yum.repos.d/",
    "/etc/pki/",
    "/usr/local/share/ca-certificates/",
)
"""Where that lies which a package manager needs: mirror, proxy, certificates."""


@dataclass(frozen=True, slots=True)
class How:
    """What one bootstrap is asked to do beyond letting clusterwright in."""

    check: bool = False
    """Change nothing; tell what would."""
    passwords_off: bool = False
    batches: Batches = field(default_factory=Batches)


@dataclass(frozen=True)
class Bootstrapped:
    """How it ended. `drift` of a node is what differed there before."""

    cluster: str
    nodes: Mapping[str, NodeResult] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    untouched: tuple[str, ...] = ()
    """Nodes whose batch never came, because too many failed before."""

    @property
    def ok(self) -> bool:
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


@dataclass
class _Heard:
    """What a machine said of itself."""

    changes: list[str] = field(default_factory=list)
    failed: str = ""
    proven: bool = False
    cgroup: tuple[str, str] = ("", "")
    skew: float = 0.0

    def line(self, text: str) -> None:
        what, _, rest = text.strip().partition(": ")
        if what == "change":
            self.changes.append(rest)
        elif what == "failed":
            self.failed = rest
        elif what == "clock":
            self.skew = float(rest) - time.time()
        elif what == "cgroup" and " " in rest:
            plugin, _, mountpoint = rest.partition(" ")
            self.cgroup = plugin, mountpoint


def bootstrap(
    site: OwnSite, nodes: Sequence[Node], contact: Contact, how: How, report: Report
) -> Bootstrapped:
    """Killed at any moment, the next run goes on; where nothing is left to do it changes nothing."""
    ended = Bootstrapped(site.handoff.name)
    batches = how.batches.of(nodes)
    for number, batch in enumerate(batches, 1):
        if len(batches) > 1:
            report(
                Event(
                    "bootstrap", "started", f"batch {number} of {len(batches)}", fold(n.name for n in batch)
                )
            )
        results, findings = _Batch(site, contact, how, report).run(batch)
        ended = replace(ended, nodes={**ended.nodes, **results}, findings=(*ended.findings, *findings))
        broken = [name for name, result in results.items() if result.status in ("failed", "unreachable")]
        left = tuple(node.name for later in batches[number:] for node in later)
        if stop := how.batches.stopped(site.handoff.name, len(broken), len(batch), left):
            return replace(ended, findings=(*ended.findings, stop), untouched=left)
    return ended


class _Batch:
    """Machines that are worked on at once."""

    def __init__(self, site: OwnSite, contact: Contact, how: How, report: Report) -> None:
        self._site, self._contact, self._how = site, contact, how
        self._play = Play(site, contact, report, "bootstrap", PLAYBOOK, how.check)
        self._heard: dict[str, _Heard] = {}

    def run(self, nodes: Sequence[Node]) -> tuple[Mapping[str, NodeResult], list[Finding]]:
        self._heard = {node.name: _Heard() for node in nodes}
        played = self._play.run(
            nodes, {node.name: self._files(node) for node in nodes}, self._common(), self._hear
        )
        results = {name: self._as_heard(name, result) for name, result in played.items()}
        self._note([node for node in nodes if results[node.name].status in ("ok", "changed")])
        return results, list(self._findings(nodes, results))

    def _as_heard(self, name: str, result: NodeResult) -> NodeResult:
        """With what it said; one of which it was not seen that the key opens it did not get there."""
        heard = self._heard[name]
        result = replace(
            result, drift=tuple(dict.fromkeys(heard.changes)), message=heard.failed or result.message
        )
        if result.status in ("failed", "unreachable") or heard.proven or self._how.check:
            return result
        return replace(result, status="failed", message="the run ended before this machine's turn")

    def _files(self, node: Node) -> Mapping[str, object]:
        """What its package manager needs before it can install anything."""
        rows = [
            [f"{file.mode:04o}", file.path, base64.b64encode(file.content.encode()).decode()]
            for file in self._site.desired.sketch.wanted(node).kind.files
            if file.early and file.content is not None and file.path.startswith(_FIRST_FILES)
        ]
        return {"bootstrap_files": rows} if rows else {}

    def _common(self) -> Mapping[str, object]:
        trust = self._site.trust
        return {
            "bootstrap_user": ADMIN,
            "bootstrap_key_file": str(trust.key),
            "bootstrap_authority_file": str(trust.authority),
            "bootstrap_passwords": "off" if self._how.passwords_off else "keep",
        }

    def _hear(self, node: str, _task: str, result: Mapping[str, Any]) -> None:
        self._heard[node].proven |= result.get("msg") == "proven"
        for line in str(result.get("stdout") or "").splitlines():
            self._heard[node].line(line)

    def _note(self, nodes: Sequence[Node]) -> None:
        """These are ours now, whatever becomes of the others."""
        if self._how.check or not nodes:
            return
        port = self._contact.port
        Record(self._site.home).add(
            {node.name: Known.of(node, port, self._heard[node.name].cgroup) for node in nodes}
        )

    def _findings(self, nodes: Sequence[Node], results: Mapping[str, NodeResult]) -> Iterator[Finding]:
        for node in nodes:
            result, skew = results[node.name], self._heard[node.name].skew
            if result.status in ("failed", "unreachable"):
                yield self._play.finding(node, result)
            elif abs(skew) > _SKEW_SECONDS:
                what = f"its clock is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}"
                remedy = "chrony sets it, where it reaches a time server: `surroundings.time_servers`"
                yield Finding("CW8181", Where(path=node.name), what, remedy, Severity.WARNING)
