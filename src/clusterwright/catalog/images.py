"""Images that a cloud has of a distribution, made by the distribution itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clusterwright.catalog.table import rows


@cache
def images() -> Mapping[tuple[str, str, str], str]:
    """By distribution, provider and architecture. None where its maker publishes no name that stays."""
    return {
        (row["distribution"], row["provider"], row["architecture"]): row["image"] for row in rows("images")
    }


def image(distribution: str, provider: str, architecture: str) -> str | None:
    return images().get((distribution, provider, architecture))
