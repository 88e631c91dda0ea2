"""The way between the sites of a rehearsal, cut on purpose to see what goes on without it."""

from __future__ import annotations

from clusterwright.finding import Where, refuse
from clusterwright.operate.broken import simulated
from clusterwright.operate.cluster import Cluster


def cut(cluster: Cluster, site: str) -> tuple[str, ...]:
    """Let nothing pass between this site and the others; returns those."""
    machines, sites = simulated(cluster), cluster.handoff.site
    others = tuple(sorted(name for name in sites if name != site))
    if site not in sites or not others:
        what = f"'{cluster.name}' has no site '{site}' beside others"
        remedy = (
            f"Name one of: {', '.join(sorted(sites))}" if others else "Rehearse a cluster of several sites"
        )
        raise refuse("CW8320", Where(path=site), what, remedy)
    machines.cut(str(sites[site]["network"]))
    return others


def join(cluster: Cluster) -> tuple[str, ...]:
    """Let everything pass between all sites again; returns them."""
    simulated(cluster).join()
    return tuple(sorted(cluster.handoff.site))
