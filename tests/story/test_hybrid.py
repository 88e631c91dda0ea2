"""Own machines and one that a cloud made, on two networks: opened by its user data, pushed to as one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from clusterwright.bundle.userdata import admitting
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.lab.shares import lab_shares
from clusterwright.operate.own.trust import Trust
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.operate.up import up
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.image import bake
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import LabNode
from clusterwright.providers.lab.ssh import Target

from .ground import Desk

pytestmark = pytest.mark.lab
DESCRIPTION = """\
cluster: joined
sites:
  hall: {provider: onprem, network: HALL}
  amazon:
    provider: aws
    region: us-east-1
    zone: us-east-1a
    network: AMAZON
    link: {gateway: tgw-0123456789abcdef0}
    shares: {/home: null}
pools:
  head: {roles: [controller, login], machine: generic-x86-2c, site: hall}
  far: {roles: compute, machine: m7i.large, site: amazon}
scheduler: {accounting: false, partitions: {far: {max_time: 1 day}}}
users: {ada: {uid: 2001}}
storage: {shares: {/home: {kind: served}}}
software: {distribution: debian-13, monitoring: false}
"""
INSTALLED = """
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/unsafe-io
apt-get update -qq
apt-get install -qq -y --no-install-recommends sudo chrony cloud-init python3 >/dev/null
"""


@pytest.fixture(scope="module")
def lab(desk: Desk) -> Iterator[Lab]:
    """Bare machines: one as an installer left it, one as AWS makes it."""
    home = LabHome.of_user(desk.environment)
    lab = Lab(home, "joined")
    digest = hashlib.sha256(f"joined {INSTALLED}".encode()).hexdigest()[:16]
    try:
        hall, amazon = (str(segment.network) for segment in lab.reserve(2).segments)
        file = desk.describe(DESCRIPTION.replace("HALL", hall).replace("AMAZON", amazon))
        image = bake(home, digest, _installed, lambda *_: None)
        handoff = prepare(described(Source(file))).handoff
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("XDG_STATE_HOME", str(desk.state))
            opens = Trust(ClusterHome.of("joined")).key.with_suffix(".pub").read_text()
        told = {"far": admitting("far", " ".join(opens.split()[:2]))}
        for node in handoff.nodes:
            one = LabNode(node.name, IPv4Address(node.address), user_data=told.get(node.name, ""))
            lab.ensure([one], lambda *_: None, image=image, shares=lab_shares(handoff, node.site))
        yield lab
    finally:
        lab.destroy()


def _installed(target: Target) -> None:
    run(target.ssh_command(INSTALLED))


def test_machines_of_both_sites_are_let_in_and_become_one_cluster(
    desk: Desk, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(desk.state))
    key = str(lab.folder / "ssh/operator_ed25519")
    desk.run("bootstrap", "cluster.yaml", "head", "--identity", key, "--accept-new")
    assert "1 of 1 machines are bootstrapped" in desk.run("bootstrap", "cluster.yaml", "far", "--accept-new")
    outcome = up(Source(Path(desk.folder / "cluster.yaml")), lambda _: None)
    assert outcome.ok, (outcome.nodes, outcome.failed)
    assert desk.on("head", "cd /tmp; srun -p far uname -n", cluster="joined").split()[-1] == "far"
