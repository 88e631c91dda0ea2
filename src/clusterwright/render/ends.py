"""What the controller reserves because machines are taken away at a known time."""

from __future__ import annotations

import json

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile
from clusterwright.spec.nodeset import fold

PATH = "/etc/clusterwright/ends.json"


def files(handoff: Handoff) -> tuple[NodeFile, ...]:
    ends = handoff.scheduler.get("ends", {})
    if not ends:
        return ()
    rows = {
        pool: {
            "nodes": fold(n.name for n in handoff.nodes if n.pool == pool and "compute" in n.roles),
            "last": last,
        }
        for pool, last in ends.items()
    }
    text = json.dumps(rows, indent=1, sort_keys=True) + "\n"
    return (NodeFile(PATH, text, ("controller",), affects=("clusterwright-ends:reload",)),)
