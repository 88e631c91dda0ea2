"""The collection as Ansible sees it: importable as `ansible_collections.clusterwright.cluster`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for ANSIBLE_COLLECTIONS_PATH that holds this checkout."""
    folder = tmp_path_factory.mktemp("collections")
    namespace = folder / "ansible_collections" / "clusterwright"
    namespace.mkdir(parents=True)
    (namespace / "cluster").symlink_to(REPOSITORY)
    return folder


@pytest.fixture(scope="session")
def plugin(collections: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Import a plugin by its place, for instance `modules.node`."""
    sys.path.insert(0, str(collections))
    yield lambda name: importlib.import_module(f"ansible_collections.clusterwright.cluster.plugins.{name}")
    sys.path.remove(str(collections))
