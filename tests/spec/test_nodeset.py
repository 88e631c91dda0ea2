"""Node sets: ClusterShell is the oracle for what is folded, and nothing may be expensive."""

from __future__ import annotations

import pytest
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from hypothesis import given
from hypothesis import strategies as st

from clusterwright.spec.nodeset import MAX_NODES, expand, fold

NAMES = st.from_regex(r"[a-c](-|x)?([0-9]{1,3}(n[0-9]{1,2})?)?", fullmatch=True)


@given(st.sets(NAMES, min_size=1, max_size=40))
def test_what_is_folded_expands_to_the_same_names(names: set[str]) -> None:
    assert set(NodeSet(fold(names), resolver=RESOLVER_NOGROUP)) == names


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["gpu001", "gpu002", "gpu003"], "gpu[001-003]"),
        (["gpu10", "gpu9", "gpu1"], "gpu[1,9-10]"),
        (["gpu1", "gpu01"], "gpu01,gpu1"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
        (["login", "gpu7", "gpu7"], "gpu7,login"),
        ([], ""),
    ],
)
def test_only_the_last_digits_are_folded(names: list[str], folded: str) -> None:
    assert fold(names) == folded


def test_names_keep_the_order_of_the_text() -> None:
    assert expand("b2,a[9-11], c") == ["b2", "a9", "a10", "a11", "c"]
    assert expand("r[1-2]n[01-02]") == ["r1n01", "r1n02", "r2n01", "r2n02"]


def test_a_whole_cluster_fits_and_not_one_node_more() -> None:
    names = expand(f"n[00001-{MAX_NODES}]")
    assert len(names) == MAX_NODES
    assert fold(names) == f"n[00001-{MAX_NODES}]"
    with pytest.raises(ValueError, match="more than 65536"):
        expand(f"n[1-{MAX_NODES}],m")


@pytest.mark.parametrize(
    "text",
    [
        "", ",", "a,,b", "a[", "a]", "a[]", "a[1-3", "a[1-]", "a[3-1]", "a[01-100]", "a[1-2/1]", "a b",
        "A1", "é1", "-a", "a-", "[1-3]", "1", "@all", "a*", "a!b", "a&b", "a^b", "a1,a1", "a[1-2],a2",
        "n[1-999999999]", "a[1-9999]b[1-9999]", "a" * 64, "a[1" + ",1" * 5000 + "]",
        "n[99999999999-99999999999]", "a[1-2]" * 30,
        "a" * 3999 + "!",
    ],
)  # fmt: skip
def test_what_is_no_set_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        expand(text)
