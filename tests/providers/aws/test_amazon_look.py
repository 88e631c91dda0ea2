"""A look at an account: moto's services over HTTP, with what moto lacks answered as Amazon documents it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from amazon import Amazon, serving
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from clusterwright.checks.live.answer import Unanswered
from clusterwright.checks.live.aws_seen import AwsSeen, Image, Launch, Usage
from clusterwright.checks.live.rule import Verdict, judge
from clusterwright.checks.live.rules import live_rules
from clusterwright.checks.live.subject import Subject
from clusterwright.finding import Refused, Where
from clusterwright.plan import plan
from clusterwright.plan.aws import AwsPlan, aws_plan
from clusterwright.plan.aws.launch import launch
from clusterwright.providers import asking
from clusterwright.providers.asking import NoAnswer, Question, ask_all
from clusterwright.providers.aws.live import ground
from clusterwright.providers.aws.live.account import Account
from clusterwright.providers.aws.live.look import look
from clusterwright.spec.load import loads

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
REGION, ZONE = "us-east-2", "us-east-2a"
RESERVATION = "cr-0123456789abcdef0"
MADE_BY_TESTS = {"CreateVpc", "CreateTags", "CreateSubnet", "CreateNetworkInterface"}
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def served() -> Iterator[Amazon]:
    with serving() as amazon, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", amazon.url)
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        yield amazon


@pytest.fixture(scope="module")
def account(served: Amazon) -> Account:
    """Its clients are costly to make, and shared by all tests."""
    assert served.url
    return Account(REGION)


@pytest.fixture
def amazon(served: Amazon) -> Amazon:
    served.quotas, served.refused, served.reservations = {}, {}, [_reservation()]
    return served


@pytest.fixture(scope="module")
def image(account: Account) -> str:
    rows = account.client("ec2").describe_images(Owners=["amazon"])["Images"]
    return min(row["ImageId"] for row in rows if row["Architecture"] == "x86_64" and not row.get("Platform"))


def _reservation(**changes: Any) -> Mapping[str, Any]:
    return {
        "capacityReservationId": RESERVATION,
        "instanceType": "p5.48xlarge",
        "availabilityZone": ZONE,
        "instancePlatform": "Linux/UNIX",
        "state": "active",
        "totalInstanceCount": 2,
        "availableInstanceCount": 2,
        "reservationType": "capacity-block",
        "endDate": "2026-12-04T11:30:00.000Z",
        **changes,
    }


def subject_of(text: str) -> Subject[AwsPlan]:
    planned = plan(loads(text).spec)
    return Subject(planned, aws_plan(planned))


def block_of_p5(image: str, cluster: str = "p5") -> Subject[AwsPlan]:
    return subject_of(f"""
cluster: {cluster}
site: {{provider: aws, region: {REGION}, zone: {ZONE}, network: 10.40.0.0/22}}
pools:
  head: {{roles: [controller, login], machine: m7i.2xlarge, image: {image}}}
  gpu:
    roles: compute
    machine: p5.48xlarge
    count: 2
    image: {image}
    capacity: {{model: capacity-block, reservation: {RESERVATION}, duration: 14 days}}
scheduler: {{partitions: {{gpu: {{max_time: 7 days}}}}}}
""")


def judged(subject: Subject[AwsPlan], seen: AwsSeen) -> Verdict:
    return judge(live_rules("aws"), subject, seen, lambda path: Where(path=path), "site.region")


def test_an_account_with_room(amazon: Amazon, account: Account, image: str) -> None:
    subject = block_of_p5(image)
    seen = look(subject, AT, account)
    assert amazon.reservations and seen.account == "123456789012"
    assert isinstance(seen.offered, Mapping) and ZONE in seen.offered["p5.48xlarge"]
    assert isinstance(seen.reservations, Mapping) and seen.reservations[RESERVATION].block
    assert isinstance(seen.images[image], Image)
    assert seen.launches == {"head": Launch(True), "gpu": Launch(True)}
    assert (seen.dns, seen.subnets, seen.taken) == (None, None, None)
    verdict = judged(subject, seen)
    assert [finding.code for finding in verdict.findings] == []
    passed = {outcome.code for outcome in verdict.outcomes if outcome.result == "passed"}
    assert passed >= {"CW1401", "CW1402", "CW1403", "CW1404", "CW1405", "CW1407", "CW1411", "CW1418"}


def test_what_is_ours_is_told_apart(amazon: Amazon, account: Account, image: str) -> None:
    client, subject = account.client("ec2"), block_of_p5(image, "ours")
    tags = [{"Key": "clusterwright:cluster", "Value": "ours"}, {"Key": "Name", "Value": "head"}]
    asked = {"ImageId": image, "InstanceType": "m7i.2xlarge", "MinCount": 1, "MaxCount": 1}
    client.run_instances(**asked, TagSpecifications=[{"ResourceType": "instance", "Tags": tags}])
    vpc = client.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    client.create_tags(Resources=[vpc], Tags=tags[:1])
    amazon.quotas = {"L-1216C47A": 8.0}
    seen = look(subject, AT, account)
    assert isinstance(seen.instances, tuple)
    assert [(one.node, one.vcpus) for one in seen.instances if one.node] == [("head", 8)]
    vpcs = seen.usage["vpcs"]
    assert isinstance(vpcs, Usage) and vpcs.ours == 1 and vpcs.total >= 2
    assert isinstance(seen.launches, Mapping) and set(seen.launches) == {"gpu"}
    assert judged(subject, seen).findings == ()


def test_quotas_are_the_accounts_own_or_everybodys(amazon: Amazon, account: Account, image: str) -> None:
    subject = block_of_p5(image)
    amazon.quotas = {"L-1216C47A": 4.0}
    seen = look(subject, AT, account)
    assert isinstance(seen.quotas, Mapping)
    assert (seen.quotas["L-1216C47A"], seen.quotas["L-F678F1CE"]) == (4.0, 1000.0)
    (finding,) = judged(subject, seen).findings
    assert (finding.code, finding.where.path) == ("CW1403", "pools.head.machine")
    assert "ec2/L-1216C47A" in finding.remedy


def test_missing_permissions_are_named(amazon: Amazon, account: Account, image: str) -> None:
    actions = ("DescribeCapacityReservations", "GetServiceQuota", "RunInstances", "DescribeVolumes")
    amazon.refused = dict.fromkeys(actions, "denied")
    subject = block_of_p5(image)
    verdict = judged(subject, look(subject, AT, account))
    assert {finding.code for finding in verdict.findings} == {"CW1490"}
    named = {finding.what.rpartition(" ")[2] for finding in verdict.findings}
    assert named == {
        "ec2:DescribeCapacityReservations",
        "servicequotas:GetServiceQuota",
        "ec2:RunInstances",
        "ec2:DescribeVolumes",
    }
    skipped = {outcome.code for outcome in verdict.outcomes if outcome.result == "skipped"}
    assert {"CW1403", "CW1404", "CW1405", "CW1418"} <= skipped


def test_a_service_that_is_asked_too_often_is_told(account: Account) -> None:
    """Botocore asks again four times before; that takes ten seconds, and is not tried here."""
    error = ClientError({"Error": {"Code": "RequestLimitExceeded", "Message": "slow down"}}, "DescribeVpcs")
    why = account.why(error, "ec2", "describe_vpcs")
    assert (why.reason, why.permission) == ("throttled", "ec2:DescribeVpcs")


def test_a_service_that_nobody_reaches_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    account = Account(REGION)
    assert account.number() == ""
    with pytest.raises(NoAnswer) as told:
        account.ask("sts", "get_caller_identity")
    assert told.value.why.reason == "unreachable"


def test_without_credentials_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(Refused) as refused:
        Account(REGION).number()
    assert [finding.code for finding in refused.value.findings] == ["CW7082"]


def test_a_network_of_ones_own(amazon: Amazon, account: Account, image: str) -> None:
    client = account.client("ec2")
    vpc = client.create_vpc(CidrBlock="10.90.0.0/16")["Vpc"]["VpcId"]
    asked = {"VpcId": vpc, "CidrBlock": "10.90.16.0/20", "AvailabilityZone": ZONE}
    nodes = client.create_subnet(**asked)["Subnet"]["SubnetId"]
    taken = client.create_network_interface(SubnetId=nodes, PrivateIpAddress="10.90.16.4")
    subject = subject_of(f"""
cluster: guest
site:
  provider: aws
  region: {REGION}
  zone: {ZONE}
  network: 10.90.16.0/24
  vpc: {{id: {vpc}, nodes: {nodes}, s3_endpoint: vpce-0123456789abcdef0}}
pools:
  head: {{roles: [controller, login], machine: m7i.2xlarge, image: {image}}}
  gpu: {{roles: compute, machine: g6.xlarge, image: {image}}}
""")
    seen = look(subject, AT, account)
    assert amazon.url and isinstance(seen.subnets, Mapping)
    assert seen.subnets[nodes].cidr == "10.90.16.0/20"
    assert seen.taken == {"10.90.16.4": taken["NetworkInterface"]["NetworkInterfaceId"]}
    codes = [finding.code for finding in judged(subject, seen).findings]
    assert sorted(codes) == ["CW1414", "CW1416", "CW1417", "CW1417"]


def test_the_policy_in_the_docs_lets_everything_be_asked(served: Amazon) -> None:
    """Of all that the tests above made the look ask; services with paths in place of actions are left out."""
    policy = json.loads((ROOT / "docs" / "aws-live-policy.json").read_text())
    actions = [action for row in policy["Statement"] for action in _as_list(row["Action"])]
    asked = {action for action in served.asked if action.isalnum()} - {"GetCallerIdentity", *MADE_BY_TESTS}
    assert asked <= {action.partition(":")[2] for action in actions}
    assert {"RunInstances", "DescribeRouteTables", "GetAWSDefaultServiceQuota"} <= asked


def _as_list(actions: str | list[str]) -> list[str]:
    return [actions] if isinstance(actions, str) else actions


def test_an_image_that_is_not_there(account: Account) -> None:
    with Stubber(account.client("ec2")) as stub:
        stub.add_client_error("describe_images", "InvalidAMIID.NotFound", "not there")
        assert ground.image(account, "ami-1") == "EC2 does not show ami-1 to this account"


def test_what_takes_too_long_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Question("slow", "ec2:Slow", threading.Event().wait)
    quick = Question("quick", "ec2:Quick", lambda: 1)
    clock = iter([0.0, 0.0, 91.0])  # it begins, waits for the first answer, and for the second
    monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    told = ask_all([slow, quick], seconds=90.0)
    assert told["quick"] == 1
    assert isinstance(told["slow"], Unanswered) and told["slow"].permission == "ec2:Slow"


def test_a_fault_of_ones_own_is_not_hidden() -> None:
    def broken() -> None:
        raise KeyError("field")

    with pytest.raises(KeyError):
        ask_all([Question("broken", "ec2:Broken", broken)])


@pytest.mark.parametrize("case", ["aws-p5-16", "aws-p6", "aws-small", "aws-existing-vpc"])
def test_the_trial_asks_what_the_program_asks(case: str, account: Account) -> None:
    """Every card as in the synthesised launch template; botocore's own model checks every field's type."""
    subject = subject_of((ROOT / "clusters" / f"{case}.yaml").read_text())
    golden = (ROOT / "tests/synthesis/golden" / f"{case}.txt").read_text()
    for machine in {one.pool: one for one in subject.cloud.machines}.values():
        asked = launch(
            machine, zone=ZONE, subnet="s", image="ami-1", root_device="/dev/sda1", address=machine.address
        )
        with Stubber(account.client("ec2")) as stub:
            stub.add_client_error("run_instances", "DryRunOperation")
            with pytest.raises(ClientError, match="DryRunOperation"):
                account.client("ec2").run_instances(DryRun=True, **asked)
        assert asked["NetworkInterfaces"][0]["PrivateIpAddress"] == machine.address
        for one in asked["NetworkInterfaces"]:
            words = f"deviceIndex {one['DeviceIndex']}, interfaceType {one['InterfaceType']}"
            assert f"{words}, networkCardIndex {one['NetworkCardIndex']}" in golden
