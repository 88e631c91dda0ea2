"""Codes at length, and the page of all of them."""

from __future__ import annotations

from pathlib import Path

from clusterwright.checks import explain, reference, rules

ROOT = Path(__file__).parents[2]


def test_a_code_is_explained_in_any_case() -> None:
    explanation = explain("cw1221")
    assert explanation is not None
    assert explanation.title == "An unknown machine type"
    assert "catalog" in explanation.source


def test_a_code_of_another_layer_is_not_ours() -> None:
    assert explain("CW1101") is None


def test_the_page_is_current() -> None:
    assert (ROOT / reference.FILE).read_text() == reference.text(), (
        "run: python -m clusterwright.checks.reference"
    )
    assert all(f"### {rule.code}: {rule.title}" in reference.text() for rule in rules())
