from __future__ import annotations

from collections.abc import Iterator

import pytest

from clusterwright.providers.lab import host
from clusterwright.providers.lab.home import LabHome

from .ground import Desk, cleared


@pytest.fixture(scope="package", autouse=True)
def able() -> None:
    unmet = [str(finding) for finding in host.missing(LabHome.of_user()) if finding.severity == "error"]
    if unmet:
        pytest.skip("; ".join(unmet))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A module's machine; whatever its tests left running is destroyed, and nothing may remain."""
    with cleared(Desk(tmp_path_factory.mktemp("desk"))) as made:
        yield made
