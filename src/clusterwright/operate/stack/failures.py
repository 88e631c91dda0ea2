"""The engine's complaints as findings: which resource, or which node, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.stack.changes import title

if TYPE_CHECKING:
    from clusterwright.providers.engine.stack import Complaint, Failed

ACCEPTANCE = "clusterwright:pull:Acceptance"


@contextmanager
def refused(cluster: str) -> Iterator[None]:
    """Where the engine cannot even look, nothing is begun."""
    from clusterwright.providers.engine.stack import Failed

    try:
        yield
    except Failed as failed:
        raise Refused(findings_of(failed, cluster)) from failed


def findings_of(failed: Failed, cluster: str) -> tuple[Finding, ...]:
    return tuple(finding for error in failed.errors for finding in _of(error, cluster))


def _of(error: Complaint, cluster: str) -> Iterator[Finding]:
    kind, name = _meant(error.urn)
    if kind == ACCEPTANCE:
        yield from _of_nodes(error.text, cluster)
        return
    place = title(kind, name) if kind and not kind.startswith("pulumi:") else cluster
    remedy = "Mend the cause, then run the same command again: it goes on from here"
    yield Finding("CW8082", Where(path=place), error.text.rstrip("."), remedy)


def _of_nodes(text: str, cluster: str) -> Iterator[Finding]:
    """A line for each node: its name, how it is, and why."""
    lines = (line.strip().removeprefix("* ") for line in text.splitlines())
    for line in (line for line in lines if line and not _COUNT.fullmatch(line)):
        node, colon, words = line.partition(": ")
        told = bool(colon) and " " not in node
        remedy = "Mend it and run the same command again, or take the node out of the description"
        yield Finding("CW8083", Where(path=node if told else cluster), words if told else line, remedy)


_COUNT = re.compile(r"\d+ errors? occurred:")
"""The engine's own line above what a provider says."""


def _meant(urn: str) -> tuple[str, str]:
    """Type and name."""
    parts = urn.split("::")
    return (parts[2].rpartition("$")[2], parts[-1]) if len(parts) > 3 else ("", "")
