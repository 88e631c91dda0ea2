"""What nodes may ask of AWS, as instance profiles."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.plan.aws.identity import Identity
from clusterwright.providers.aws.tags import named

_INSTANCES = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}


class NodeIdentity(pulumi.ComponentResource):
    """A role that machines take by their instance profile, with what it may do and no other policy."""

    profile: pulumi.Output[str]
    """Name of the instance profile."""

    def __init__(
        self,
        name: str,
        *,
        identity: Identity,
        boundary: str | None,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:NodeIdentity", name, None, opts)
        own, mine = pulumi.ResourceOptions(parent=self), named(tags, name)
        role = aws.iam.Role(
            name, assume_role_policy=_text(_INSTANCES), permissions_boundary=boundary, tags=mine, opts=own
        )
        allowed = {"Version": "2012-10-17", "Statement": list(identity.statements)}
        policy = aws.iam.RolePolicy(name, role=role.id, policy=_text(allowed), opts=own)
        profile = aws.iam.InstanceProfile(
            name,
            role=role.name,
            tags=mine,
            # A machine that has the profile may do at once what it needs.
            opts=pulumi.ResourceOptions.merge(own, pulumi.ResourceOptions(depends_on=[policy])),
        )
        self.profile = profile.name
        self.register_outputs({"profile": self.profile})


def _text(policy: Mapping[str, object]) -> str:
    return json.dumps(policy, sort_keys=True)
