"""Pipelines of docs/gitops: every shell step parses, and every command of ours is one that there is."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.cli.parser import parse

FOLDER = Path(__file__).parents[2] / "docs/gitops"
FILES = sorted(FOLDER.glob("*.yaml"))


def scripts(value: Any) -> Iterator[str]:
    """Texts below `run`, `script` and `before_script`."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key in ("run", "script", "before_script"):
                yield "\n".join(part) if isinstance(part, list) else part
            else:
                yield from scripts(part)
    elif isinstance(value, list):
        for part in value:
            yield from scripts(part)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_steps_are_shell_and_name_commands_that_there_are(file: Path) -> None:
    found = list(scripts(yaml.safe_load(file.read_text())))
    for text in found:
        done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    lines = [line for text in found for line in text.splitlines() if line.startswith("clusterwright ")]
    for line in lines:
        parse(shlex.split(line)[1:])
    assert len(lines) == (0 if file.stem == "stack" else 3)


def test_the_page_names_every_file() -> None:
    page = (FOLDER.parent / "gitops.md").read_text()
    assert [file.name for file in FILES if f"gitops/{file.name}" not in page] == []
