"""What is copied every day, by whom, and what encrypts it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .test_programs import ROOT, declared, made

POLICY = "aws:dlm/lifecyclePolicy:LifecyclePolicy"
SCHEDULE = "gcp:compute/resourcePolicy:ResourcePolicy"
KEY = "projects/example-keys/locations/us-central1/keyRings/hpc/cryptoKeys/clusters"


def test_the_role_of_snapshots_reaches_this_clusters_volumes_and_its_own_key(shared: Path) -> None:
    cluster = made(shared, ROOT / "clusters" / "aws-closed.yaml")
    [policy] = cluster.of(POLICY).values()
    [role] = policy.links["executionRoleArn"]
    text = cluster.of("aws:iam/rolePolicy:RolePolicy")[role.rpartition("::")[2]].inputs["policy"]
    rows = json.loads(text)["Statement"]
    free = {
        action
        for row in rows
        if "Condition" not in row
        for action in ([row["Action"]] if isinstance(row["Action"], str) else row["Action"])
        if not action.startswith(("ec2:Describe", "kms:"))
    }
    assert free == {"ec2:CreateSnapshot", "ec2:CreateTags"}, "on snapshots, which begin without a tag"
    of_cluster = {"StringEquals": {"aws:ResourceTag/clusterwright:cluster": "aws-closed"}}
    assert [row["Condition"] for row in rows if row["Action"] == "ec2:DeleteSnapshot"] == [of_cluster]
    key = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    assert {row["Resource"] for row in rows if str(row["Action"]).find("kms:") >= 0} == {key}
    [volume] = cluster.of("aws:ebs/volume:Volume").values()
    assert policy.inputs["policyDetails"]["targetTags"].items() <= volume.inputs["tags"].items()


@pytest.mark.parametrize("case", ["aws-small", "gcp-cpu"])
def test_whoever_wants_no_snapshots_has_none(case: str, tmp_path: Path) -> None:
    text = (ROOT / "clusters" / f"{case}.yaml").read_text()
    (file := tmp_path / f"{case}.yaml").write_text(text.replace("zone:", "snapshot_days: 0, zone:", 1))
    (tmp_path / f"{case}.lock.yaml").write_bytes((ROOT / "clusters" / f"{case}.lock.yaml").read_bytes())
    types = {one.type for one in declared(file, preview=False).resources}
    assert not types & {
        POLICY,
        SCHEDULE,
        "gcp:compute/diskResourcePolicyAttachment:DiskResourcePolicyAttachment",
    }
    assert not {kind for kind in types if kind.endswith(":Snapshots")}


def test_a_key_of_ones_own_encrypts_all_that_keeps_anything(shared: Path) -> None:
    """Every resource of the kinds that hold bytes names it somewhere."""
    holds = {
        "gcp:compute/disk:Disk",
        "gcp:compute/instance:Instance",
        "gcp:filestore/instance:Instance",
        "gcp:lustre/instance:Instance",
        "gcp:storage/bucket:Bucket",
    }
    cluster = made(shared, ROOT / "clusters" / "gcp-storage.yaml")
    found = [one for one in cluster.resources if one.type in holds]
    assert {one.type for one in found} == holds
    assert [one.name for one in found if KEY not in set(_texts(one.inputs))] == []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
