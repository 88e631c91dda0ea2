"""What is locked for distributions, machine types and wishes, reviewed as lines of text.

`python -m tests.plan.software.test_cases` writes what is locked now; read the diff before you commit it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .case import CASES, said

FILES = sorted(CASES.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_case(file: Path) -> None:
    assert said(file) == file.with_suffix(".expected").read_text(encoding="utf-8")


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 60
    assert {file.stem.split("_")[0] for file in FILES} >= {
        *("amazon-2023", "debian-12", "debian-13", "rhel-9", "rhel-10", "rocky-9", "rocky-10"),
        *("ubuntu-22.04", "ubuntu-24.04"),
    }


if __name__ == "__main__":
    for case in FILES:
        case.with_suffix(".expected").write_text(said(case), encoding="utf-8")
