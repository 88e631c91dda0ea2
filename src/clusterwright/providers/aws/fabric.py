"""What nodes need to talk to each other: who may, and how close they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.plan.aws import PlacementGroup
from clusterwright.providers.aws.tags import named


class Fabric(pulumi.ComponentResource):
    """The security group of all nodes, and a placement group for each pool whose machines have a fabric."""

    group: pulumi.Output[str]
    """ID of the security group."""
    placement: Mapping[str, pulumi.Output[str]]
    """Name of the placement group on AWS, by its name in the plan."""

    def __init__(
        self,
        name: str,
        *,
        vpc_id: pulumi.Input[str],
        placement: Iterable[PlacementGroup],
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:Fabric", name, None, opts)
        own = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            name,
            description=f"Nodes of {name}",
            vpc_id=vpc_id,
            tags=named(tags, name),
            opts=own,
        )
        # EFA needs all traffic in and out to the group itself; a rule to 0.0.0.0/0 does not count: Amazon EC2
        # User Guide, Elastic Fabric Adapter, security groups.
        aws.vpc.SecurityGroupIngressRule(
            f"{name}-from-nodes",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol="-1",
            description="From every node",
            tags=named(tags, f"{name}-from-nodes"),
            opts=own,
        )
        aws.vpc.SecurityGroupEgressRule(
            f"{name}-to-nodes",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol="-1",
            description="To every node",
            tags=named(tags, f"{name}-to-nodes"),
            opts=own,
        )
        aws.vpc.SecurityGroupEgressRule(
            f"{name}-out",
            security_group_id=group.id,
            cidr_ipv4="0.0.0.0/0",
            ip_protocol="-1",
            description="To package repositories",
            tags=named(tags, f"{name}-out"),
            opts=own,
        )
        self.group = group.id
        self.placement = {
            one.name: aws.ec2.PlacementGroup(
                f"{name}-{one.name}",
                strategy=one.strategy,
                partition_count=one.partitions,
                tags=named(tags, f"{name}-{one.name}"),
                opts=own,
            ).name
            for one in placement
        }
        self.register_outputs({"group": self.group})
