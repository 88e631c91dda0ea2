"""Copies of a description: what lies beside it comes along."""

from __future__ import annotations

from pathlib import Path

from clusterwright.operate.source import copy
from clusterwright.spec.load import load
from clusterwright.spec.site import OnpremSite

DESCRIPTION = """
cluster: try
site: {provider: onprem, machines: try.csv}
pools: {box: {roles: [controller, login, compute, storage], machine: rtx4090-workstation}}
"""


def serials(description: Path) -> list[str]:
    site = load(description).spec.site
    assert isinstance(site, OnpremSite) and site.known_machines
    return [row.serial for row in site.known_machines.rows]


def test_each_copy_keeps_its_own_machines(tmp_path: Path) -> None:
    site, home = tmp_path / "site", tmp_path / "home"
    site.mkdir()
    home.mkdir()
    (site / "try.yaml").write_text(DESCRIPTION)
    (site / "try.csv").write_text("node,serial\nbox,OLD\n")
    copy(site / "try.yaml", home / "applied.yaml")
    (site / "try.csv").write_text("node,serial\nbox,NEW\n")
    copy(site / "try.yaml", home / "description.yaml")
    (site / "try.csv").unlink()
    assert serials(home / "applied.yaml") == ["OLD"]
    assert serials(home / "description.yaml") == ["NEW"]
