"""Who of those that came becomes which node."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from clusterwright.operate.pull.dealing import deal
from clusterwright.providers.member import Member

NAMES = [f"gpu-{number:03}" for number in range(1, 7)]


def dealt(
    coming: Mapping[str, Member], held: Mapping[str, Member] | None = None, trays: int = 0
) -> dict[str, str]:
    return dict(deal(NAMES, held or {}, coming, trays))


def alike(*domains: str | None) -> dict[str, Member]:
    return {f"i-{at}": Member(f"10.9.7.{at}", domain=domain) for at, domain in enumerate(domains, 1)}


def test_machines_that_are_alike_get_the_first_free_names() -> None:
    held = {"gpu-002": Member("10.9.7.9")}
    assert dealt(alike(None, None), held) == {"gpu-001": "i-1", "gpu-003": "i-2"}
    assert len(dealt(alike(*[None] * 9))) == 6, "no more than there are names"


def test_a_machine_that_was_made_as_a_node_is_this_one() -> None:
    made = {"7": Member("10.9.7.1", "gpu-005"), "8": Member("10.9.7.2", "gpu-001")}
    assert dealt(made) == {"gpu-005": "7", "gpu-001": "8"}
    assert dealt(made, {"gpu-001": Member("10.9.7.9", "gpu-001")}) == {"gpu-005": "7"}


@pytest.mark.parametrize("trays", [2, 3])
def test_a_domain_of_nvlink_is_one_domain_of_names(trays: int) -> None:
    domains = ["b", "a", "b", "a", "b", "a"] if trays == 3 else ["b", "c", "a", "b", "a", "c"]
    coming = alike(*domains)
    names = dealt(coming, trays=trays)
    assert sorted(names) == NAMES
    for first in range(0, 6, trays):
        [domain] = {coming[names[name]].domain for name in NAMES[first : first + trays]}
        assert domain


def test_who_comes_later_joins_its_domain() -> None:
    held = {"gpu-004": Member("10.9.7.8", domain="a"), "gpu-005": Member("10.9.7.9", domain="a")}
    assert dealt(alike("b", "a", "b"), held, trays=3) == {
        "gpu-001": "i-1",
        "gpu-002": "i-3",
        "gpu-006": "i-2",
    }


def test_a_machine_whose_domain_nobody_tells_yet_waits() -> None:
    assert dealt(alike("", "a", ""), trays=3) == {"gpu-001": "i-2"}


def test_a_domain_without_names_left_gets_none_of_anothers() -> None:
    """Better a name without a machine, which is told, than a job over two domains, which is slow."""
    held = {name: Member("10.9.7.9", domain="ab"[at // 3]) for at, name in enumerate(NAMES) if at != 5}
    assert dealt(alike("c", "a"), held, trays=3) == {}
