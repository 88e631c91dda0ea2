"""What may be a secret is told of, and not shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import clusterwright

BOX = "pools: {b: {roles: [controller, login, compute, storage], machine: rtx4090-workstation}}"


@pytest.mark.parametrize(
    "site",
    [
        "{provider: onprem, bmc_credentials: hunter2}",
        "{provider: onprem, machines: m.csv}",
    ],
    ids=["in the description", "in the file of machines"],
)
def test_a_password_in_place_of_a_reference_is_not_shown(tmp_path: Path, site: str) -> None:
    (tmp_path / "m.csv").write_text("node,bmc_credentials\nb,hunter2\n")
    (tmp_path / "c.yaml").write_text(f"cluster: a\nsite: {site}\n{BOX}\n")
    ended = clusterwright("validate", "c.yaml", home=tmp_path)
    assert ended.returncode == 2
    assert "reference to credentials" in ended.stderr
    assert "hunter2" not in ended.stdout + ended.stderr
