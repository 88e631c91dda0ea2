"""What dnf is told on each distribution of Red Hat's family and on Amazon Linux, as reviewed files.

No machine of these distributions takes part: what is compared is the transaction, what is held, and the
repositories' files. `pytest --update-goldens` writes them.
"""

from __future__ import annotations

import configparser
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from clusterwright.bundle.wanted import Wanted
from clusterwright.catalog.distributions import distributions
from clusterwright.catalog.rpm_repositories import rpm_repositories
from clusterwright.catalog.software import catalog
from clusterwright.finding import Refused
from clusterwright.operate.offline.collect import collect

from . import solved

GOLDENS = Path(__file__).parent / "rpm"
MACHINES = {"amazon-2023": ("p5.48xlarge", "aws"), "rhel-10": ("l4-server", "onprem")}
OWN = (
    "monitoring: false, slurm_repository: {url: https://packages.example.internal/slurm, key: keys/site.asc}"
)
FAMILY = sorted(name for name, row in distributions().items() if row.packages == "rpm")


def node(distribution: str, more: str = "") -> Wanted:
    machine, provider = MACHINES.get(distribution, ("hgx-h100-8gpu", "onprem"))
    release = 'scheduler: {release: "25.11"}\n' + more
    return solved.wanted(solved.handoff(machine, distribution, f"{{}}, {OWN}", release, provider))


def told(wanted: Wanted) -> Iterator[str]:
    yield "# one transaction"
    yield from wanted.packages
    yield "# held where they are"
    yield from wanted.kind.held
    for file in wanted.files:
        if file.path.startswith("/etc/yum.repos.d/"):
            yield f"# {file.path}"
            yield from (file.content or "").splitlines()


@pytest.mark.parametrize("distribution", FAMILY)
def test_what_dnf_is_told_is_as_reviewed(distribution: str, request: pytest.FixtureRequest) -> None:
    text = "".join(f"{line}\n" for line in told(node(distribution)))
    golden = GOLDENS / f"{distribution}.txt"
    if request.config.getoption("--update-goldens"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("distribution", FAMILY)
def test_every_repository_checks_signatures_and_comes_before_others(distribution: str) -> None:
    files = [file for file in node(distribution).files if file.path.endswith(".repo")]
    assert files
    for file in files:
        text = configparser.ConfigParser(interpolation=None)
        text.read_string(file.content or "")
        for section in map(text.__getitem__, text.sections()):
            assert "1" in (section["gpgcheck"], section["repo_gpgcheck"]), file.path
            assert section["gpgkey"].startswith(("https://", "file:///etc/pki/rpm-gpg/"))
            assert int(section["priority"]) < 99


@pytest.mark.parametrize("distribution", FAMILY)
def test_nothing_of_apt_is_on_such_a_node(distribution: str) -> None:
    wanted = node(distribution, 'surroundings: {http_proxy: "http://proxy:3128", time_servers: [ntp]}')
    assert not [file.path for file in wanted.files if "apt" in file.path.split("/")]
    assert not [unit.name for unit in wanted.units if unit.name in ("ssh", "chrony", "unattended-upgrades")]
    assert {"/etc/chrony.conf", "/etc/dnf/dnf.conf"} <= {file.path for file in wanted.files}
    assert [user for user in wanted.users if user.name == "slurm"]


def test_a_row_about_a_repository_is_about_one_of_the_catalog() -> None:
    known = {row.name for row in catalog().repositories if any(name in FAMILY for name in row.distributions)}
    for name, row in rpm_repositories().items():
        assert name in known
        assert row.why and row.source and row.date


def test_an_offline_bundle_is_refused_before_anything_is_fetched() -> None:
    made = solved.handoff("l4-server", "rhel-10", f"{{}}, {OWN}", 'scheduler: {release: "25.11"}\n')
    with pytest.raises(Refused) as refused:
        # Refused before anything but the hand-off is looked at.
        collect(SimpleNamespace(handoff=made), SimpleNamespace(), print)  # type: ignore[arg-type]
    assert [finding.code for finding in refused.value.findings] == ["CW8030"]
