"""docs/bmc.md: each command that it shows is run, and what it shows is what appears."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.bmc.conftest import Hall

from clusterwright.cli.explanations import explanations
from clusterwright.cli.parser import parse

PAGE = (Path(__file__).parents[2] / "docs/bmc.md").read_text()
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_what_the_page_shows_appears(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hall.folder)
    seen = []
    for block in BLOCKS:
        typed = re.findall(r"^\$ (clusterwright .*)$", block, re.MULTILINE)
        answers = (hall.run(*shlex.split(command)[1:])[1] for command in typed)
        seen.append("".join(f"$ {command}\n{out}" for command, out in zip(typed, answers, strict=True)))
    assert seen == BLOCKS


def test_other_commands_and_codes_are_there() -> None:
    quoted = re.findall(r"`(clusterwright [a-z]+ [^`]*)`|^(clusterwright .*)$", PAGE, re.MULTILINE)
    assert len(quoted) >= 4
    for command in map("".join, quoted):
        parse(shlex.split(command)[1:])
    assert set(re.findall(r"CW\d{4}", PAGE)) <= set(explanations())
