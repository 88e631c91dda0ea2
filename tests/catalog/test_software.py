"""Do the rows of distributions, Slurm releases and settings make sense?"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from clusterwright.catalog.distributions import distribution, distributions
from clusterwright.catalog.slurm import releases, settings
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.render import render
from clusterwright.spec.load import load
from clusterwright.spec.scheduler import _RELEASES
from clusterwright.spec.software import Distribution, Repository

CLUSTERS = Path(__file__).parents[2] / "clusters"
EXAMPLES = [file for file in sorted(CLUSTERS.glob("*.yaml")) if not file.stem.endswith(".lock")]
PARTS = """
base controller database compiler compute login rest munge mpi storage-server storage-client
share-rate monitoring node-exporter containers rdma pull network-boot boot-image firewall lldp directory
"""
UNKNOWN = {
    "monitoring",
    "node-exporter",
    "containers",
    "rdma",
    "network-boot",
    "boot-image",
    "firewall",
    "lldp",
    "directory",
}
"""What no source tells of some distribution: the checks refuse to switch it on, or nodes do without."""
GONE = "none"


def test_every_distribution_of_a_description_has_a_row() -> None:
    assert set(distributions()) == set(get_args(Distribution))


@pytest.mark.parametrize("name", sorted(distributions()))
def test_a_distribution_is_whole(name: str) -> None:
    row = distribution(name)
    assert row.source and re.fullmatch(r"\d{4}-\d{2}", row.date)
    assert row.slurm_version.startswith(f"{row.slurm_release}.") or not row.slurm_release
    assert bool(row.slurm_release) == bool(row.codename) == (row.packages == "deb")
    assert tuple(map(int, row.python.split("."))) >= (3, 9)
    assert set(row.parts) == set(PARTS.split())
    for name, part in row.parts.items():
        assert part.packages or (name in UNKNOWN and (row.packages == "rpm" or name == "boot-image"))
        assert len(set(part.packages)) == len(part.packages)
    assert "slurmctld" in row.parts["controller"].services
    assert "slurmd" in row.parts["compute"].services


def test_what_runs_on_nodes_is_python_that_every_distribution_has() -> None:
    oldest = min(tuple(map(int, row.python.split("."))) for row in distributions().values())
    repository = CLUSTERS.parent
    places = ["roles/*/files/**/*", "plugins/*/*.py", "src/clusterwright/accept/programs/*.py"]
    programs = [file for place in places for file in repository.glob(place) if file.is_file()]
    texts = [file.read_text() for file in programs if "README" not in file.name and ".pyc" not in file.name]
    python = [
        text
        for text in texts
        if text.startswith(("from __future__", '"""', "# Copyright", "#!/usr/bin/env py"))
    ]
    assert len(python) > 20
    for text in [*python, (repository / "src/clusterwright/converge/look.py").read_text()]:
        ast.parse(text, feature_version=oldest)


def test_login_nodes_run_sackd_exactly_where_the_release_has_it() -> None:
    for row in (row for row in distributions().values() if row.slurm_release):
        sackd = row.slurm_release in releases() and releases()[row.slurm_release].sackd
        assert ("sackd" in row.parts["login"].services) == sackd, row.name


def test_releases_are_those_of_a_description_in_their_order() -> None:
    assert list(releases()) == sorted(releases()) == _RELEASES
    for row in releases().values():
        assert re.fullmatch(r"\d{4}-\d{2}", row.end_of_support)
        assert row.end_of_support > f"20{row.release[:2]}-{row.release[3:]}"
        assert row.auth in {"munge", "slurm"}
        assert row.topology_file == ("topology.conf" if row.release < "25.05" else "topology.yaml")


def test_settings_begin_and_end_with_releases() -> None:
    known = {*releases()}
    assert len(settings()) > 200
    for key, setting in settings().items():
        assert key == setting.name.lower()
        assert setting.first in {*known, GONE}
        assert setting.last in {*known, "", GONE}
        assert setting.first == GONE or not setting.last or setting.first <= setting.last
        assert not setting.instead or setting.instead.lower() in settings(), setting.name
        assert set(setting.restart) | set(setting.restart_before_23_11) <= {"slurmctld", "slurmd"}
        assert setting.source


def test_settings_through_the_releases() -> None:
    assert settings()["metricstype"].known_to("25.11")
    assert not settings()["metricstype"].known_to("24.11")
    assert settings()["jobcontainertype"].known_to("24.11")
    assert not settings()["jobcontainertype"].known_to("26.05")
    assert not any(settings()["fastschedule"].known_to(release) for release in releases())
    assert settings()["authtype"].owned and not settings()["killwait"].owned


@pytest.mark.parametrize("release", sorted(releases()))
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_what_is_rendered_is_known_to_its_release(example: Path, release: str) -> None:
    spec = load(example).spec
    if spec.fabric.topology == "block" and release < "23.11":
        pytest.skip("the release has no block topology")
    wishes = {"release": release, "rest": True, "accounting": True, "options": {}}
    repository = Repository(url="https://packages.example.org/slurm", key="slurm.asc")
    spec = spec.model_copy(
        update={
            "scheduler": spec.scheduler.model_copy(update=wishes),
            "software": spec.software.model_copy(update={"slurm_repository": repository}),
        }
    )
    files = {file.path: file.content for file in render(from_plan(plan(spec)))}
    keys = re.findall(r"^(\w+)=", files["/etc/slurm/slurm.conf"], re.MULTILINE)
    assert len(keys) > 20
    unknown = {key for key in keys if not settings()[key.lower()].known_to(release)}
    assert not unknown
