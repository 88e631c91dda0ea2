"""Wishes that cannot be fulfilled, and what a person is told: word for word, with line and column.

`python -m tests.plan.software.test_impossible` writes what is said now; read the diff before you commit it.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from clusterwright.finding import Refused
from clusterwright.plan.outline import Outline
from clusterwright.plan.software.asked import asked
from clusterwright.plan.software.solve import answer
from clusterwright.spec.load import load

CASES = Path(__file__).parent / "impossible"
FILES = sorted(CASES.glob("*.yaml"))


def refused(file: Path) -> Refused:
    loaded = load(file)
    with pytest.raises(Refused) as raised:
        answer(asked(Outline(loaded.spec, {}), loaded.where))
    return raised.value


def said(file: Path) -> str:
    rows = refused(file).findings
    text = "\n".join(
        f"{one.where.line}:{one.where.column} {one.code} {one.what}.\n  {one.remedy}" for one in rows
    )
    return text.replace(f"{file}:", "") + "\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_is_explained(file: Path) -> None:
    assert said(file) == file.with_suffix(".expected").read_text(encoding="utf-8")


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 20


def test_an_explanation_comes_at_once() -> None:
    file = CASES / "two-conflicts.yaml"
    refused(file)
    start = time.process_time()
    refused(file)
    assert time.process_time() - start < 0.5


if __name__ == "__main__":
    for case in FILES:
        case.with_suffix(".expected").write_text(said(case), encoding="utf-8")
