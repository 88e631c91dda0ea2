from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from small_registry import Registry, serving


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with serving(tmp_path / "home") as made:
        yield made
