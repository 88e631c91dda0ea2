"""Programs of clouds on the real engine; a provider that echoes stands for the cloud's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import ROOT, Stack

pytestmark = pytest.mark.engine
SIGNER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFJlYWRPbmx5QnlUZXN0c09mUHJvZ3JhbXNPblRoZUNsb3Vk"
ECHO = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.engine.echo import main
main()
"""
AWS = """
cluster: cloudy
site: {provider: aws, region: us-east-2, zone: us-east-2a, network: 10.40.0.0/16}
pools:
  head: {roles: [controller, login], machine: m7i.large}
  gpu: {roles: compute, machine: g5.8xlarge, nodes: "gpu[1-3]"}
  debug: {roles: compute, count: 1, machine: g5.8xlarge}
"""
Cloud = Callable[[str], Stack]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "echo.log"


@pytest.fixture
def cloud(stack: Stack, project: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """A stack whose description a test writes."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    for package in ("aws", "gcp"):
        plugin = folder / f"pulumi-resource-{package}"
        plugin.write_text(ECHO)
        plugin.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true")
    monkeypatch.setenv("ECHO_LOG", str(log))
    (project / "stacks/config/Pulumi.lab.yaml").write_text(
        f"config:\n  clusterwright:cluster: clusters/cloudy.yaml\n  clusterwright:signer: {SIGNER}\n"
    )
    return stack


def describe(project: Path, text: str) -> None:
    (project / "clusters/cloudy.yaml").write_text(text)


def deeds(log: Path) -> list[str]:
    """What was done since the last time."""
    done = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return sorted(done)


def test_life_of_a_cluster_on_aws(cloud: Stack, project: Path, log: Path) -> None:
    describe(project, AWS)
    first = cloud.run("up")
    made = sum(first["changes"].values())
    assert json.loads(first["outputs"]["cluster"])["cluster"]["name"] == "cloudy"
    assert first["outputs"]["ssh_command"].startswith("ssh -o ProxyCommand='aws ec2-instance-connect")
    deeds(log)
    assert cloud.up() == {"same": made}

    # One node more, one less, another type with the same cards, and one with others.
    changed = AWS.replace("gpu[1-3]", "gpu[1-2,4]").replace("m7i.large", "m7i.xlarge")
    describe(project, changed.replace("count: 1, machine: g5.8xlarge", "count: 1, machine: g5.xlarge"))
    cloud.up()
    assert deeds(log) == [
        "create aws:ec2/instance:Instance debug-001",
        "create aws:ec2/instance:Instance gpu4",
        "create aws:ec2/launchTemplate:LaunchTemplate gpu4",
        "delete aws:ec2/instance:Instance debug-001",
        "delete aws:ec2/instance:Instance gpu3",
        "delete aws:ec2/launchTemplate:LaunchTemplate gpu3",
        "delete aws:ec2/placementGroup:PlacementGroup cloudy-debug",
        "update aws:ec2/instance:Instance head",
        "update aws:ec2/launchTemplate:LaunchTemplate debug-001",
    ]
