"""Debian 12 behind an air gap: everything comes from an offline bundle, and nothing else is reached.

Slurm 22.05 with munge, topology.conf, and daemons that learn only when they start anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from clusterwright.providers.lab.apt import sources_for
from clusterwright.providers.lab.home import LabHome
from small_registry import serving

from .air_gap import closed_network, collect, served
from .ground import Desk, cleared

pytestmark = pytest.mark.lab
TWELVE = """\
cluster: story
site: {provider: lab}
pools:
  head: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
users:
  ada: {uid: 2001}
fabric: {topology: tree, nodes_per_leaf: 1}
software:
  distribution: debian-12
  monitoring: false
  images: [IMAGE]
"""
REGISTRY = 28130
"""The same at every run: an image's name is part of what a bundle is named by. No connection is given it."""
OUT = "timeout 60 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80' 2>&1"
"""An address of nobody's: where there is a way out, this waits for an answer until its time is up."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    if not sources_for("bookworm") or not shutil.which("skopeo"):
        (folder / "inside.yaml").write_text(TWELVE.replace("  images: [IMAGE]\n", ""))
        with cleared(Desk(folder)) as made:
            yield made
        return
    with pytest.MonkeyPatch.context() as patch, serving(folder, REGISTRY) as registry:
        cache = LabHome.of_user().cache.parents[1]
        patch.setenv("XDG_CACHE_HOME", str(cache))
        patch.setenv("HOME", str(folder))  # skopeo learns there that this registry has no TLS
        image = f"{registry.name}:1.0@{registry.image()}"
        bundle, description = collect(Desk(folder), TWELVE.replace("IMAGE", image))
    (folder / "inside.yaml").write_text(description)
    log = folder / "served"
    with (
        closed_network() as inside,
        served(bundle.parent, inside, log),
        cleared(Desk(folder, inside)) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def description(desk: Desk) -> str:
    """With the mirrors of the bundle in it."""
    return (desk.folder / "inside.yaml").read_text()


def test_up_ends_in_an_accepted_cluster_that_munge_holds_together(desk: Desk, description: str) -> None:
    desk.describe(description)
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert "VERSION_CODENAME=bookworm" in desk.on("head", "cat /etc/os-release")
    assert desk.on("head", "scontrol --version").startswith("slurm-wlm 22.05")
    assert "AuthType                = auth/munge" in desk.on("head", "scontrol show config")
    leaf = "SwitchName=gpu-leaf-02 Level=0 LinkSpeed=1 Nodes=gpu-002"
    assert leaf in desk.on("head", "scontrol show topology").splitlines()


@pytest.fixture
def behind_the_gap(desk: Desk) -> None:
    if not desk.inside:
        pytest.skip("needs skopeo, and a machine that has Debian's packages")


@pytest.mark.usefixtures("behind_the_gap")
def test_nodes_have_no_way_out_and_packages_all_the_same(desk: Desk) -> None:
    assert "unreachable" in desk.on("gpu-001", OUT, code=1)
    assert "/distribution bookworm" in desk.on("gpu-001", "apt-get update && apt-cache policy slurmd")
    asked = (desk.folder / "served").read_text()
    assert "/security/dists/bookworm-security/InRelease" in asked
    assert '" 404 ' not in "".join(line for line in asked.splitlines() if ".deb" in line)


@pytest.mark.usefixtures("behind_the_gap")
def test_nodes_have_loaded_the_container_images(desk: Desk) -> None:
    look = "cd /var/lib/clusterwright/images && cat index.json && cd blobs/sha256 && sha256sum *"
    for node in ("head", "gpu-002"):
        index, _, sums = desk.on(node, look).rpartition("}")
        assert f'"127.0.0.1:{REGISTRY}/team/tool:1.0"' in index
        rows = [row.split() for row in sums.split("\n") if row]
        assert len(rows) == 5
        assert all(seen == name for seen, name in rows)


def test_second_up_changes_nothing(desk: Desk) -> None:
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}


def test_another_munge_key_is_nobody_here_and_is_repaired(desk: Desk) -> None:
    desk.on(
        "gpu-002",
        "sinfo >/dev/null; head -c 1024 /dev/urandom >/etc/munge/munge.key; systemctl restart munge",
    )
    desk.on("gpu-002", "sinfo", code=1)
    said = "journalctl --unit=slurmctld | grep -q 'Munge decode failed: Invalid credential'"
    desk.on("head", f'timeout 300 sh -c "until {said}; do sleep 0.2; done"')
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert nodes["gpu-002"]["drift"] == ["/etc/munge/munge.key: content"]
    assert desk.as_user("srun", "--nodelist=gpu-002", "hostname") == "gpu-002\n"


def test_added_node_computes_with_those_that_were_there(desk: Desk, description: str) -> None:
    """Each slurmd has to know the new node; the job that runs beside the restart goes on."""
    desk.describe(description.replace("count: 2", "count: 3"))
    job = desk.submit("gpu-001")
    assert desk.outcome("node", "add", "cluster.yaml", "gpu-003")["accepted"]
    assert desk.running() == {job}
    both = desk.as_user("srun", "--nodelist=gpu-00[2-3]", "--mpi=pmix", "--nodes=2", "hostname")
    assert sorted(both.split()) == ["gpu-002", "gpu-003"]
    desk.as_user("scancel", job)
