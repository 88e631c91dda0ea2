"""Rules on what machines are told, what they may do, and whose they are."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clusterwright.checks.resources.rule import Resource, ResourceRule, rule

_USER_DATA: Mapping[str, str] = {
    "aws:ec2/instance:Instance": "userData",
    "aws:ec2/launchTemplate:LaunchTemplate": "userData",
    "gcp:compute/instance:Instance": "metadata.user-data",
    "gcp:compute/instanceTemplate:InstanceTemplate": "metadata.user-data",
}
_MOST: Mapping[str, int] = {"aws": 16 * 1024, "gcp": 256 * 1024}
_GZIP = b"\x1f\x8b"
_SECRET = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|AGE-SECRET-KEY-1|\b(AKIA|ASIA)[0-9A-Z]{16}\b")
_POLICIES = ("aws:iam/rolePolicy:RolePolicy", "aws:iam/policy:Policy")
_MEMBER = "gcp:projects/iAMMember:IAMMember"
_BASIC = ("roles/owner", "roles/editor")
_TAGGED = (
    "aws:ec2/instance:Instance",
    "aws:ebs/volume:Volume",
    "aws:efs/fileSystem:FileSystem",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "aws:s3/bucket:Bucket",
)


def _told(resources: Sequence[Resource]) -> Iterator[tuple[Resource, bytes]]:
    """As machines get it, packed or not."""
    for one in resources:
        text = one.get(_USER_DATA[one.type]) if one.type in _USER_DATA else None
        if isinstance(text, str):
            yield one, _given(text) if one.type.startswith("aws:ec2/launchTemplate:") else text.encode()


def _given(text: str) -> bytes:
    """A launch template takes it in base64: Amazon EC2 API, RequestLaunchTemplateData."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return text.encode()


def _unpacked(told: bytes) -> str:
    return (gzip.decompress(told) if told.startswith(_GZIP) else told).decode(errors="replace")


@rule(
    "no-secret-in-user-data",
    remedy="Give it to the cluster's store, which nodes read by their identity, and rotate it",
    source="Amazon EC2 user guide, instance user data: neither authenticated nor encrypted, 2026-11",
)
def no_secret_in_user_data(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """Every process on a machine can read what it was started with, and so can who may look at machines."""
    for one, told in _told(resources):
        if _SECRET.search(_unpacked(told)):
            yield one, "its user data holds a key"


@rule(
    "user-data-fits",
    remedy="Put it into the bundle, which a node fetches when it boots",
    source="Amazon EC2 user guide, instance user data: 16 KB; Compute Engine, metadata: 256 KB, 2026-11",
)
def user_data_fits(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """A machine with more is refused."""
    for one, told in _told(resources):
        most = _MOST[one.type.partition(":")[0]]
        if len(told) > most:
            yield one, f"its user data has {len(told):,} bytes, and {most:,} are taken"


@rule(
    "narrow-permissions",
    remedy="Name the actions and the resources that nodes need",
    source="AWS IAM user guide, least privilege; Google Cloud IAM, basic roles, 2026-11",
)
def narrow_permissions(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """Who takes over one job takes over what its machine may do."""
    for one in resources:
        if one.type in _POLICIES:
            if any(map(_everything, _statements(one.get("policy")))):
                yield one, "allows every action of a service, or all of them, on everything"
        elif one.type == _MEMBER and one.get("role") in _BASIC:
            yield one, f"gives '{one.get('role')}'"


def _statements(policy: Any) -> list[Mapping[str, Any]]:
    found = json.loads(policy) if isinstance(policy, str) else policy or {}
    statements = found.get("Statement", [])
    return statements if isinstance(statements, list) else [statements]


def _everything(statement: Mapping[str, Any]) -> bool:
    actions, on = _listed(statement.get("Action")), _listed(statement.get("Resource"))
    wide = any(action == "*" or action.endswith(":*") for action in actions)
    return statement.get("Effect") == "Allow" and wide and "*" in on


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


@rule(
    "belongs-to-a-cluster",
    remedy="Give it the tag `clusterwright:cluster` with the cluster's name",
    source="AWS, tagging best practices: cost allocation and clean-up go by tags, 2026-11",
)
def belongs_to_a_cluster(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """What outlives a stack is found by its tag, and so is what it costs."""
    for one in resources:
        if one.type in _TAGGED and not (one.get("tags") or {}).get("clusterwright:cluster"):
            yield one, "does not say which cluster it is of"


TRUST: tuple[ResourceRule, ...] = (
    no_secret_in_user_data,
    user_data_fits,
    narrow_permissions,
    belongs_to_a_cluster,
)
