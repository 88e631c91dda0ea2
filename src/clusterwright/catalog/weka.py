"""Where WEKA's client runs, as data: it is installed from the backends and stands in no repository."""

from __future__ import annotations

from functools import cache

from clusterwright.catalog.table import rows


@cache
def why_not() -> dict[str, str]:
    """Distribution → why WEKA's client is not for it; empty where it is."""
    return {row["distribution"]: row["why_not"] for row in rows("weka_clients")}


def suits(distribution: str) -> bool:
    return why_not().get(distribution, "unknown") == ""
