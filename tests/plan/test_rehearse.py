"""Any description, played in the lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.catalog.distributions import distribution
from clusterwright.checks import check
from clusterwright.finding import Refused, Severity
from clusterwright.plan import plan, rehearse
from clusterwright.spec.load import load, loads
from clusterwright.spec.surroundings import Surroundings

CLUSTERS = Path(__file__).parents[2] / "clusters"
EXAMPLES = [file for file in sorted(CLUSTERS.glob("*.yaml")) if not file.stem.endswith(".lock")]
BLOCKS = """
cluster: blocks
site: {provider: onprem}
pools:
  head: {roles: controller, machine: generic-x86-16c}
  tray: {roles: compute, machine: gb200-nvl72-tray, nodes: 'tray[01-36]'}
fabric: {topology: block, block_size: 18}
software: {distribution: ubuntu-24.04}
scheduler: {options: {KillWait: 60}}
storage: {shares: {/data: {kind: nfs, server: filer, export: /data}}}
"""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_can_be_played(example: Path) -> None:
    original = load(example).spec
    rehearsal = rehearse(original)
    findings = check(rehearsal.spec)
    assert not [finding for finding in findings if finding.severity is not Severity.NOTE]
    made = plan(rehearsal.spec, rehearsal_of=rehearsal.of)
    assert {site.provider for site in made.sites} == {"lab"}
    assert {node.machine for node in made.nodes} == {pool.machine for pool in original.pools.values()}
    assert made.slurm_release == distribution(rehearsal.spec.software.distribution).slurm_release
    assert len(made.nodes) <= 2 * len(original.pools)


def test_what_was_replaced_is_said() -> None:
    rehearsal = rehearse(loads(BLOCKS).spec)
    assert rehearsal.of == ("onprem",)
    assert rehearsal.spec.fabric.block_size == 2
    assert [(finding.severity, finding.where.path) for finding in rehearsal.findings] == [
        (Severity.NOTE, "software.distribution"),
        (Severity.NOTE, "scheduler.release"),
        (Severity.NOTE, "fabric.block_size"),
        (Severity.NOTE, "storage.shares./data"),
    ]
    assert {finding.code for finding in rehearsal.findings} == {"CW1352"}


def test_people_of_a_directory_are_logins_of_the_lab_with_numbers_of_their_own() -> None:
    people = "users: {ada: {uid: 50000}, grace: {}, bob: {}}\n"
    directory = "surroundings: {directory: {servers: ldaps://ldap.example, base: dc=example}}\n"
    rehearsal = rehearse(loads(BLOCKS + people + directory).spec)
    numbers = {name: user.uid for name, user in rehearsal.spec.users.items()}
    assert numbers == {"ada": 50000, "bob": 50001, "grace": 50002}
    assert rehearsal.spec.surroundings.directory is None
    assert "surroundings.directory" in {finding.where.path for finding in rehearsal.findings}


@pytest.mark.parametrize(
    ("software", "booted", "release"),
    [
        ("{distribution: debian-12}", "debian-12", "22.05"),
        ("{distribution: ubuntu-24.04}", "debian-13", "24.11"),
        ("{distribution: debian-12, slurm_repository: {url: 'http://r', key: k}}", "debian-13", "24.11"),
    ],
)
def test_debian_with_its_own_slurm_is_played_by_itself(software: str, booted: str, release: str) -> None:
    tree = BLOCKS.replace("{distribution: ubuntu-24.04}", software).replace("block, block_size: 18", "flat")
    rehearsal = rehearse(loads(tree).spec)
    assert rehearsal.spec.software.distribution == booted
    assert plan(rehearsal.spec).slurm_release == release
    assert not [finding for finding in check(rehearsal.spec) if finding.severity is Severity.ERROR]


SITE = """
surroundings:
  http_proxy: http://proxy.example.internal:3128
  no_proxy: [.example.internal]
  time_servers: [ntp.example.internal]
"""
IMAGES = f"""software:
  images: ['registry.example.internal/team/tool:1.0@sha256:{"0" * 64}']
  image_source: http://images.example.internal/images@sha256:{"1" * 64}
  distribution:"""


def test_servers_of_the_site_are_not_asked_from_the_lab() -> None:
    rehearsal = rehearse(loads(BLOCKS + SITE).spec)
    assert rehearsal.spec.surroundings == Surroundings()
    paths = [finding.where.path for finding in rehearsal.findings]
    assert paths[-3:-1] == ["surroundings.http_proxy", "surroundings.time_servers"]


def test_container_images_of_the_site_are_not_loaded_in_the_lab() -> None:
    text = BLOCKS.replace("software: {distribution: ubuntu-24.04}", f"{IMAGES} ubuntu-24.04")
    rehearsal = rehearse(loads(text).spec)
    assert rehearsal.spec.software.image_source is None
    assert "software.image_source" in [finding.where.path for finding in rehearsal.findings]


def test_a_lab_goes_through_the_proxy_that_it_names() -> None:
    lab = loads(
        "cluster: lab\nsite: {provider: lab}\npools: {all: {roles: controller, machine: lab-small}}\n" + SITE
    ).spec
    assert rehearse(lab).spec.surroundings == lab.surroundings


def test_options_of_a_later_release_stay_behind() -> None:
    later = BLOCKS.replace("{options: {KillWait: 60}}", "{release: '26.05', options: {PrologTimeout: 9}}")
    rehearsal = rehearse(loads(later).spec)
    assert rehearsal.spec.scheduler.options == {}
    assert "scheduler.options.PrologTimeout" in [finding.where.path for finding in rehearsal.findings]


def test_counts_are_as_asked_for() -> None:
    made = plan(rehearse(loads(BLOCKS).spec, {"tray": 3}).spec)
    assert [node.name for node in made.nodes] == ["head", "tray01", "tray02", "tray03"]


@pytest.mark.parametrize("counts", [{"tray": 37}, {"tray": 0}, {"gpu": 1}, {"tray": 99, "head": 2}])
def test_counts_that_the_cluster_does_not_have_are_refused(counts: dict[str, int]) -> None:
    with pytest.raises(Refused) as refused:
        rehearse(loads(BLOCKS).spec, counts)
    assert [finding.code for finding in refused.value.findings] == ["CW1351"] * len(counts)


def test_a_plain_lab_is_played_as_it_is() -> None:
    lab = load(EXAMPLES[0].parent / "lab.yaml").spec
    assert rehearse(lab).spec == lab
    assert rehearse(lab).findings == ()
