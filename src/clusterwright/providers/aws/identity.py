"""What nodes may ask of AWS, as instance profiles."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.plan.aws.identity import Identity
from clusterwright.providers.aws.policy import policy, trusting
from clusterwright.providers.aws.tags import named


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
            name,
            assume_role_policy=trusting("ec2.amazonaws.com"),
            permissions_boundary=boundary,
            tags=mine,
            opts=own,
        )
        allowed = aws.iam.RolePolicy(name, role=role.id, policy=policy(identity.statements), opts=own)
        profile = aws.iam.InstanceProfile(
            name,
            role=role.name,
            tags=mine,
            # A machine that has the profile may do at once what it needs.
            opts=pulumi.ResourceOptions.merge(own, pulumi.ResourceOptions(depends_on=[allowed])),
        )
        self.profile = profile.name
        self.register_outputs({"profile": self.profile})
