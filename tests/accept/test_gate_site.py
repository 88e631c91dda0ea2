"""What a gate says of a site's own: its firewall and its directory."""

from __future__ import annotations

import pytest
from gate_tree import Tree


@pytest.mark.parametrize(("status", "said"), [(0, "pass"), (1, "fail")])
def test_rules_that_are_not_loaded_are_told_where_a_firewall_is_described(
    healthy: Tree, status: int, said: str
) -> None:
    program = healthy.root / "usr/lib/clusterwright/firewall"
    healthy.write("/usr/lib/clusterwright/firewall", f"#!/bin/sh\necho the table is gone\nexit {status}\n")
    program.chmod(0o755)
    assert "firewall" not in healthy.run()[1]
    healthy.expected["units"] = [*healthy.expected["units"], "clusterwright-nftables"]
    healthy.plan()
    _, gates, report = healthy.run()
    assert gates["firewall"] == said
    [told] = [gate for gate in report["gates"] if gate["name"] == "firewall"]
    assert told["seen"] == "the table is gone"


@pytest.mark.parametrize(
    ("answer", "status", "seen"),
    [
        ("echo grace:x:1:1::/:/bin/sh", "fail", "not bob"),
        ("exit 2", "fail", "not bob, grace"),
        ("printf 'bob:x:1\\ngrace:x:2\\n'", "pass", "2 people of the directory are known"),
    ],
)
def test_a_person_whom_the_directory_does_not_tell_of_is_named(
    healthy: Tree, answer: str, status: str, seen: str
) -> None:
    healthy.program("getent", f'[ "$*" = "--service sss passwd bob grace" ] || exit 3\n{answer}')
    assert "directory" not in healthy.run()[1]
    healthy.expected["directory"] = ["bob", "grace"]
    healthy.plan()
    _, gates, report = healthy.run()
    assert gates["directory"] == status
    assert [gate["seen"] for gate in report["gates"] if gate["name"] == "directory"] == [seen]
