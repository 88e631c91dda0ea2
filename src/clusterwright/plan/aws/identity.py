"""What nodes may ask of AWS: a role for each set of needs, and none for nodes without any."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clusterwright.spec.buckets import S3
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.site import AwsSite

SESSIONS = (
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
"""AWS Systems Manager User Guide, Session Manager: minimal permissions of an instance (2026-11)."""
_READ = ("s3:GetObject",)
_WRITE = ("s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject")
SESSION_ENDPOINTS = ("ssm", "ssmmessages")
"""The agent asks nothing else since its release 3.3.40: AWS Systems Manager User Guide, VPC endpoints."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One role of nodes."""

    name: str
    statements: tuple[Mapping[str, Any], ...]


def identity(spec: ClusterSpec, site: AwsSite, roles: Collection[str]) -> Identity | None:
    """Of nodes with these roles."""
    needs: dict[str, list[Mapping[str, Any]]] = {}
    if found := list(_buckets(spec)) if {"compute", "login"} & set(roles) else []:
        needs["buckets"] = found
    if site.session_manager and is_door(spec, roles):
        needs["sessions"] = [_sessions()]
    statements = tuple(statement for rows in needs.values() for statement in rows)
    return Identity("-".join(needs), statements) if needs else None


def is_door(spec: ClusterSpec, roles: Collection[str]) -> bool:
    """Whether people come in at such a node: login nodes, the controller where there is none."""
    door = "login" if any("login" in pool.roles for pool in spec.pools.values()) else "controller"
    return door in roles


def endpoints(site: AwsSite) -> tuple[str, ...]:
    """Services with an interface endpoint: those asked for, and what sessions need without a way out."""
    needed = SESSION_ENDPOINTS if site.session_manager and not site.nat else ()
    return tuple(sorted({*site.endpoints, *needed})) if site.vpc is None else ()


def _buckets(spec: ClusterSpec) -> Iterator[Mapping[str, Any]]:
    """Mountpoint for Amazon S3, CONFIGURATION.md, IAM permissions; a folder's own where one is mounted."""
    for number, (_, share) in enumerate(sorted(spec.storage.shares.items())):
        if not isinstance(share, S3):
            continue
        arn, below = f"arn:aws:s3:::{share.bucket}", f"{share.folder}/*" if share.folder else "*"
        listing: dict[str, Any] = {
            "Sid": f"List{number}", "Effect": "Allow", "Action": "s3:ListBucket", "Resource": arn
        }  # fmt: skip
        if share.folder:
            listing["Condition"] = {"StringLike": {"s3:prefix": [share.folder, below]}}
        yield listing
        actions = [*_READ, *(_WRITE if share.writable else ())]
        yield {"Sid": f"Files{number}", "Effect": "Allow", "Action": actions, "Resource": f"{arn}/{below}"}


def _sessions() -> Mapping[str, Any]:
    """These actions know no resource."""
    return {"Sid": "Sessions", "Effect": "Allow", "Action": list(SESSIONS), "Resource": "*"}
