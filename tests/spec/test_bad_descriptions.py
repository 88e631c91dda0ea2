"""Every wrong description in the fixtures is refused with the findings that stand beside it.

To take over what is said now, after reading it: `python tests/spec/test_bad_descriptions.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.finding import Finding, Refused
from clusterwright.spec.codes import CODES
from clusterwright.spec.load import load

CASES = Path(__file__).parents[1] / "fixtures" / "descriptions" / "bad"
FILES = sorted(CASES.glob("*.yaml"))
NOT_A_FILE_OF_ITS_OWN = {
    "CW1001",  # no file at all: test_load.py
    "CW1002",  # over 1 MiB: test_load.py
    "CW1014",  # more than 200 findings: test_load.py
    "CW1132",  # a template's name: test_help.py
    "CW1670",  # of the file of machines, as the next three: test_machines.py
    "CW1671",
    "CW1672",
    "CW1673",
}


def findings(file: Path) -> tuple[Finding, ...]:
    with pytest.raises(Refused) as refused:
        load(file)
    return refused.value.findings


def said(file: Path) -> str:
    rows = [
        f"{one.where.line}:{one.where.column} {one.code} {one.where.path}: {one.what}. {one.remedy}"
        for one in findings(file)
    ]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_is_refused_with_what_stands_beside_it(file: Path) -> None:
    assert said(file) == file.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_code_has_a_case_and_a_meaning() -> None:
    seen = {finding.code for file in FILES for finding in findings(file)}
    assert seen | NOT_A_FILE_OF_ITS_OWN == CODES.keys()


def test_findings_are_sentences_for_people() -> None:
    for file in FILES:
        for finding in findings(file):
            assert finding.where.file == str(file)
            for words in (finding.what, finding.remedy):
                assert words == words.strip()
                assert "\n" not in words
                assert "pydantic" not in words.lower()


if __name__ == "__main__":
    for case in FILES:
        case.with_suffix(".expected").write_text(said(case), encoding="utf-8")
