"""mypy reads the types of those services of the clouds' SDKs that are used, and skips hundreds of others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("cloud", ["aws", "gcp"])
def test_types_of_every_service_that_is_used_are_read(cloud: str) -> None:
    rows = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    read = {name for row in rows if row.get("follow_imports") == "normal" for name in row["module"]}
    texts = [file.read_text() for file in (ROOT / "src/clusterwright/providers" / cloud).glob("*.py")]
    used = {service for text in texts for service in re.findall(rf"\b{cloud}\.([a-z0-9]+)\.[A-Z]", text)}
    assert used
    assert {f"pulumi_{cloud}.{service}.*" for service in used} <= read
