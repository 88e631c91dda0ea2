"""Survey: what is on machines already, and what `up` would do to it. Nothing is changed there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from clusterwright.bundle.shares import mounted
from clusterwright.event import Report
from clusterwright.finding import Finding, Severity
from clusterwright.handoff import Node
from clusterwright.operate.own.asking import NO_PYTHON, Machine, answer, command
from clusterwright.operate.own.contact import Contact
from clusterwright.operate.own.harm import harm, no_python, together
from clusterwright.operate.own.play import Play
from clusterwright.operate.own.site import OwnSite
from clusterwright.spec.nodeset import fold

PLAYBOOK = "clusterwright.cluster.survey"


@dataclass(frozen=True)
class Surveyed:
    """All machines. One that did not answer has a finding and is in no group."""

    cluster: str
    machines: Mapping[str, Machine] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        return not any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def groups(self) -> Mapping[str, Machine]:
        """Node set → one of its machines. But for their names they answered the same."""
        alike: dict[str, list[str]] = {}
        for name, machine in self.machines.items():
            body = asdict(machine)
            body["seen"] = {what: told for what, told in machine.seen.items() if what != "name"}
            alike.setdefault(json.dumps(body, sort_keys=True), []).append(name)
        return {fold(names): self.machines[names[0]] for names in alike.values()}


def survey(site: OwnSite, nodes: Sequence[Node], contact: Contact, report: Report) -> Surveyed:
    """All at once. One that does not answer, or has no Python, stops no other."""
    answers: dict[str, str] = {}

    def hear(node: str, _task: str, result: Mapping[str, Any]) -> None:
        answers[node] = str(result.get("stdout") or "")

    play = Play(site, contact, report, "survey", PLAYBOOK, check=True)
    asked = {node.name: {"survey_command": _command(site, node)} for node in nodes}
    results = play.run(nodes, asked, {}, hear)
    machines: dict[str, Machine] = {}
    findings: list[Finding] = []
    for node in nodes:
        if machine := answer(answers.get(node.name, "")):
            machines[node.name] = machine
            findings += harm(site.handoff, node, machine)
        elif NO_PYTHON in answers.get(node.name, ""):
            findings.append(no_python(node))
        else:
            findings.append(play.finding(node, results[node.name]))
    return Surveyed(site.handoff.name, machines, tuple(together(findings)))


def _command(site: OwnSite, node: Node) -> str:
    return command(site.desired.sketch.wanted(node), sorted(mounted(site.handoff, node)))
