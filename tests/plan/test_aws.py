"""What AWS is asked for, before anything is made."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterwright.catalog.machines import catalog
from clusterwright.catalog.replacements import replacements
from clusterwright.plan import plan
from clusterwright.plan.aws import AwsPlan, aws_plan
from clusterwright.plan.interfaces import interface_plan
from clusterwright.spec.load import loads

DOCS = Path(__file__).parents[2] / "docs"
TEXT = """
cluster: c
site: {provider: aws, region: us-east-2, zone: us-east-2a, network: 10.40.0.0/16}
pools:
  head: {roles: [controller, login], machine: m7i.large}
  gpu: {roles: compute, machine: p5.48xlarge, count: 2}
"""
SERVICES = {"ebs": "ec2", "vpc": "ec2", "ec2transitgateway": "ec2", "efs": "elasticfilesystem"}
SERVICES |= {"lb": "elasticloadbalancing", "cloudwatch": "logs"}


def planned(change: str = "", old: str = "count: 2") -> AwsPlan:
    assert old in TEXT
    return aws_plan(plan(loads(TEXT.replace(old, change or old)).spec))


def test_machines_with_a_fabric_stand_together() -> None:
    assert [group.name for group in planned().placement] == ["gpu"]
    assert {machine.placement for machine in planned().machines} == {None, "gpu"}


@pytest.mark.parametrize("model", ["reservation", "capacity-block"])
def test_what_is_reserved_stands_where_it_was_bought(model: str) -> None:
    bought = f"capacity: {{model: {model}, reservation: cr-1}}"
    assert planned(f"count: 2, {bought}").placement == ()
    assert {machine.reservation for machine in planned(f"count: 2, {bought}").machines} == {None, "cr-1"}


def test_what_a_controller_keeps() -> None:
    (head, *others) = planned().machines
    assert head.kept and head.kept.paths == ("/var/lib/mysql", "/var/spool/slurmctld", "/home")
    assert head.kept.gib == 120
    assert [machine.kept for machine in others] == [None, None]
    (head, files, *_) = planned(
        "  files: {roles: storage, machine: m7i.large}\n  gpu:", old="  gpu:"
    ).machines
    assert head.kept and head.kept.paths == ("/var/lib/mysql", "/var/spool/slurmctld")
    assert files.kept and files.kept.paths == ("/home",)


KINDS = sorted(name for name, kind in catalog().types.items() if kind.hardware.provider == "aws")


@given(st.sampled_from(KINDS), st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_every_type_in_every_number_has_its_cards_and_an_address_of_its_own(kind: str, count: int) -> None:
    made = planned(f"machine: {kind}, count: {count}", old="machine: p5.48xlarge, count: 2")
    machines = [machine for machine in made.machines if machine.pool == "gpu"]
    assert len(machines) == count
    assert {machine.interfaces for machine in machines} == {interface_plan(catalog().types[kind]).interfaces}
    addresses = {IPv4Address(machine.address) for machine in made.machines}
    assert len(addresses) == len(made.machines)
    assert made.subnets is not None and all(address in made.subnets.nodes for address in addresses)


def test_no_machine_takes_a_second_address() -> None:
    """The subnet of the nodes has planned addresses only: one that Amazon picks could be another node's."""
    kinds = [kind for kind in catalog().types.values() if kind.hardware.provider == "aws"]
    assert len(kinds) > 40
    for kind in kinds:
        made = interface_plan(kind)
        assert [one.addresses for one in made.interfaces] == [1, *(0 for _ in made.interfaces[1:])], kind.name
        assert (made.interfaces[0].card, made.interfaces[0].device) == (0, 0)


def test_policy_allows_every_service_that_programs_use() -> None:
    text = (DOCS / "aws-policy.json").read_text()
    allowed = [action for row in json.loads(text)["Statement"] for action in _listed(row["Action"])]
    used = {kind.split(":")[1].partition("/")[0] for kind in replacements() if kind.startswith("aws:")}
    for service in used:
        assert any(fnmatchcase(action, f"{SERVICES.get(service, service)}:*") for action in allowed), service


def _listed(actions: str | list[str]) -> list[str]:
    return [actions] if isinstance(actions, str) else actions


def test_nodes_may_do_what_is_asked_for_and_nothing_else() -> None:
    assert {machine.identity for machine in planned().machines} == {None}
    shares = "{/data: {kind: s3, bucket: sets, folder: raw}, /out: {kind: s3, bucket: out, writable: true}}"
    asked = f"storage: {{shares: {shares}}}\npools:\n"
    plan = planned(asked, old="pools:\n")
    (found,) = plan.identities
    assert {machine.identity for machine in plan.machines} == {found.name} == {"buckets"}
    rows = {row["Sid"]: row for row in found.statements}
    assert rows["List0"]["Condition"] == {"StringLike": {"s3:prefix": ["raw", "raw/*"]}}
    assert {sid: (row["Action"], row["Resource"]) for sid, row in rows.items()} == {
        "List0": ("s3:ListBucket", "arn:aws:s3:::sets"),
        "Files0": (["s3:GetObject"], "arn:aws:s3:::sets/raw/*"),
        "List2": ("s3:ListBucket", "arn:aws:s3:::out"),
        "Files2": (
            ["s3:GetObject", "s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"],
            "arn:aws:s3:::out/*",
        ),
    }


def test_sessions_are_for_who_comes_in_at_a_node() -> None:
    front = "  front: {roles: login, machine: m7i.large}\n  gpu:"
    text = TEXT.replace("10.40.0.0/16}", "10.40.0.0/16, session_manager: true, nat: false}")
    plan_ = aws_plan(
        plan(loads(text.replace("controller, login", "controller").replace("  gpu:", front)).spec)
    )
    assert {machine.pool: machine.identity for machine in plan_.machines} == {
        "head": None, "front": "sessions", "gpu": None
    }  # fmt: skip
    assert plan_.endpoints == ("ssm", "ssmmessages") and not plan_.public
