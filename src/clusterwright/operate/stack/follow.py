"""What the engine tells while it works, as events of our own."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, get_args

from clusterwright.event import Event, Report, Status
from clusterwright.operate.stack.changes import is_of_cloud, node_of, title
from clusterwright.operate.stack.failures import ACCEPTANCE

if TYPE_CHECKING:
    from clusterwright.providers.engine.steps import Step


_DONE = {"create": "created", "update": "updated", "delete": "deleted"}


class Follow:
    """A line a resource; what nodes say of themselves, as they say it; each warning once."""

    def __init__(self, cluster: str, nodes: Collection[str], report: Report) -> None:
        self._cluster, self._nodes, self._report = cluster, frozenset(nodes), report
        self._warned: set[str] = set()

    def begun(self, step: Step) -> None:
        if step.type == ACCEPTANCE and step.op != "delete":
            self._report(Event("accept", "started", "publishes what nodes should be, and waits for them"))

    def ended(self, step: Step) -> None:
        if is_of_cloud(step.type) and step.op != "replace":
            done = "let go of" if _stays(step) else _DONE.get(step.op.partition("-")[0], step.op)
            self._report(Event("resources", "changed", f"{done} {self._what(step)}", self._node(step)))
        elif step.type == ACCEPTANCE and step.op != "delete":
            self._report(Event("accept", "ok", "every node is accepted"))

    def failed(self, step: Step) -> None:
        if step.type == ACCEPTANCE:
            self._report(Event("accept", "failed", "not every node is accepted"))
        else:
            self._report(Event("resources", "failed", f"{step.op} {self._what(step)}", self._node(step)))

    def said(self, urn: str, severity: str, text: str) -> None:
        if f"${ACCEPTANCE}::" in urn or f"::{ACCEPTANCE}::" in urn:
            if severity == "info":
                self._report(_said(text, self._nodes))
        elif severity == "warning" and urn and text not in self._warned:
            self._warned.add(text)
            self._report(Event("resources", "progress", text))

    def _what(self, step: Step) -> str:
        """The event names the node already."""
        named = title(step.type, step.name)
        return named.partition(" ")[0] if self._node(step) else named

    def _node(self, step: Step) -> str | None:
        return node_of(step.type, step.name, self._cluster)


def _stays(step: Step) -> bool:
    return step.op == "delete" and step.retained


def _said(text: str, nodes: Collection[str]) -> Event:
    """The plugin's line: stage, node if one is meant, status, words."""
    words = text.split(" ")
    node = words.pop(1) if len(words) > 2 and words[1] in nodes else None
    status = next((known for known in get_args(Status) if words[1:2] == [known]), None)
    if status is None:
        return Event("accept", "progress", text)
    return Event(words[0], status, " ".join(words[2:]), node)
