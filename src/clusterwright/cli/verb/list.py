"""`clusterwright list`: the clusters of this operator."""

from __future__ import annotations

import argparse
import json

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

_ABOUT = """List the clusters that were brought up from here.

What is known of them lives in $XDG_STATE_HOME/clusterwright (~/.local/state/clusterwright)."""


def add(verbs: Verbs) -> None:
    verbs.add(
        "list", run, _ABOUT, examples={"clusterwright list": "", "clusterwright list --json": "for a program"}
    )


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.operate.home import known_clusters

    rows = [_row(name) for name in known_clusters()]
    if arguments.json:
        print(json.dumps(rows, indent=1))
    elif not rows:
        print("no clusters yet; `clusterwright up FILE` brings one up")
    else:
        width = max(len(str(row["cluster"])) for row in rows)
        for row in rows:
            print(f"{row['cluster']:<{width}}  {_words(row)}")
    return FINE


def _row(name: str) -> dict[str, object]:
    """What was last applied. A damaged or half-made cluster is listed too: it can still be destroyed."""
    from clusterwright.finding import Refused
    from clusterwright.operate.home import ClusterHome
    from clusterwright.operate.source import recorded

    home = ClusterHome.of(name)
    source = recorded(home)
    row: dict[str, object] = {"cluster": name, "description": str(source.file) if source else None}
    try:
        handoff = home.handoff()
    except Refused:
        return {**row, "state": "damaged"}
    if handoff is None:
        return {**row, "state": "half-made"}
    providers = sorted({str(site["provider"]) for site in handoff.site.values()})
    return {**row, "state": "applied", "nodes": len(handoff.nodes), "providers": providers}


def _words(row: dict[str, object]) -> str:
    if row["state"] != "applied":
        return f"{row['state']}; `clusterwright up {row['cluster']}` goes on, `destroy` removes it"
    providers = row["providers"]
    assert isinstance(providers, list)
    return f"{row['nodes']} nodes on {', '.join(providers)}  {row['description'] or ''}".rstrip()
