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


@cache
def with_session_manager() -> tuple[str, ...]:
    """Distributions whose images on AWS have the agent of Session Manager."""
    return tuple(row["distribution"] for row in rows("session_manager"))


@cache
def root_devices() -> Mapping[str, str]:
    """By distribution, the disk that its images on AWS boot from, and those that are built on them."""
    return {row["distribution"]: row["device"] for row in rows("root_devices")}


def root_device(distribution: str) -> str | None:
    """None where no source tells."""
    return root_devices().get(distribution)
