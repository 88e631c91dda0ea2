"""Machines of a cloud beside own ones: the real command on the real engine, up to where SSH is waited for."""

from __future__ import annotations

import re
import signal

import pytest

from .somebody import Operator

pytestmark = pytest.mark.engine
HYBRID = """
cluster: hybrid
sites:
  hall: {provider: onprem, network: 10.78.0.0/22}
  amazon:
    provider: aws
    region: us-east-1
    zone: us-east-1a
    network: 10.79.0.0/20
    link: {gateway: tgw-0123456789abcdef0}
    shares: {/home: null}
pools:
  head: {roles: [controller, login], machine: generic-x86-16c, site: hall}
  far: {roles: compute, machine: c7i.4xlarge, count: 2, site: amazon}
scheduler: {partitions: {far: {max_time: 1 day}}}
"""


def test_machines_of_the_cloud_are_made_first_and_their_key_is_not_forgotten(
    operator: Operator,
) -> None:
    (operator.root / "hybrid.yaml").write_text(HYBRID)
    with operator.start("up", "hybrid.yaml") as process:
        assert process.stderr
        said = ""
        while "the machines of the cloud boot" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130
    deeds = operator.deeds.splitlines()
    assert "create aws:ec2transitgateway/vpcAttachment:VpcAttachment hybrid" in deeds
    assert sorted(deed for deed in deeds if "ec2/instance:" in deed) == [
        "create aws:ec2/instance:Instance far-001",
        "create aws:ec2/instance:Instance far-002",
    ]

    # Again, nothing is made twice; and the key that opens the machines stays as long as they do.
    output, _ = operator.run("list")
    assert {line.split()[0] for line in output.splitlines()} >= {"hybrid", "hybrid-amazon"}
    output, _ = operator.run("status", "hybrid-amazon", code=1)
    assert re.findall(r"^(far-00\d|head) ", output, re.MULTILINE) == ["far-001", "far-002"]
    _, errors = operator.run("destroy", "hybrid", code=2)
    assert "CW8321" in errors and "`clusterwright destroy hybrid-amazon`" in errors
    output, _ = operator.run("destroy", "hybrid-amazon", "--yes")
    assert "hybrid-amazon is gone" in output
    operator.run("destroy", "hybrid")
    assert not list((operator.state.parent).iterdir())
