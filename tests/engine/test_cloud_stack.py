"""Programs of clouds on the real engine; a provider that echoes stands for the cloud's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import Failed, Stack
from .echo import serve

pytestmark = pytest.mark.engine
SIGNER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFJlYWRPbmx5QnlUZXN0c09mUHJvZ3JhbXNPblRoZUNsb3Vk"
AWS = """
cluster: cloudy
converge: pull
site: {provider: aws, region: us-east-2, zone: us-east-2a, network: 10.40.0.0/16}
pools:
  head: {roles: [controller, login], machine: m7i.large}
  gpu: {roles: compute, machine: g5.8xlarge, nodes: "gpu[1-3]"}
  debug: {roles: compute, count: 1, machine: g5.8xlarge}
"""
GOOGLE = """
cluster: cloudy
converge: pull
site: {provider: gcp, project: example-hpc, region: us-central1, zone: us-central1-a, network: 10.50.0.0/20}
pools:
  head: {roles: [controller, login], machine: n2-standard-4}
  gpu: {roles: compute, machine: a3-highgpu-8g, nodes: "gpu[1-3]"}
  debug: {roles: compute, count: 1, machine: g2-standard-8}
storage: {shares: {/home: {kind: filestore, size: 1 TiB}}}
software: {distribution: ubuntu-24.04}
"""
Cloud = Callable[[str], Stack]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "echo.log"


@pytest.fixture
def cloud(stack: Stack, played: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A stack whose description a test writes. What its nodes say is played.

    The cloud's provider is in this process: the engine starts none for each of a test's operations."""
    project = played.parent / "project"
    server, port = serve(log)
    monkeypatch.setenv("PULUMI_DEBUG_PROVIDERS", f"aws:{port},gcp:{port}")
    monkeypatch.setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true")
    (project / "stacks/config/Pulumi.lab.yaml").write_text(
        f"config:\n  clusterwright:cluster: clusters/cloudy.yaml\n  clusterwright:signer: {SIGNER}\n"
    )
    yield stack
    server.stop(None)


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
    done = log.read_text().splitlines()
    gone, came = (done.index(f"{deed} aws:ec2/instance:Instance debug-001") for deed in ("delete", "create"))
    assert gone < came, "two machines cannot have one address"
    assert deeds(log) == [
        "create aws:ec2/instance:Instance debug-001",
        "create aws:ec2/instance:Instance gpu4",
        "create aws:ec2/launchTemplate:LaunchTemplate gpu4",
        "create aws:route53/record:Record gpu4",
        "delete aws:ec2/instance:Instance debug-001",
        "delete aws:ec2/instance:Instance gpu3",
        "delete aws:ec2/launchTemplate:LaunchTemplate gpu3",
        "delete aws:ec2/placementGroup:PlacementGroup cloudy-debug",
        "delete aws:route53/record:Record gpu3",
        "update aws:ec2/instance:Instance head",
        "update aws:ec2/launchTemplate:LaunchTemplate debug-001",
    ]

    with pytest.raises(Failed, match="protected"):
        cloud.run("destroy")
    gone = log.read_text().splitlines()
    for first, then in (
        ("ec2/instance:Instance head", "ec2/launchTemplate:LaunchTemplate head"),
        ("ec2/instance:Instance gpu1", "ec2/placementGroup:PlacementGroup cloudy-gpu"),
        ("ec2/launchTemplate:LaunchTemplate gpu1", "ec2/subnet:Subnet cloudy-nodes"),
        ("ec2/subnet:Subnet cloudy-nodes", "ec2/vpc:Vpc cloudy"),
    ):
        assert gone.index(f"delete aws:{first}") < gone.index(f"delete aws:{then}")
    assert [kind for kind in cloud.kept() if kind.startswith("aws:")] == ["aws:ebs/volume:Volume"]


def test_a_group_grows_and_shrinks_by_its_size_alone(cloud: Stack, project: Path, log: Path) -> None:
    text = f"{AWS}software: {{distribution: ubuntu-24.04}}\n".replace(
        'nodes: "gpu[1-3]"', "count: 3, group: true"
    )
    describe(project, text)
    first = cloud.run("up")
    assert {node["name"]: node["address"] for node in json.loads(first["outputs"]["cluster"])["nodes"]} == {
        "head": "10.40.0.4",
        "gpu-001": "10.40.9.4",
        "gpu-002": "10.40.9.5",
        "gpu-003": "10.40.9.6",
        "debug-001": "10.40.16.5",
    }
    made = deeds(log)
    assert "create aws:autoscaling/group:Group gpu" in made
    assert not [deed for deed in made if "gpu-001" in deed], "no member is a resource"
    assert cloud.up() == {"same": sum(first["changes"].values())}

    for count, last in ((4, "10.40.9.7"), (2, "10.40.9.5")):
        describe(project, text.replace("count: 3", f"count: {count}"))
        again = cloud.run("up")
        assert again["changes"]["update"] == 2, "the group, and the acceptance of who is in it"
        assert deeds(log) == ["update aws:autoscaling/group:Group gpu"]
        nodes = [node for node in json.loads(again["outputs"]["cluster"])["nodes"] if node["pool"] == "gpu"]
        assert (len(nodes), nodes[-1]["address"]) == (count, last)

    # Another image or disk is for machines that come: no member is made anew for it.
    describe(project, text.replace("count: 3", "count: 2, disk: 300 GiB"))
    cloud.up()
    assert deeds(log) == ["update aws:ec2/launchTemplate:LaunchTemplate gpu"]

    with pytest.raises(Failed, match="protected"):
        cloud.run("destroy")
    gone = log.read_text().splitlines()
    group, template, placement = (
        gone.index(f"delete aws:{one}")
        for one in (
            "autoscaling/group:Group gpu",
            "ec2/launchTemplate:LaunchTemplate gpu",
            "ec2/placementGroup:PlacementGroup cloudy-gpu",
        )
    )
    assert group < template
    assert group < placement


def test_life_of_a_cluster_on_google_cloud(cloud: Stack, project: Path, log: Path) -> None:
    describe(project, GOOGLE)
    first = cloud.run("up")
    made = sum(first["changes"].values())
    handoff = json.loads(first["outputs"]["cluster"])
    assert handoff["storage"]["shares"]["/home"]["server"] == "home.storage.cloudy.internal"
    assert first["outputs"]["ssh_command"].startswith("gcloud compute ssh cloudy-head")
    deeds(log)
    assert cloud.up() == {"same": made}

    # One node more, one less, a larger controller, another disk, and more space for people.
    changed = GOOGLE.replace("gpu[1-3]", "gpu[1-2,4]").replace("n2-standard-4", "n2-standard-8")
    changed = changed.replace("count: 1,", "count: 1, disk: 300 GiB,").replace("1 TiB", "1280 GiB")
    describe(project, changed)
    cloud.up()
    assert deeds(log) == [
        "create gcp:compute/instance:Instance cloudy-debug-001",
        "create gcp:compute/instance:Instance cloudy-gpu4",
        "delete gcp:compute/instance:Instance cloudy-debug-001",
        "delete gcp:compute/instance:Instance cloudy-gpu3",
        "update gcp:compute/instance:Instance cloudy-head",
        "update gcp:filestore/instance:Instance cloudy-home",
    ]

    # What people keep is there after a destroy, with the network that it is in; no secret is in the state.
    with pytest.raises(Failed, match="protected"):
        cloud.run("destroy")
    order = log.read_text().splitlines()
    instance, subnet, network = (
        order.index(f"delete gcp:compute/{kind} {name}")
        for kind, name in (
            ("instance:Instance", "cloudy-gpu1"),
            ("subnetwork:Subnetwork", "cloudy-gpu-0"),
            ("network:Network", "cloudy-gpu-0"),
        )
    )
    assert instance < subnet < network
    gone = deeds(log)
    assert "delete gcp:compute/instance:Instance cloudy-head" in gone
    assert not [deed for deed in gone if "filestore" in deed or deed.endswith("Network cloudy-host-0")], gone
    assert "correct horse" not in kept_text(cloud)


def test_a_group_on_google_cloud_is_its_template_whatever_its_count(
    cloud: Stack, project: Path, log: Path
) -> None:
    text = GOOGLE.replace('a3-highgpu-8g, nodes: "gpu[1-3]"', "g2-standard-8, count: 3, group: true")
    describe(project, text)
    first = cloud.run("up")
    planned = {node["name"]: node["address"] for node in json.loads(first["outputs"]["cluster"])["nodes"]}
    assert planned["gpu-003"] == "10.50.1.5", "members have planned addresses"
    made = deeds(log)
    assert "create gcp:compute/instanceGroupManager:InstanceGroupManager cloudy-gpu-01" in made
    assert not [deed for deed in made if "gpu-001" in deed], "no member is a resource"

    # One more is told to the acceptance alone, which has members made and ended by name.
    describe(project, text.replace("count: 3", "count: 4"))
    again = cloud.run("up")
    assert again["changes"] == {"same": sum(first["changes"].values()) - 1, "update": 1}
    assert deeds(log) == []
    nodes = [node["name"] for node in json.loads(again["outputs"]["cluster"])["nodes"]]
    assert "gpu-004" in nodes

    # Another disk is another template, for machines that come; the group is told before the old one goes.
    describe(project, text.replace("count: 3", "count: 2, disk: 300 GiB"))
    cloud.up()
    assert log.read_text().splitlines() == [
        "create gcp:compute/instanceTemplate:InstanceTemplate cloudy-gpu-01",
        "update gcp:compute/instanceGroupManager:InstanceGroupManager cloudy-gpu-01",
        "delete gcp:compute/instanceTemplate:InstanceTemplate cloudy-gpu-01",
    ]


def test_builders_go_and_their_image_stays(cloud: Stack, project: Path, log: Path) -> None:
    describe(project, f"{AWS}software: {{distribution: ubuntu-24.04}}\n")
    with (project / "stacks/config/Pulumi.lab.yaml").open("a") as file:
        file.write("  clusterwright:image: true\n")
    first = cloud.run("up")
    [digest] = json.loads(first["outputs"]["images"])
    done = log.read_text().splitlines()
    instances = [deed for deed in done if "aws:ec2/instance:Instance" in deed]
    assert instances == [f"create aws:ec2/instance:Instance builder-{digest}"]
    image = f"aws:ec2/amiFromInstance:AmiFromInstance clusterwright-{digest}"
    assert done.index(instances[0]) < done.index(f"create {image}")
    deeds(log)
    assert cloud.up() == {"same": sum(first["changes"].values())}

    cloud.run("destroy")
    gone = deeds(log)
    assert f"delete aws:ec2/instance:Instance builder-{digest}" in gone
    assert not [deed for deed in gone if "amiFromInstance" in deed or "ssm/parameter" in deed]
    assert not [kind for kind in cloud.kept() if kind.startswith("aws:")]


def kept_text(stack: Stack) -> str:
    return (stack.project.parent / f"state/.pulumi/stacks/clusterwright/{stack.name}.json").read_text()


def test_stack_is_green_when_its_nodes_are_accepted(cloud: Stack, project: Path, played: Path) -> None:
    describe(project, AWS)
    said = played / "NODES"
    said.write_text(json.dumps({"gpu2": "failed: FAIL fabric: 0 of 1 EFA cards"}))
    with pytest.raises(Failed, match="gpu2: failed: FAIL fabric: 0 of 1 EFA cards"):
        cloud.up()
    said.unlink()
    assert cloud.up()["update"] == 1, "the acceptance, and no machine"
    kept = cloud.kept()["clusterwright:pull:Acceptance"]["outputs"]
    assert set(kept["nodes"].values()) == {"accepted"}
    assert kept["machines"].keys() == kept["nodes"].keys()
