"""Roles that a site keeps itself: nothing of them is placed, nothing is switched off, and the rest stays."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from clusterwright.bundle.build import NODE_JSON
from clusterwright.bundle.role import ORDER
from clusterwright.bundle.rows import question
from clusterwright.bundle.wanted import Kind, Wanted
from clusterwright.finding import Refused
from clusterwright.spec.treatment import AnsibleRole

from . import solved

NODE = {"base", "pull", "node_gate"}
"""What makes a machine a node; and Slurm's own roles."""
PEOPLE = "users: {ada: {uid: 2001, keys: ['ssh-ed25519 AAAA ada']}}"
SHARES = PEOPLE + "\nstorage: {shares: {/data: {kind: nfs, server: filer.example.org, export: /data}}}"


def node(roles: str, more: str = PEOPLE) -> Wanted:
    return solved.wanted(solved.handoff("hgx-h100-8gpu", more=more, roles=roles))


def names(kind: Kind | Wanted) -> set[str]:
    return {package.partition("=")[0] for package in kind.packages}


def places(kind: Kind | Wanted) -> set[str]:
    return {file.path for file in kind.files}


def test_every_role_may_be_kept_but_those_that_make_a_node() -> None:
    slurm = {role for role in ORDER if role.startswith("slurm_")}
    assert set(get_args(AnsibleRole)) == set(ORDER) - NODE - slurm


@pytest.mark.parametrize("role", sorted(NODE))
def test_what_makes_a_node_is_always_managed(role: str) -> None:
    with pytest.raises(Refused) as refused:
        node(f"{{{role}: skip}}")
    assert role in refused.value.findings[0].where.path


def test_to_manage_is_what_happens_anyway() -> None:
    assert node("{nvidia_driver: manage}").digest == node("{}").digest


def test_a_skipped_role_brings_nothing_and_its_services_are_left_alone() -> None:
    whole, without = node("{}"), node("{nvidia_driver: skip}")
    gone = names(whole) - names(without)
    assert "nvidia-kernel-open-dkms" in gone
    assert "libnccl2" in names(without) and any(name.startswith("cuda-toolkit") for name in names(without))
    assert "/etc/apt/preferences.d/clusterwright-nvidia" in places(whole) - places(without)
    assert not {unit.name for unit in without.units} & {"nvidia-persistenced"}
    assert {unit.name: unit.active for unit in whole.units}["nvidia-persistenced"]
    assert "nvidia_driver" not in without.kind.roles


def test_a_skipped_role_is_in_no_lock_that_the_gate_knows() -> None:
    def stack(wanted: Wanted) -> set[str]:
        [text] = [file.content for file in wanted.files if file.path == NODE_JSON]
        return set(json.loads(text or "")["stack"])

    assert stack(node("{}")) - stack(node("{nvidia_driver: skip}")) == {"driver"}


def test_nothing_holds_a_package_that_the_site_keeps() -> None:
    whole, without = node("{}").kind, node("{nvidia_driver: skip}").kind
    assert set(whole.held) - set(without.held)
    assert set(without.held) <= names(without)


def test_an_observed_role_is_asked_for_and_not_placed() -> None:
    whole, skipped, observed = node("{}"), node("{nvidia_driver: skip}"), node("{nvidia_driver: observe}")
    assert names(observed) == names(skipped) and places(observed) == places(skipped)
    assert skipped.kind.observed is None
    kept = observed.kind.observed
    assert kept is not None
    assert names(kept) == names(whole) - names(skipped)
    assert places(kept) == {path for path in places(whole) - places(skipped) if "nvidia" in path} - {
        path for path in places(whole) if "started-with" in path or "modules.d" in path
    }
    assert question(observed)["observed"]["packages"] == kept.packages
    assert "observed" not in question(skipped)


def test_people_of_the_site_stay_the_sites() -> None:
    whole, without = node("{}"), node("{users: skip}")
    assert {user.name for user in whole.users} - {user.name for user in without.users} == {"ada"}
    assert "clusterwright" in {user.name for user in without.users}, "whom acceptance jobs run as"
    assert "/etc/clusterwright/authorized_keys/ada" in places(whole) - places(without)
    observed = node("{users: observe}").kind.observed
    assert observed is not None and {user.name for user in observed.users} == {"ada"}


def test_shares_that_the_site_mounts_have_no_unit() -> None:
    whole, without = node("{}", SHARES), node("{shared_home: skip}", SHARES)
    assert "data.mount" in {unit.name for unit in whole.units} - {unit.name for unit in without.units}
    assert "/etc/systemd/system/data.mount" in places(whole) - places(without)
    assert not [
        file for file in without.files if file.content and "systemctl start data.mount" in file.content
    ]


def test_what_was_placed_before_is_left_to_the_site() -> None:
    whole, without = node("{}").kind, node("{users: skip, nvidia_driver: skip}").kind
    assert (whole.left_files, whole.left_people) == ((), ())
    assert without.left_people == ("ada",)
    left, gone = set(without.left_files), places(whole) - places(without)
    assert {"/etc/clusterwright/authorized_keys/ada", "/etc/modprobe.d/92-clusterwright-nvidia.conf"} <= left
    pins = {"/etc/apt/preferences.d/clusterwright-driver", "/etc/clusterwright/modules.d/driver"}
    assert gone - left == pins, "what holds the lock's versions goes"
