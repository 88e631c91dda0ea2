"""What is special to AWS: what comes out, who is let in, and what is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clusterwright.handoff import loads

from .harness import Synthesis
from .test_programs import ROOT, declared
from .test_programs import made as update

INSTANCE = "aws:ec2/instance:Instance"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


Made = Callable[[str], Synthesis]


@pytest.fixture
def made(shared: Path) -> Made:
    return lambda case: update(shared, ROOT / "clusters" / f"{case}.yaml")


def test_hand_off_has_what_only_amazon_knew(made: Made) -> None:
    shares = loads(made("aws-storage").outputs["cluster"]).storage["shares"]
    assert shares["/data"]["file_system"] == shares["/scratch"]["file_system"] == "a1b2c3d4"
    assert shares["/data"]["mgs"] == ["data.storage.aws-storage.internal@tcp"]
    assert shares["/home"]["server"] == "home.storage.aws-storage.internal"
    records = made("aws-storage").of("aws:route53/record:Record")
    assert {
        one.inputs["name"]: one.inputs["type"]
        for one in records.values()
        if ".storage." in one.inputs["name"]
    } == {
        "apps.storage.aws-storage.internal": "CNAME",
        "data.storage.aws-storage.internal": "CNAME",
        "home.storage.aws-storage.internal": "A",
        "scratch.storage.aws-storage.internal": "CNAME",
    }


def test_people_come_from_where_it_is_said(made: Made) -> None:
    cluster = made("aws-storage")
    assert cluster.outputs["ssh_command"].startswith("ssh aws-storage-login-")
    doors = [one.inputs for one in cluster.of(RULE).values() if "cidrIpv4" in one.inputs]
    assert {(one["cidrIpv4"], one["fromPort"], one["toPort"]) for one in doors} == {
        ("192.0.2.0/24", 22, 22),
        ("198.51.100.0/24", 22, 22),
    }
    assert not any(
        "0.0.0.0/0" in json.dumps(one.inputs) for case in CASES for one in made(case).of(RULE).values()
    )


def test_what_files_are_in_is_protected(made: Made) -> None:
    kinds = ("aws:fsx/", "aws:efs/fileSystem", "aws:ebs/volume")
    held = {one.name: one.options for one in made("aws-storage").resources if one.type.startswith(kinds)}
    free = {"aws-storage-scratch", "aws-storage-data-raw"}
    assert {name for name, options in held.items() if not options.get("protect")} == free
    assert all(options.get("retainOnDelete") for name, options in held.items() if name not in free)


def test_network_of_somebody_else_is_not_changed(made: Made) -> None:
    types = {one.type for one in made("aws-existing-vpc").resources}
    changed = (
        "aws:ec2/vpc:",
        "aws:ec2/subnet:",
        "aws:ec2/route",
        "aws:ec2/natGateway",
        "aws:ec2/internetGateway",
    )
    assert not [kind for kind in types if kind.startswith(changed)]
    (aside,) = made("aws-existing-vpc").of("aws:ec2/subnetCidrReservation:SubnetCidrReservation").values()
    assert (aside.inputs["cidrBlock"], aside.inputs["reservationType"]) == ("10.90.16.0/22", "explicit")


CASES = ("aws-storage", "aws-existing-vpc", "aws-p6", "aws-small")


def test_every_machine_is_closed(made: Made) -> None:
    for case in CASES:
        for one in made(case).of(INSTANCE).values():
            assert one.inputs["metadataOptions"]["httpTokens"] == "required"
            assert one.inputs["rootBlockDevice"]["encrypted"] is True
        for one in made(case).of(TEMPLATE).values():
            first, *others = one.inputs["networkInterfaces"]
            assert first["interfaceType"] != "efa-only" and "privateIpAddress" in first
            assert {other["interfaceType"] for other in others} <= {"efa-only"}
            slots = [(card["networkCardIndex"], card["deviceIndex"]) for card in (first, *others)]
            assert slots[0] == (0, 0) and len(set(slots)) == len(slots)


def test_cards_of_blackwell(made: Made) -> None:
    templates = made("aws-p6").of(TEMPLATE)
    cards = [one["networkCardIndex"] for one in templates["b300-001"].inputs["networkInterfaces"]]
    assert cards == list(range(17))
    kinds = [one["interfaceType"] for one in templates["b200-001"].inputs["networkInterfaces"]]
    assert kinds.count("efa-only") == 8


def test_a_group_in_a_network_of_ones_own_leaves_planned_addresses_alone(tmp_path: Path) -> None:
    """The whole of the subnet is set aside but the part of the pool whose addresses are AWS's to give."""
    (file := tmp_path / "guest.yaml").write_text(GUEST)
    cluster = declared(file, preview=False)
    aside = cluster.of("aws:ec2/subnetCidrReservation:SubnetCidrReservation").values()
    ranges = [one.inputs["cidrBlock"] for one in aside]
    assert len(ranges) == 15
    assert "10.90.16.64/26" not in ranges, "the second pool's"
    assert {one.inputs["subnetId"] for one in aside} == {"subnet-0123456789abcdef0"}
    [group] = cluster.of("aws:autoscaling/group:Group").values()
    assert group.inputs["vpcZoneIdentifiers"] == ["subnet-0123456789abcdef0"]
    assert "aws:ec2/vpc:Vpc" not in {one.type for one in cluster.resources}


GUEST = """
cluster: guest
site:
  provider: aws
  region: us-east-2
  zone: us-east-2a
  network: 10.90.16.0/22
  vpc: {id: vpc-0123456789abcdef0, nodes: subnet-0123456789abcdef0, s3_endpoint: vpce-0123456789abcdef0}
converge: pull
software: {distribution: ubuntu-24.04}
pools:
  head: {roles: [controller, login], machine: m7i.2xlarge}
  cpu: {roles: compute, machine: m7i.4xlarge, count: 9, group: true}
"""
