"""Stacks that others have published and run: asked for by version, each is found whole."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from clusterwright.catalog.software import catalog
from clusterwright.plan.software.solve import answer

from .case import question

FILES = sorted((Path(__file__).parent / "stacks").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_published_stack_is_reproduced(file: Path) -> None:
    body = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert body["source"]
    rows = answer(question(body)).pools["gpu"]
    for component, asked in body["versions"].items():
        version = asked.removeprefix("==")
        exact = any(release.version == version for release in catalog().releases(component))
        found = rows[component].version
        assert found == version if exact else found.startswith(f"{version}."), component
