"""Machine types that images are built on."""

from __future__ import annotations

from functools import cache

from clusterwright.catalog.table import rows


@cache
def _builders() -> dict[tuple[str, str], str]:
    return {(row["provider"], row["architecture"]): row["machine"] for row in rows("builders")}


def builder(provider: str, architecture: str) -> str | None:
    """None where only the machines themselves are known of that processor: one of them builds."""
    return _builders().get((provider, architecture))
