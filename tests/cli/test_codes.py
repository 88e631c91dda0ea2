"""Every code that anything can print is one that `clusterwright explain` knows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from clusterwright.cli.explanations import explanations

SOURCE = Path(__file__).parents[2] / "src" / "clusterwright"


def test_every_code_is_explained() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.name != "codes.py"]
    used = {code: path for path in files for code in re.findall(r'"(CW\d{4})"', path.read_text())}
    missing = {
        code: str(path.relative_to(SOURCE)) for code, path in used.items() if code not in explanations()
    }
    assert not missing


def test_no_code_has_two_meanings() -> None:
    row = re.compile(r'^    "(CW\d{4})":', re.MULTILINE)
    told = Counter(code for page in SOURCE.rglob("codes.py") for code in row.findall(page.read_text()))
    assert [code for code, times in told.items() if times > 1] == []
    assert told.keys() <= explanations().keys()
