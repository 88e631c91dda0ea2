"""How people reach the login nodes: through EC2 Instance Connect, or through a load balancer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from clusterwright.providers.aws.tags import named

SSH = 22


class InstanceConnect(pulumi.ComponentResource):
    """A private way in for whom IAM lets: nothing has a public address."""

    def __init__(
        self,
        name: str,
        *,
        subnet: pulumi.Input[str],
        group: pulumi.Input[str],
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:InstanceConnect", name, None, opts)
        aws.ec2transitgateway.InstanceConnectEndpoint(
            name,
            subnet_id=subnet,
            security_group_ids=[group],
            preserve_client_ip=False,
            tags=named(tags, name),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})


class LoginBalancer(pulumi.ComponentResource):
    """One public name for all login nodes, which keep their private addresses."""

    address: pulumi.Output[str]
    """DNS name that people connect to."""

    def __init__(
        self,
        name: str,
        *,
        vpc_id: pulumi.Input[str],
        subnet: pulumi.Input[str],
        nodes_group: pulumi.Input[str],
        ssh_from: Sequence[str],
        nodes: Mapping[str, pulumi.Input[str]],
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:LoginBalancer", name, None, opts)
        self._own = pulumi.ResourceOptions(parent=self)
        self._name, self._tags = name, tags
        group = self._group(vpc_id, nodes_group, ssh_from)
        balancer = aws.lb.LoadBalancer(
            name,
            load_balancer_type="network",
            subnets=[subnet],
            security_groups=[group.id],
            tags=named(tags, name),
            opts=self._own,
        )
        targets = aws.lb.TargetGroup(
            name,
            port=SSH,
            protocol="TCP",
            target_type="instance",
            vpc_id=vpc_id,
            tags=named(tags, name),
            opts=self._own,
        )
        aws.lb.Listener(
            name,
            load_balancer_arn=balancer.arn,
            port=SSH,
            protocol="TCP",
            default_actions=[aws.lb.ListenerDefaultActionArgs(type="forward", target_group_arn=targets.arn)],
            tags=named(tags, name),
            opts=self._own,
        )
        for node, instance in nodes.items():
            aws.lb.TargetGroupAttachment(
                node, target_group_arn=targets.arn, target_id=instance, port=SSH, opts=self._own
            )
        self.address = balancer.dns_name
        self.register_outputs({"address": self.address})

    def _group(
        self, vpc_id: pulumi.Input[str], nodes_group: pulumi.Input[str], ssh_from: Sequence[str]
    ) -> aws.ec2.SecurityGroup:
        group = aws.ec2.SecurityGroup(
            self._name,
            description=f"SSH to {self._name}",
            vpc_id=vpc_id,
            tags=named(self._tags, self._name),
            opts=self._own,
        )
        for network in ssh_from:
            part = f"{self._name}-from-{network}"
            aws.vpc.SecurityGroupIngressRule(
                part,
                security_group_id=group.id,
                cidr_ipv4=network,
                ip_protocol="tcp",
                from_port=SSH,
                to_port=SSH,
                tags=named(self._tags, part),
                opts=self._own,
            )
        inward = f"{self._name}-to-nodes"
        aws.vpc.SecurityGroupEgressRule(
            inward,
            security_group_id=group.id,
            referenced_security_group_id=nodes_group,
            ip_protocol="tcp",
            from_port=SSH,
            to_port=SSH,
            tags=named(self._tags, inward),
            opts=self._own,
        )
        aws.vpc.SecurityGroupIngressRule(
            self._name,
            security_group_id=nodes_group,
            referenced_security_group_id=group.id,
            ip_protocol="tcp",
            from_port=SSH,
            to_port=SSH,
            tags=named(self._tags, self._name),
            opts=self._own,
        )
        return group
