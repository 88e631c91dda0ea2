from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gate_node
import gate_tree
import pytest
from answering import Accept, Ask, Outcome, World

from clusterwright import handoff
from clusterwright.accept import cluster, prove
from clusterwright.accept.report import loads
from clusterwright.accept.session import Clock, NoAnswer, Ran, Reached
from clusterwright.converge.target import Target
from clusterwright.event import Event
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
    return gate_node.healthy(tmp_path)


@pytest.fixture
def accept(lab: Handoff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Accept:
    def run(world: World) -> Outcome:
        class Stand:
            def __init__(self, target: Reached) -> None:
                self.node = target.name

            def __enter__(self) -> Stand:
                return self

            def __exit__(self, *_: object) -> None: ...

            def clock(self) -> Clock:
                if self.node in world.gone:
                    raise NoAnswer("No route to host")
                return Clock(world.skew.get(self.node, 0.001), 0.002)

            def run(self, *argv: str, **_: object) -> Ran:
                if self.node in world.gone:
                    raise NoAnswer("No route to host")
                return world.run(Ask(self.node, argv))

        monkeypatch.setattr(prove, "Session", Stand)
        monkeypatch.setattr(cluster, "RECORD_SECONDS", 0.2)
        monkeypatch.setattr(cluster, "BATCH_SECONDS", 0.2)
        targets = [Target(n.name, n.address, 22, "root", tmp_path, tmp_path) for n in lab.nodes]
        units = {"controller": ["slurmctld.service"], "login": ["sackd.service"]}
        events: list[Event] = []
        stacks = {"gpu": {name: {} for name in world.components}}
        hardware = {name: replace(row, gpu_vendor=world.vendor) for name, row in lab.hardware.items()}
        proven = replace(
            lab, hardware=hardware, software={**lab.software, "stacks": stacks, "containers": True}
        )
        acceptance = prove.accept(
            proven, targets, units=units, report=events.append, run_dir=tmp_path / "run"
        )
        assert loads((tmp_path / "run/accept.json").read_text()) == acceptance
        assert world.files == {}, "the folder in the shared home is removed"
        assert all(gate.remedy for gate in acceptance.failed)
        return Outcome(acceptance, events)

    return run
