"""What differs between two locks, pool by pool, for a person to review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterwright.plan.software.lock import Lock, Locked


@dataclass(frozen=True, slots=True)
class Difference:
    """A component whose version or flavour is another now, in the pools where it is."""

    component: str
    before: str
    """Empty where it was not there."""
    after: str
    """Empty where it is there no more."""
    pools: tuple[str, ...]
    why: str

    def as_json(self) -> dict[str, object]:
        return {
            "component": self.component,
            "before": self.before or None,
            "after": self.after or None,
            "pools": list(self.pools),
            "why": self.why,
        }


def compare(before: Lock | None, after: Lock) -> tuple[Difference, ...]:
    """Every difference, by component."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for pool, component, old, new in _pairs(before, after):
        was, now = _said(old), _said(new)
        if was != now:
            why = next(iter(new.why), "") if new else "nothing needs it any more"
            found.setdefault((component, was, now, why), []).append(pool)
    return tuple(
        Difference(component, was, now, tuple(pools), why)
        for (component, was, now, why), pools in sorted(found.items())
    )


def _pairs(before: Lock | None, after: Lock) -> Iterator[tuple[str, str, Locked | None, Locked | None]]:
    old_pools = before.pools if before else {}
    for pool in dict.fromkeys([*after.pools, *old_pools]):
        old, new = old_pools.get(pool, {}), after.pools.get(pool, {})
        for component in sorted({*old, *new}):
            yield pool, component, old.get(component), new.get(component)


def _said(locked: Locked | None) -> str:
    return f"{locked.version} {locked.flavour}".strip() if locked else ""
