"""What a cluster left behind on AWS: by its tag, beside what its stack knows, and of machines what runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from amazon import Amazon, serving
from botocore.session import Session

from clusterwright.finding import Refused
from clusterwright.operate.stack.left import as_findings, left
from clusterwright.providers.engine.kept import Kept, Resource
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import loads

REGION = "us-east-1"
TEXT = """
cluster: cloudy
converge: pull
site: {provider: aws, region: us-east-1, zone: us-east-1a, network: 10.40.0.0/16}
pools:
  head: {roles: [controller, login], machine: m7i.large}
  gpu: {roles: compute, machine: g5.8xlarge, count: 1}
"""


@pytest.fixture
def amazon(monkeypatch: pytest.MonkeyPatch) -> Iterator[Amazon]:
    with serving() as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL", served.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        yield served


@pytest.fixture
def spec() -> ClusterSpec:
    return loads(TEXT).spec


def known(*ids: str, kind: str = "aws:ec2/instance:Instance") -> Kept:
    made = (Resource("", kind, one, one, "", False, False, {}, {}) for one in ids)
    return Kept(tuple(made), (), {})


def test_what_no_stack_knows_is_named_with_its_price(amazon: Amazon, spec: ClusterSpec) -> None:
    assert amazon.url
    ec2 = Session().create_client("ec2", REGION)

    def tagged(kind: str, cluster: str) -> list[dict[str, object]]:
        return [{"ResourceType": kind, "Tags": [{"Key": "clusterwright:cluster", "Value": cluster}]}]

    def machine(cluster: str) -> str:
        made = ec2.run_instances(
            ImageId="ami-12c6146b",
            InstanceType="p5.48xlarge",
            MinCount=1,
            MaxCount=1,
            TagSpecifications=tagged("instance", cluster),
        )
        return str(made["Instances"][0]["InstanceId"])

    in_stack, outlived, ended = (machine("cloudy") for _ in range(3))
    assert machine("sunny")
    ec2.terminate_instances(InstanceIds=[ended])
    volume = ec2.create_volume(
        AvailabilityZone=f"{REGION}a", Size=20, TagSpecifications=tagged("volume", "cloudy")
    )["VolumeId"]

    found = left(spec, known(in_stack))
    assert [(one.kind, one.identity.rpartition("/")[2], one.machine) for one in found] == [
        ("ec2 instance", outlived, "p5.48xlarge"),
        ("ec2 volume", volume, ""),
    ]
    machine_words, volume_words = (one.what for one in as_findings(found, spec))
    assert "costs about $" in machine_words
    assert "costs" not in volume_words
    assert {one.identity.rpartition("/")[2] for one in left(spec, None)} == {in_stack, outlived, volume}


def test_snapshots_are_left_behind_when_nothing_ends_them(amazon: Amazon, spec: ClusterSpec) -> None:
    assert amazon.url
    ec2 = Session().create_client("ec2", REGION)
    tags = [{"Key": "clusterwright:cluster", "Value": "cloudy"}]
    volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=20)["VolumeId"]
    snapshot = ec2.create_snapshot(
        VolumeId=volume, TagSpecifications=[{"ResourceType": "snapshot", "Tags": tags}]
    )["SnapshotId"]
    policy = known("policy-1", kind="aws:dlm/lifecyclePolicy:LifecyclePolicy")

    def snapshots(kept: Kept | None) -> list[str]:
        return [one.identity.rpartition("/")[2] for one in left(spec, kept) if one.kind == "ec2 snapshot"]

    assert snapshots(policy) == []
    assert snapshots(known("i-1")) == snapshots(None) == [snapshot]


def test_missing_permission_is_named(amazon: Amazon, spec: ClusterSpec) -> None:
    amazon.refused = {"GetResources": "denied"}
    with pytest.raises(Refused, match=r"CW8092 .*Let these credentials do \S+:GetResources"):
        left(spec, None)
