from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clusterwright.operate.pull import publish

from .world import World, served


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """With one small file in place of the wheels, which are only fetched here."""
    wheel = tmp_path / "small-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    monkeypatch.setattr(publish, "wheels_of", lambda _: {"x86_64": {wheel.name: wheel}})
    with served(tmp_path) as url:
        world = World(tmp_path, url)
        yield world
        for agent in world.agents:
            agent.store.close()
