"""The gate on the controller's backups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clusterwright.accept.result import GateResult, judged
from clusterwright.accept.session import Session
from clusterwright.handoff import Handoff, Node

PROGRAM = "/usr/lib/clusterwright/state-backup"


def takes_backups(handoff: Handoff, node: Node) -> bool:
    """Whether it is the node whose state is saved."""
    wanted = handoff.scheduler.get("backup")
    return bool(wanted) and node.name == handoff.with_role("controller")[0].name


def recent(session: Session, node: Node) -> GateResult:
    """The last whole backup is not older than twice its interval."""
    ran = session.run(PROGRAM, "list")
    try:
        return judge(node, json.loads(ran.output))
    except (ValueError, KeyError, TypeError):
        remedy = "Run `clusterwright up` again: it installs the program"
        return GateResult(
            "backup", node.name, "fail", f"{PROGRAM} answers", ran.complaint, remedy, ran.seconds
        )


def judge(node: Node, seen: Mapping[str, Any]) -> GateResult:
    whole = [row["taken"] for row in seen["backups"] if row["whole"]]
    last = f"the last one is of {whole[-1]}" if whole else "none yet"
    held = f"slurmctld does not start: {seen['why']}" if seen["hold"] else ""
    return judged(
        "backup",
        node.name,
        not (seen["late"] or seen["hold"]),
        expected=f"a whole backup every {seen['every']} s in {seen['folder']}, at most one of them missed",
        seen=held or seen["problem"] or last,
        remedy="Look at `journalctl --unit clusterwright-backup` there, and at `clusterwright backup list`",
    )
