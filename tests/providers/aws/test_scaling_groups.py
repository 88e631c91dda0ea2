"""Auto Scaling groups as their members are asked for and ended, against a copy of Amazon's services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from amazon import BASE, Amazon, client, serving
from moto.moto_api._internal.models import moto_api_backend

from clusterwright.operate.stack.left import left
from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.aws.live.account import Account
from clusterwright.providers.aws.live.capacity import instances
from clusterwright.providers.aws.members import AutoScaling
from clusterwright.providers.engine.kept import Kept, Resource
from clusterwright.spec.load import loads

REGION, GROUP = "us-east-1", "gpu-0123456"
TAGS = [{"Key": "clusterwright:cluster", "Value": "big"}, {"Key": "clusterwright:pool", "Value": "gpu"}]
TEXT = """
cluster: big
converge: pull
software: {distribution: ubuntu-24.04}
site: {provider: aws, region: us-east-1, zone: us-east-1a, network: 10.40.0.0/16}
pools:
  head: {roles: [controller, login], machine: m7i.large}
  gpu: {roles: compute, machine: g5.8xlarge, count: 3, group: true}
"""


@pytest.fixture
def amazon(monkeypatch: pytest.MonkeyPatch) -> Iterator[Amazon]:
    with serving() as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL", served.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        moto_api_backend.reset()
        yield served


@pytest.fixture
def scaling(amazon: Amazon) -> Any:
    """With a group of three, protected as the program's is."""
    ec2, scaling = (client(amazon.url, name, REGION) for name in ("ec2", "autoscaling"))
    subnet = ec2.describe_subnets(Filters=[{"Name": "availability-zone", "Values": ["us-east-1a"]}])
    told = {
        "ImageId": BASE,
        "InstanceType": "g5.8xlarge",
        "TagSpecifications": [{"ResourceType": "instance", "Tags": TAGS}],
    }
    ec2.create_launch_template(LaunchTemplateName="gpu", LaunchTemplateData=told)
    scaling.create_auto_scaling_group(
        AutoScalingGroupName=GROUP,
        LaunchTemplate={"LaunchTemplateName": "gpu", "Version": "$Latest"},
        MinSize=3,
        MaxSize=3,
        VPCZoneIdentifier=subnet["Subnets"][0]["SubnetId"],
        NewInstancesProtectedFromScaleIn=True,
    )
    return scaling


def test_members_have_addresses_and_go_one_by_one(scaling: Any) -> None:
    crowd = AutoScaling(REGION)
    members = crowd.members(GROUP)
    assert len(members) == 3
    assert all(one.address.count(".") == 3 and one.domain is None for one in members.values())
    assert crowd.members("another") == {}
    scaling.update_auto_scaling_group(AutoScalingGroupName=GROUP, MinSize=2, MaxSize=2)
    last = sorted(crowd.members(GROUP))[-1]
    crowd.end(GROUP, [last])
    assert last not in crowd.members(GROUP)


def test_machines_of_an_ultraserver_tell_their_domain(scaling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy of Amazon's services knows no topology: its answer is of the documented shape."""
    assert scaling
    crowd, asked = AutoScaling(REGION), list[list[str]]()
    machines = sorted(crowd.members(GROUP))
    real = Account.list

    def answers(account: Account, service: str, operation: str, key: str, **more: Any) -> Any:
        if operation == "describe_instance_topology":
            asked.append(sorted(more["InstanceIds"]))
            return [{"InstanceId": machines[0], "CapacityBlockId": "cbr-0a"}, {"InstanceId": machines[1]}]
        rows = real(account, service, operation, key, **more)
        for one in (one for row in rows for one in row.get("Instances", ()) if "InstanceType" in one):
            one["InstanceType"] = "p6e-gb200.36xlarge"
        return rows

    monkeypatch.setattr(Account, "list", answers)
    found = crowd.members(GROUP)
    assert [found[machine].domain for machine in machines] == ["cbr-0a", "", ""]
    assert asked == [machines]


def test_one_that_is_ended_gives_way_to_another(scaling: Any) -> None:
    assert scaling
    crowd = AutoScaling(REGION)
    first = sorted(crowd.members(GROUP))[0]
    crowd.end(GROUP, [first])
    now = crowd.members(GROUP)
    assert len(now) == 3
    assert first not in now


@pytest.mark.parametrize("action", ["DescribeAutoScalingGroups", "DescribeInstances"])
def test_what_may_not_be_asked_is_named(scaling: Any, amazon: Amazon, action: str) -> None:
    assert scaling
    amazon.refused[action] = "denied"
    with pytest.raises(NoAnswer) as refused:
        AutoScaling(REGION).members(GROUP)
    assert refused.value.why.permission.endswith(f":{action}")


def test_members_are_nodes_that_are_there_already(scaling: Any) -> None:
    assert scaling
    seen = instances(Account(REGION), "big", {"gpu": ["gpu-001", "gpu-002", "gpu-003"]})
    assert sorted(one.node for one in seen) == ["gpu-001", "gpu-002", "gpu-003"]
    assert [one.node for one in instances(Account(REGION), "another", {"gpu": ["gpu-001"]})] == [""] * 3


def test_members_with_a_name_are_not_left_behind(scaling: Any) -> None:
    assert scaling
    named = dict(zip(("gpu-001", "gpu-002"), sorted(AutoScaling(REGION).members(GROUP)), strict=False))
    kind = "clusterwright:pull:Acceptance"
    acceptance = Resource("", kind, "big", "big", "", False, False, {}, {"members": named})
    found = {one.identity.rpartition("/")[2] for one in left(loads(TEXT).spec, Kept((acceptance,), (), {}))}
    assert {*AutoScaling(REGION).members(GROUP)} - {*named.values()} <= found
    assert not found & {*named.values()}
