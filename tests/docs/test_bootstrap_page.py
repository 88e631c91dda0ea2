"""What docs/bootstrap.md says is a command is one, and its description is one that plans."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from clusterwright.cli.parser import parse
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source

PAGE = (Path(__file__).parents[2] / "docs/bootstrap.md").read_text()
COMMANDS = re.findall(r"`(clusterwright [a-z][^`]*)`", PAGE)
FILES = Path(__file__).parents[2] / "playbooks"


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_one(command: str) -> None:
    parse(shlex.split(command)[1:])


def test_the_page_has_its_commands() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} >= {"init", "survey", "bootstrap", "up", "plan"}


def test_the_description_plans(tmp_path: Path) -> None:
    whole, kept = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
    for pools in ({}, kept["pools"]):
        text = yaml.safe_dump({**whole, "pools": {**whole["pools"], **pools}}, sort_keys=False)
        (tmp_path / "shed.yaml").write_text(text)
        found = prepare(described(Source(tmp_path / "shed.yaml")))
        assert [node.name for node in found.handoff.nodes][:2] == ["head", "gpu001"]
        assert "CW1687" not in {finding.code for finding in found.findings}


def test_the_login_is_the_one_that_the_playbook_makes() -> None:
    assert "`clusterwright-admin`" in PAGE
    assert "default('clusterwright-admin')" in (FILES / "bootstrap.yml").read_text()
