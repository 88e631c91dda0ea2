"""What rules may ask about a machine, and what a description asks of the solver."""

from __future__ import annotations

import pytest

from clusterwright.catalog.machines import machines
from clusterwright.plan.outline import Outline
from clusterwright.plan.software.asked import asked
from clusterwright.plan.software.solve import answer
from clusterwright.plan.software.traits import traits
from clusterwright.spec.load import loads

DESCRIPTION = """\
cluster: wishes
site: {provider: lab}
pools:
  controller: {roles: [controller, storage], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, versions: {driver: 580}}
software:
  distribution: debian-12
  versions: {cuda: 13}
"""


@pytest.mark.parametrize(
    ("machine", "links"),
    [
        ("hgx-h100-8gpu", {"nvswitch"}),
        ("hgx-b200-8gpu", {"nvswitch", "nvlink5"}),
        ("gb200-nvl72-tray", {"nvl72"}),
        ("l4-server", set()),
        ("mi300x-8gpu", set()),
        ("generic-x86-16c", set()),
    ],
)
def test_how_gpus_are_linked(machine: str, links: set[str]) -> None:
    assert traits(machines()[machine]) & {"nvswitch", "nvlink5", "nvl72"} == links


def test_a_machine_is_told_by_vendor_generation_cards_and_processor() -> None:
    assert traits(machines()["p5.48xlarge"]) >= {
        *("vendor:nvidia", "generation:hopper", "gpu:h100-sxm", "nic:efa"),
        *("machine:p5.48xlarge", "architecture:x86_64"),
    }
    assert traits(machines()["mi300x-8gpu"]) >= {"vendor:amd", "generation:cdna3", "gpu:mi300x"}
    assert traits(machines()["gb200-nvl72-tray"]) >= {"architecture:arm64", "generation:grace-blackwell"}


def test_a_description_asks_with_its_places() -> None:
    loaded = loads(DESCRIPTION)
    question = asked(Outline(loaded.spec, {}), loaded.where)
    assert [(wish.component, wish.text, wish.pool, wish.where.line) for wish in question.wishes] == [
        ("cuda", "13", "", 8),
        ("driver", "580", "gpu", 5),
    ]
    assert question.pools["gpu"].traits >= {"role:compute", "share:served", "nvswitch"}
    assert [(given.component, given.accepts) for given in question.given] == [("slurm", "==22.05.*")]


def test_a_machine_that_is_only_played_runs_what_its_host_runs() -> None:
    loaded = loads(DESCRIPTION.replace("lab-h100", "gb200-nvl72-tray"))
    outline = Outline(loaded.spec, {})
    played = asked(outline, loaded.where, architecture="x86_64").pools["gpu"]
    assert played.architecture == "x86_64"
    assert asked(outline, loaded.where).pools["gpu"].traits ^ played.traits == {
        "architecture:arm64",
        "architecture:x86_64",
    }


def test_slurm_has_a_say_in_the_lock_and_is_not_in_it() -> None:
    """Roles install Slurm by what each node does; a lock that did would start slurmctld everywhere."""
    loaded = loads(DESCRIPTION.replace("{cuda: 13}", "{cuda: 13, pyxis: any}"))
    rows = answer(asked(Outline(loaded.spec, {}), loaded.where)).pools["gpu"]
    assert "pyxis" in rows
    assert "slurm" not in rows
