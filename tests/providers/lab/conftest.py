"""A home for labs of the tests: the base is shared with the user's labs, the state is the test's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusterwright.providers.lab import host, state
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.lab import Lab


@pytest.fixture
def home(tmp_path: Path) -> LabHome:
    return LabHome(LabHome.of_user(dict(os.environ)).cache, tmp_path / "state")


@pytest.fixture
def lab(home: LabHome) -> Iterator[Lab]:
    """A lab that is gone when the test ends, however it ends."""
    findings = [finding for finding in host.missing(home) if finding.severity == "error"]
    if findings:
        pytest.skip("; ".join(str(finding) for finding in findings))
    yield Lab(home, "demo")
    for name in state.names(home):
        Lab(home, name).destroy()
