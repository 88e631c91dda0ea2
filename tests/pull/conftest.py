from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from clusterwright.operate.pull import publish

from .cloud import Cloud
from .world import AGENT, World, served


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """With one small file in place of the wheels, which are only fetched here."""
    wheel = tmp_path / "small-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    monkeypatch.setattr(publish, "wheels_of", lambda *_: {"x86_64": {wheel.name: wheel}})
    with served(tmp_path) as url:
        world = World(tmp_path, url)
        yield world
        for agent in world.agents:
            agent.store.close()


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    wheel = tmp_path / "small-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    monkeypatch.setattr(publish, "wheels_of", lambda *_: {"x86_64": {wheel.name: wheel}})
    yield Cloud(tmp_path)


@pytest.fixture(scope="module")
def agent() -> ModuleType:
    spec = importlib.util.spec_from_loader("agent", SourceFileLoader("agent", str(AGENT)))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module
