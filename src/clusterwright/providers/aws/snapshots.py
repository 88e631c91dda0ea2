"""A snapshot of each kept volume, every day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from clusterwright.providers.aws.policy import policy, trusting
from clusterwright.providers.aws.tags import named

KEPT_TAG = "clusterwright:snapshots"
"""Of volumes that the policy is for; its value is the cluster's name."""
_CLUSTER_TAG = "clusterwright:cluster"
_AT = "04:00"
"""UTC. Amazon begins within an hour of it: Amazon EBS User Guide, snapshot lifecycle policies."""


class Snapshots(pulumi.ComponentResource):
    """A policy of Amazon Data Lifecycle Manager, and the role that it acts by.

    Snapshots are no resources of the stack: when it goes they stay, and no policy ends them any more."""

    def __init__(
        self,
        name: str,
        *,
        days: int,
        kms_key: str | None,
        boundary: str | None,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`days`: how long each is kept."""
        super().__init__("clusterwright:aws:Snapshots", name, None, opts)
        own, cluster = pulumi.ResourceOptions(parent=self), tags[_CLUSTER_TAG]
        full = f"{name}-snapshots"
        role = aws.iam.Role(
            full,
            assume_role_policy=trusting("dlm.amazonaws.com"),
            permissions_boundary=boundary,
            tags=named(tags, full),
            opts=own,
        )
        allowed = aws.iam.RolePolicy(full, role=role.id, policy=policy(_may(cluster, kms_key)), opts=own)
        aws.dlm.LifecyclePolicy(
            full,
            description=f"Kept volumes of the cluster {cluster}",
            execution_role_arn=role.arn,
            state="ENABLED",
            policy_details=aws.dlm.LifecyclePolicyPolicyDetailsArgs(
                resource_types=["VOLUME"], target_tags={KEPT_TAG: cluster}, schedules=[_daily(days)]
            ),
            tags=named(tags, full),
            opts=pulumi.ResourceOptions.merge(own, pulumi.ResourceOptions(depends_on=[allowed])),
        )
        self.register_outputs({})


def _daily(days: int) -> aws.dlm.LifecyclePolicyPolicyDetailsScheduleArgs:
    return aws.dlm.LifecyclePolicyPolicyDetailsScheduleArgs(
        name="daily",
        create_rule=aws.dlm.LifecyclePolicyPolicyDetailsScheduleCreateRuleArgs(
            interval=24, interval_unit="HOURS", times=_AT
        ),
        retain_rule=aws.dlm.LifecyclePolicyPolicyDetailsScheduleRetainRuleArgs(
            interval=days, interval_unit="DAYS"
        ),
        # Name and cluster of the volume: whoever needs a snapshot at night finds it by them.
        copy_tags=True,
    )


def _may(cluster: str, kms_key: str | None) -> Sequence[Mapping[str, object]]:
    """Amazon EBS User Guide, IAM service roles of Data Lifecycle Manager; of these actions the ones that
    snapshots of volumes need, and only of this cluster's."""
    of_cluster = {"StringEquals": {f"aws:ResourceTag/{_CLUSTER_TAG}": cluster}}
    volumes, snapshots = "arn:aws:ec2:*:*:volume/*", "arn:aws:ec2:*::snapshot/*"
    looks = ["ec2:DescribeInstances", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"]
    return [
        {"Effect": "Allow", "Action": looks, "Resource": "*"},
        {"Effect": "Allow", "Action": "ec2:CreateSnapshot", "Resource": volumes, "Condition": of_cluster},
        {"Effect": "Allow", "Action": ["ec2:CreateSnapshot", "ec2:CreateTags"], "Resource": snapshots},
        {"Effect": "Allow", "Action": "ec2:DeleteSnapshot", "Resource": snapshots, "Condition": of_cluster},
        *(_with_key(kms_key) if kms_key else ()),
    ]


def _with_key(kms_key: str) -> tuple[Mapping[str, object], ...]:
    """Amazon EBS User Guide, Data Lifecycle Manager: permissions for encryption."""
    uses = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
    grants = ["kms:CreateGrant", "kms:ListGrants", "kms:RevokeGrant"]
    for_services = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
    return (
        {"Effect": "Allow", "Action": uses, "Resource": kms_key},
        {"Effect": "Allow", "Action": grants, "Resource": kms_key, "Condition": for_services},
    )
