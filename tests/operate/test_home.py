"""What is kept of a cluster is read back as it was."""

from __future__ import annotations

from pathlib import Path

from clusterwright.handoff import from_plan
from clusterwright.operate.home import ClusterHome
from clusterwright.plan import plan
from clusterwright.render import render
from clusterwright.spec.load import load

HALL = Path(__file__).parents[2] / "clusters" / "onprem-hgx-h100.yaml"


def test_what_was_applied_differs_in_nothing_when_it_is_read_again(tmp_path: Path) -> None:
    handoff = from_plan(plan(load(HALL).spec))
    files = render(handoff)
    home = ClusterHome(handoff.name, tmp_path)
    home.record_applied(handoff, files)
    assert home.files() == files
    assert home.handoff() == handoff
