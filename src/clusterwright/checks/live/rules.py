"""Every live rule, by cloud and concern."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from clusterwright.checks.live import amazon, amazon_ground, amazon_reserved, google, google_ground
from clusterwright.checks.live.rule import LiveRule

CONCERNS: dict[str, tuple[ModuleType, ...]] = {
    "aws": (amazon, amazon_reserved, amazon_ground),
    "gcp": (google, google_ground),
}


def rules_of(module: ModuleType) -> tuple[LiveRule[Any, Any], ...]:
    return tuple(value for value in vars(module).values() if isinstance(value, LiveRule))


def live_rules(provider: str) -> tuple[LiveRule[Any, Any], ...]:
    """Of one cloud."""
    return tuple(rule for concern in CONCERNS[provider] for rule in rules_of(concern))
