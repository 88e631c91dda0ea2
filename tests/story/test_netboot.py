"""A machine without a system boots over its network from our controller, joins Slurm, and runs a job.

The commands are those of docs/from-the-floor.md, typed as they stand there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.typed import Typed, missing, typed

from .ground import Desk
from .machine import DISK
from .netbooted import CLUSTER, HEAD, TIME_SERVER, WORK, Floor, floor_of, unmet

pytestmark = pytest.mark.lab
PAGE = Path(__file__).parents[2] / "docs/from-the-floor.md"


@pytest.fixture(scope="module")
def floor(desk: Desk) -> Iterator[Floor]:
    if missing := unmet():
        pytest.skip(f"needs {', '.join(missing)}")
    with floor_of(desk) as made:
        yield made


@pytest.fixture(scope="module")
def page() -> Iterator[Typed]:
    """Its commands that need machines, in their order."""
    return typed(PAGE, "machines")


def following(page: Iterator[Typed], begins: str, floor: Floor) -> str:
    """What the page's next command answers, which is this one and shows what the page shows."""
    step = next(page)
    assert step.command.startswith(f"clusterwright {begins}")
    said = floor.typed(step.command)
    assert not missing(step.shown, said), f"$ {step.command}\n{said}"
    return said


def test_every_bmc_answers(floor: Floor, page: Iterator[Typed]) -> None:
    following(page, "bmc status", floor)


def test_the_controller_is_let_in_and_has_the_image(floor: Floor, page: Iterator[Typed]) -> None:
    following(page, "bootstrap", floor)
    following(page, "image build", floor)
    following(page, "up", floor)
    served = floor.on(HEAD, "cd /srv/clusterwright/www/images && ls */root.squashfs *.ipxe")
    assert len(served.split()) == 2
    floor.on(HEAD, TIME_SERVER)


def test_a_machine_comes_from_off_to_an_accepted_cluster(floor: Floor, page: Iterator[Typed]) -> None:
    following(page, "provision", floor)
    following(page, "up", floor)
    following(page, "status", floor)


def test_a_user_runs_a_job_there(desk: Desk, floor: Floor, page: Iterator[Typed]) -> None:
    following(page, "ssh", floor)
    assert next(page, None) is None
    assert floor.job("hostname >/home/ada/ran; findmnt -no FSTYPE /") == "overlay"
    assert desk.as_user("cat", "/home/ada/ran", cluster=CLUSTER) == f"{WORK}\n"


def test_a_second_run_leaves_it_alone(desk: Desk, floor: Floor) -> None:
    assert floor.provisioned()["nodes"] == {WORK: {"status": "ok", "switched": ""}}
    nodes = desk.outcome("up", "own.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}


def test_the_image_is_written_to_its_disk(desk: Desk, floor: Floor) -> None:
    floor.describe(f", install_to: {DISK}")
    desk.run("up", "own.yaml", "--no-accept")
    nodes = floor.provisioned("--rewrite", "--yes")["nodes"]
    assert nodes == {WORK: {"status": "changed", "switched": "off, on"}}
    assert "/orders/" not in floor.on(HEAD, "find /srv/clusterwright/www/orders -type f")
    assert floor.heard("findmnt -no FSTYPE /").split()[-1] == "ext4"
