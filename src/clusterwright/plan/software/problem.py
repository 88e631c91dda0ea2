"""The question as a search sees it: identifiers, candidates for each, and what rules them out.

An identifier is `component@pool`, or `component` for the version that pools share. Sets of candidates are
bit masks: bit N stands for the Nth candidate of an identifier. Candidates are in the order of preference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from clusterwright.catalog.software_rows import Release
from clusterwright.plan.software.reason import Reason


@dataclass(frozen=True, slots=True)
class Candidate:
    """A release in one of its flavours, or the absence of the component."""

    release: Release | None
    flavour: str = ""

    @property
    def version(self) -> str:
        return self.release.version if self.release else ""


ABSENT = Candidate(None)


Case = tuple[int, int]
"""Candidates of a source, and what is allowed of the target where the source is one of them."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What one identifier leaves of another, in cases that do not overlap. Without a source: in any case."""

    reason: Reason
    target: str
    cases: tuple[Case, ...]
    source: str = ""

    def left(self, chosen: int, everything: int) -> int:
        """What it leaves of the target where the source is one of `chosen`."""
        left, free = 0, chosen
        for when, allowed in self.cases:
            if chosen & when:
                left |= allowed
                free &= ~when
        return everything if free else left

    def supported(self, chosen: int, target: int) -> int:
        """What it leaves of `chosen`, where the target is one of `target`."""
        for when, allowed in self.cases:
            if not target & allowed:
                chosen &= ~when
        return chosen


def always(reason: Reason, target: str, allowed: int) -> Demand:
    return Demand(reason, target, ((1, allowed),))


@dataclass(frozen=True)
class Problem:
    """Candidates of each identifier, identifiers in the order in which they are chosen, and all demands."""

    candidates: Mapping[str, tuple[Candidate, ...]]
    demands: tuple[Demand, ...]

    @cached_property
    def order(self) -> Mapping[str, int]:
        return {identifier: position for position, identifier in enumerate(self.candidates)}

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        return tuple(dict.fromkeys(demand.reason for demand in self.demands))

    def everything(self, identifier: str) -> int:
        return (1 << len(self.candidates[identifier])) - 1

    @cached_property
    def allowed(self) -> Mapping[str, int]:
        """What is left of each identifier before anything is chosen; nothing of some, if it is hopeless."""
        masks = {identifier: self.everything(identifier) for identifier in self.candidates}
        for demand in self.demands:
            if not demand.source:
                masks[demand.target] &= demand.left(1, 0)
        return self._settled(masks, masks)

    def follows(self, identifier: str, index: int) -> Mapping[str, int]:
        """What a choice leaves of other identifiers, near and far."""
        key = (identifier, index)
        if key not in self._consequences:
            masks = self._settled({**self.allowed, identifier: 1 << index}, [identifier])
            self._consequences[key] = {
                one: mask
                for one, mask in masks.items()
                if mask != self.allowed[one] and (one != identifier or not mask)
            }
        return self._consequences[key]

    def _settled(self, masks: dict[str, int], changed: Iterable[str]) -> dict[str, int]:
        """Draw every conclusion from what is left, until none is new or nothing is left of one."""
        waiting = dict.fromkeys(changed)
        while waiting:
            identifier, _ = waiting.popitem()
            for demand in self._touching[identifier]:
                source, target = masks[demand.source], masks[demand.target]
                if identifier == demand.source:
                    left, changes = target & demand.left(source, target), demand.target
                else:
                    left, changes = demand.supported(source, target), demand.source
                if left != masks[changes]:
                    masks[changes] = left
                    waiting[changes] = None
            if not masks[identifier]:
                break
        return masks

    @cached_property
    def _consequences(self) -> dict[tuple[str, int], dict[str, int]]:
        return {}

    @cached_property
    def _touching(self) -> Mapping[str, list[Demand]]:
        touching: dict[str, list[Demand]] = {identifier: [] for identifier in self.candidates}
        for demand in self.demands:
            if demand.source:
                touching[demand.source].append(demand)
                touching[demand.target].append(demand)
        return touching

    def only(self, reasons: Collection[Reason]) -> Problem:
        """The same question with some of its reasons."""
        return replace(self, demands=tuple(demand for demand in self.demands if demand.reason in reasons))

    def about(self, test: Callable[[str], bool]) -> Problem:
        """The same question about some of the identifiers, as if the others were not there."""
        kept = {key: rows for key, rows in self.candidates.items() if test(key)}
        demands = (one for one in self.demands if one.target in kept and one.source in {"", *kept})
        return Problem(kept, tuple(demands))


def identifier_of(component: str, pool: str = "") -> str:
    return f"{component}@{pool}" if pool else component


def component_of(identifier: str) -> str:
    return identifier.partition("@")[0]


def pool_of(identifier: str) -> str:
    return identifier.partition("@")[2]


def bits(mask: int) -> Iterator[int]:
    """Positions of the bits that are set, the lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
