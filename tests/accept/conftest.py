from __future__ import annotations

from pathlib import Path

import gate_tree
import pytest

from clusterwright import handoff
from clusterwright.handoff import Handoff
from clusterwright.plan.build import plan
from clusterwright.plan.model import Ground
from clusterwright.spec.load import load

LAB = Path(__file__).parents[2] / "clusters" / "lab.yaml"


@pytest.fixture(scope="session")
def lab() -> Handoff:
    """The hand-off of clusters/lab.yaml on a fixed network."""
    ground = {"main": Ground(network="10.213.77.0/24", simulated=True)}
    return handoff.from_plan(plan(load(LAB).spec, ground=ground))


@pytest.fixture
def captured() -> Path:
    """Output of Slurm 24.11 and systemd 257 as Debian 13 carries them."""
    return Path(__file__).parent / "captured"


@pytest.fixture
def healthy(tmp_path: Path) -> gate_tree.Tree:
    """A node whose gates all pass."""
    return gate_tree.healthy(tmp_path)
