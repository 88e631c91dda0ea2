"""Which machine that came becomes which node that has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterwright.plan.domains import chunks
from clusterwright.providers.member import Member


def deal(
    names: Sequence[str], held: Mapping[str, Member], coming: Mapping[str, Member], trays: int
) -> Iterator[tuple[str, str]]:
    """Name and machine. `names` are all that are planned, `held` those that have a machine, `coming` the
    machines without a name, and `trays` how many machines share NVLink; 0 where none do.

    A machine that was made as a node is this node. Of an NVLink domain all get names of one planned domain,
    because jobs are placed by names; those whose domain nobody knows yet wait."""
    free = [name for name in names if name not in held]
    made_as = {member.node: machine for machine, member in sorted(coming.items()) if member.node}
    yield from ((name, made_as[name]) for name in free if name in made_as)
    alike = sorted(machine for machine, member in coming.items() if not member.node)
    if not trays:
        yield from zip([name for name in free if name not in made_as], alike, strict=False)
        return
    yield from _by_domain(names, held, {machine: coming[machine].domain or "" for machine in alike}, trays)


def _by_domain(
    names: Sequence[str], held: Mapping[str, Member], coming: Mapping[str, str], trays: int
) -> Iterator[tuple[str, str]]:
    planned = chunks(names, trays)
    homes = {planned[name]: member.domain or "" for name, member in held.items()}
    there: dict[str, list[str]] = {}
    for machine, domain in coming.items():
        if domain:
            there.setdefault(domain, []).append(machine)
    for chunk in sorted(set(planned.values())):
        free = [name for name in names if planned[name] == chunk and name not in held]
        if free and not homes.get(chunk):
            homes[chunk] = _fullest(there, set(homes.values()))
        yield from zip(free, there.get(homes.get(chunk, ""), ()), strict=False)


def _fullest(there: Mapping[str, Sequence[str]], taken: set[str]) -> str:
    """Domain with the most machines that came, of those that no planned one is; empty without any."""
    left = [domain for domain in there if domain not in taken]
    return min(left, key=lambda domain: (-len(there[domain]), domain), default="")
