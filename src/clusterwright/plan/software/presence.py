"""Which components a pool can have: what its machines ask for, what is wished for, and what those need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.catalog.software_rows import HardwareRule
from clusterwright.plan.software.traits import PoolFacts
from clusterwright.plan.software.wish import Wish


@dataclass(frozen=True)
class Presence:
    """Components of one pool."""

    rules: tuple[HardwareRule, ...]
    """Those that speak of a trait of the pool's machines."""
    wishes: Mapping[str, tuple[Wish, ...]]
    """By component, as far as they are for this pool."""
    demanded: frozenset[str]
    """What the machines ask for, with all that this needs."""
    certain: frozenset[str]
    """What is there whatever versions are chosen."""
    possible: frozenset[str]
    """What may be there."""


def presence(
    pool: str, facts: PoolFacts, wishes: Sequence[Wish], catalog: SoftwareCatalog, elsewhere: frozenset[str]
) -> Presence:
    """`elsewhere`: components that come from another place and are not for the catalog to say."""
    rules = tuple(
        rule
        for rule in catalog.hardware_rules
        if rule.trait in facts.traits and rule.component not in elsewhere
    )
    named = dict.fromkeys(wish.component for wish in wishes if wish.component not in elsewhere)
    mine = {name: _wishes(name, pool, facts, wishes, catalog) for name in named}
    mine = {name: found for name, found in mine.items() if found}
    asked = {rule.component for rule in rules if rule.kind == "requires"}
    return Presence(
        rules=rules,
        wishes=mine,
        demanded=needed(asked, catalog, elsewhere, always=True),
        certain=needed({*asked, *mine}, catalog, elsewhere, always=True),
        possible=needed({*asked, *mine}, catalog, elsewhere),
    )


def _wishes(
    component: str, pool: str, facts: PoolFacts, wishes: Sequence[Wish], catalog: SoftwareCatalog
) -> tuple[Wish, ...]:
    """A pool's own wish stands instead of the cluster's, unless the component has one version everywhere.

    The cluster's is for machines that the component suits. A pool's own may go further, but not to machines
    that it could never run on.
    """
    mine = [wish for wish in wishes if wish.component == component and wish.pool in ("", pool)]
    own = tuple(wish for wish in mine if wish.pool and suits(component, facts, catalog, strictly=False))
    common = tuple(wish for wish in mine if not wish.pool and suits(component, facts, catalog))
    shared = catalog.components[component].scope == "cluster"
    return (*own, *common) if shared or not own else own


def suits(component: str, facts: PoolFacts, catalog: SoftwareCatalog, *, strictly: bool = True) -> bool:
    """Whether these machines are among those that the component, and all that it needs, is for.

    The traits that rules name it for are its homes: cuDNN needs CUDA, CUDA the driver, and the driver is for
    NVIDIA GPUs. `strictly`: also where it is itself no machine's need but only of use to some.
    """
    homes: dict[str, set[str]] = {}
    bound: set[str] = set()
    for rule in catalog.hardware_rules:
        if rule.kind != "constrains":
            homes.setdefault(rule.component, set()).add(rule.trait)
        if rule.kind == "requires" or (strictly and rule.component == component):
            bound.add(rule.component)
    chain = needed({component}, catalog, frozenset())
    return all(homes[one] & facts.traits for one in chain if one in homes and one in bound)


def needed(
    components: Iterable[str], catalog: SoftwareCatalog, elsewhere: frozenset[str], *, always: bool = False
) -> frozenset[str]:
    """The components and all that they need. `always`: only through rules that hold for every release."""
    found: set[str] = set()
    waiting = list(components)
    while waiting:
        component = waiting.pop()
        if component in found or component in elsewhere:
            continue
        found.add(component)
        waiting += [
            rule.needs
            for rule in catalog.rules
            if rule.component == component and rule.kind == "requires" and not (always and rule.versions)
        ]
    return frozenset(found)
