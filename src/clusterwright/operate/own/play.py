"""A playbook on own machines: by clusterwright's key where that opens them, else as they are reached now."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from clusterwright.bundle.login import ADMIN
from clusterwright.converge.result import NodeResult
from clusterwright.converge.runner import Hear, Run, link_collection
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Finding
from clusterwright.handoff import Node
from clusterwright.operate.own.contact import Contact, finding, silent
from clusterwright.operate.own.site import OwnSite
from clusterwright.spec.pool import BUILT


@dataclass(frozen=True)
class Play:
    """One playbook, on any nodes of a site. `check`: nothing is written down of the machines either."""

    site: OwnSite
    contact: Contact
    report: Report
    step: str
    playbook: str
    check: bool = False

    def run(
        self,
        nodes: Sequence[Node],
        variables: Mapping[str, Mapping[str, object]],
        common: Mapping[str, object],
        hear: Hear,
    ) -> Mapping[str, NodeResult]:
        """Every node gets a result. `variables` are those of single nodes."""
        dead, ours = self._look(nodes)
        results = {name: NodeResult("unreachable", message=_SILENT) for name in sorted(dead)}
        for name in results:
            self.report(Event(self.step, "unreachable", _SILENT, name))
        reached = [node for node in nodes if node.name not in dead]
        if not reached:
            return results
        folder = self.site.home.new_run(self.step)
        link_collection(folder)
        noted = _copied(self._noted, folder / "first_contact") if self.check else self._noted
        hosts = {
            node.name: {**self._way(node, noted, ours=node.name in ours), **variables.get(node.name, {})}
            for node in reached
        }
        inventory = folder / "hosts.json"
        _write(inventory, {"all": {"hosts": hosts, "vars": common}})
        run = Run(folder, self._tell, self.check, self.contact.prompts, hear)
        # Ansible would stop in the middle; whoever calls this stops between batches.
        extra = {"bootstrap_max_fail_percentage": "100"}
        return {**results, **run.play(self.playbook, inventory, list(hosts), extra)}

    def finding(self, node: Node, result: NodeResult) -> Finding:
        """What its words mean."""
        if result.message == _SILENT:
            return silent(node, self.contact.port)
        reached, noted = self._met(node, self._noted)
        return finding(node, reached, result, noted)

    @property
    def _noted(self) -> Path:
        """Host keys of first contacts that somebody accepted."""
        return self.site.home.root / "first_contact"

    def _look(self, nodes: Sequence[Node]) -> tuple[set[str], Collection[str]]:
        """Those that do not answer, and those that clusterwright is let into already."""
        up = self.site.answering(nodes, self.contact.port)
        return {node.name for node in nodes} - {*up}, self.site.opened(up, self.contact.port)

    def _own(self, name: str) -> Target:
        return replace(self._targets[name], port=self.contact.port)

    @cached_property
    def _targets(self) -> Mapping[str, Target]:
        return self.site.targets

    def _way(self, node: Node, noted: Path, *, ours: bool) -> Mapping[str, object]:
        if not ours:
            reached, noted = self._met(node, noted)
            return reached.variables(node, noted)
        own = self._own(node.name)
        return {
            "ansible_host": own.address,
            "ansible_port": own.port,
            "ansible_user": own.user,
            "ansible_become": True,
            "ansible_ssh_common_args": " ".join(own.ssh_options()),
        }

    def _met(self, node: Node, noted: Path) -> tuple[Contact, Path]:
        """An image of ours has this cluster's key and no other, and makes its host key at each boot; others
        may. A machine that a stack made has the key, too."""
        known, image = self.contact, self.site.image(node)
        ours = image.partition(":")[0] == BUILT
        if ours or (self.site.is_made(node) and not (known.key or known.password)):
            known = replace(known, user=ADMIN, key=self.site.trust.key)
        return known, Path(os.devnull) if ours or (image and known.accept_new) else noted

    def _tell(self, event: Event) -> None:
        """Of what SSH says, the last line; the finding says what it means."""
        lines = event.text.splitlines() or [""]
        self.report(replace(event, step=self.step, text=lines[-1]))


_SILENT = "no SSH server answers"


def _write(path: Path, value: object) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        json.dump(value, stream)


def _copied(file: Path, to: Path) -> Path:
    if file.exists():
        shutil.copyfile(file, to)
    return to
