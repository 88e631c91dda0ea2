"""A machine without a system boots over its network from our controller, joins Slurm, and runs a job."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .ground import Desk
from .machine import DISK
from .netbooted import TIME_SERVER, Floor, floor_of, unmet

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def floor(desk: Desk) -> Iterator[Floor]:
    if missing := unmet():
        pytest.skip(f"needs {', '.join(missing)}")
    with floor_of(desk) as made:
        yield made


def test_the_controller_has_the_image(desk: Desk, floor: Floor) -> None:
    desk.run("bootstrap", "cluster.yaml", "head", *floor.reached())
    desk.run("image", "build", "cluster.yaml")
    desk.run("up", "cluster.yaml", "--no-accept")
    served = floor.on("head", "cd /srv/clusterwright/www/images && ls */root.squashfs *.ipxe")
    assert len(served.split()) == 2


def test_a_machine_comes_from_off_into_slurm(desk: Desk, floor: Floor) -> None:
    floor.on("head", TIME_SERVER)
    assert floor.provisioned()["nodes"] == {"work": {"status": "changed", "switched": "on"}}
    desk.outcome("up", "cluster.yaml", "--no-accept")


def test_a_user_runs_a_job_there(desk: Desk, floor: Floor) -> None:
    assert floor.job("hostname >/home/ada/ran; findmnt -no FSTYPE /") == "overlay"
    assert desk.as_user("cat", "/home/ada/ran", cluster="netbooted") == "work\n"


def test_a_second_run_leaves_it_alone(desk: Desk, floor: Floor) -> None:
    assert floor.provisioned()["nodes"] == {"work": {"status": "ok", "switched": ""}}
    nodes = desk.outcome("up", "cluster.yaml", "--no-accept")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}


def test_the_image_is_written_to_its_disk(desk: Desk, floor: Floor) -> None:
    text = (desk.folder / "cluster.yaml").read_text()
    desk.describe(text.replace("image: built", f"image: built, install_to: {DISK}"))
    desk.run("up", "cluster.yaml", "--no-accept")
    nodes = floor.provisioned("--rewrite", "--yes")["nodes"]
    assert nodes == {"work": {"status": "changed", "switched": "off, on"}}
    assert "/orders/" not in floor.on("head", "find /srv/clusterwright/www/orders -type f")
    assert floor.heard("findmnt -no FSTYPE /").split()[-1] == "ext4"
