"""What SELinux has to be told of a node, so that it stays enforcing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class SelinuxRule:
    """A boolean to switch, or the context of a path."""

    kind: str
    """`boolean` or `context`."""
    name: str
    """Of the boolean; or the path as a pattern, as `semanage fcontext` takes it."""
    value: str
    when: str
    """What a cluster must have switched on: `containers` or `shares`; empty for all."""
    why: str
    source: str
    date: str


@cache
def selinux_rules() -> tuple[SelinuxRule, ...]:
    return tuple(SelinuxRule(**row) for row in rows("selinux"))


def rules_for(switched_on: Mapping[str, object]) -> tuple[SelinuxRule, ...]:
    """Those for what is switched on."""
    return tuple(rule for rule in selinux_rules() if not rule.when or switched_on[rule.when])
