"""The command answers at once: help and validate are what people and editors wait for."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

import pytest
from command import BIN, environment

LAB = Path(__file__).parents[2] / "clusters" / "lab.yaml"


@pytest.mark.parametrize(("words", "bar"), [(["--help"], 0.15), (["validate", str(LAB)], 0.4)])
def test_process_time(words: list[str], bar: float, tmp_path: Path) -> None:
    assert min(_seconds(words, tmp_path) for _ in range(5)) <= bar


def _seconds(words: list[str], home: Path) -> float:
    before = _children()
    subprocess.run([BIN / "clusterwright", *words], env=environment(home), check=True, capture_output=True)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
