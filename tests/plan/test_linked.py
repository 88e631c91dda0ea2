"""A site on AWS beside own machines: what is routed to it, who comes in, and what each site mounts."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from clusterwright.bundle.shares import mounted
from clusterwright.change import diff
from clusterwright.handoff import Handoff, from_plan, loads
from clusterwright.plan import plan
from clusterwright.plan.aws import AwsPlan, aws_plan
from clusterwright.plan.rehearsal import rehearse
from clusterwright.plan.software.lock import Lock, Locked
from clusterwright.spec.cluster import ClusterSpec

BASE = yaml.safe_load((Path(__file__).parents[1] / "checks/bases/hybrid.yaml").read_text())


def described(pools: dict[str, object] | None = None, **amazon: object) -> ClusterSpec:
    site = {**BASE["sites"]["amazon"], **amazon}
    sites = {**BASE["sites"], "amazon": site}
    return ClusterSpec.model_validate({**BASE, "sites": sites, "pools": {**BASE["pools"], **(pools or {})}})


def on_aws(spec: ClusterSpec) -> AwsPlan:
    return aws_plan(plan(spec))


def handed_off(spec: ClusterSpec) -> Handoff:
    return loads(from_plan(plan(spec)).dumps())


def test_machines_are_those_of_the_site_and_routes_lead_to_the_others() -> None:
    found = on_aws(described())
    assert [machine.name for machine in found.machines] == ["overflow-001", "overflow-002"]
    assert found.join
    assert found.join.networks == ("10.8.0.0/24", "10.78.0.0/22")
    assert {(door.network, door.protocol, door.ports) for door in found.join.doors} == {
        ("10.78.0.0/22", "icmp", (-1, -1)),
        ("10.78.0.0/22", "tcp", (22, 22)),
        ("10.78.0.0/22", "tcp", (6817, 6818)),
        ("10.78.0.0/22", "tcp", (9100, 9100)),
    }


def test_prometheus_reaches_the_exporter_of_gpus_where_it_is_locked() -> None:
    row = Locked("4.8.2", "", {}, ("nvidia-dcgm-exporter",), (), "nvidia-cuda", None, ())
    lock = Lock("ubuntu-24.04", {"overflow": "x86_64"}, {}, {"overflow": {"dcgm_exporter": row}})
    found = aws_plan(plan(described(), lock=lock)).join
    assert found
    assert [door.network for door in found.doors if door.ports == (9400, 9400)] == ["10.78.0.0/22"]


def test_operators_come_in_over_ssh_and_only_where_no_site_lets_them() -> None:
    def doors(network: str) -> set[str]:
        link = {"gateway": "vgw-0123456789abcdef0", "operators_from": network}
        found = on_aws(described(link=link)).join
        assert found and found.gateway == "vgw-0123456789abcdef0"
        return {door.network for door in found.doors if door.of == "operators"}

    assert doors("10.9.0.0/24") == {"10.9.0.0/24"}
    assert doors("10.78.1.0/24") == set()


def test_srun_of_a_login_node_there_is_answered_at_every_port() -> None:
    login = {"roles": "login", "machine": "m7i.2xlarge", "site": "amazon"}
    found = on_aws(described({"front": login})).join
    assert found
    assert {(door.protocol, door.ports) for door in found.doors} == {
        ("icmp", (-1, -1)),
        ("tcp", (0, 65535)),
    }


def test_each_site_mounts_its_own_shares() -> None:
    handoff = handed_off(described(shares={"/home": {"kind": "efs"}, "/data": None}))
    assert sorted(mounted(handoff, handoff.by_name["gpu-001"])) == ["/data", "/home"]
    far = mounted(handoff, handoff.by_name["overflow-001"])
    assert {path: share["server"] for path, share in far.items()} == {"/home": "home.storage.hybrid.internal"}
    assert [system.mount for system in on_aws(described()).file_systems] == ["/data", "/home"]


def test_what_a_site_mounts_touches_its_own_nodes_only() -> None:
    old, new = handed_off(described()), handed_off(described(shares={"/home": {"kind": "efs"}}))
    (change,) = diff(old, new)
    assert (change.path, change.nodes) == ("storage.sites.amazon", ("overflow-001", "overflow-002"))
    assert change.impact.value == "drain"


def test_a_rehearsal_keeps_what_sites_mount_apart() -> None:
    played = rehearse(described(shares={"/home": {"kind": "efs"}, "/data": None})).spec
    handoff = handed_off(played)
    assert handoff.shares("amazon") == {"/home": {"kind": "served", "size": None}}
    assert sorted(handoff.shares("hall")) == ["/data", "/home"]
    here, there = handoff.by_name["gpu-001"], handoff.by_name["overflow-001"]
    assert handoff.have_in_common(here, handoff.by_name["head"])
    assert not handoff.have_in_common(here, there)
    assert handoff.have_in_common(there, handoff.by_name["overflow-002"])


@pytest.mark.parametrize("site", ["hall", "amazon"])
def test_a_part_has_its_own_nodes_only(site: str) -> None:
    part = plan(described()).at(site)
    assert {node.site for node in part.nodes} == {site}
    assert {pool.site for pool in part.spec.pools.values()} == {site}
