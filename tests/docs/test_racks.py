"""What docs/racks.md shows is what the commands print, and its picture is what they draw."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/racks.md").read_text()
EXAMPLE = "clusters/onprem-superpod.yaml"
SHOWN = re.findall(r"^\$ (clusterwright (?:cabling|racks) .*)\n((?:(?!```|\$ ).*\n)+)", PAGE, re.MULTILINE)


def output(command: str) -> str:
    environ = {**os.environ, "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}
    words = ["bash", "-c", command]
    return subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=lambda text: text[:40])
def test_the_page_shows_what_is_printed(command: str, shown: str) -> None:
    assert output(command) == shown


def test_the_page_shows_four_commands() -> None:
    assert len(SHOWN) == 4


def test_the_pictures_are_current(tmp_path: Path) -> None:
    for verb, picture in (("cabling", "fabric"), ("racks", "racks")):
        output(f"clusterwright {verb} {EXAMPLE} --svg {tmp_path / 'picture.svg'}")
        drawn = (ROOT / f"docs/pictures/superpod-{picture}.svg").read_text()
        assert (tmp_path / "picture.svg").read_text() == drawn
