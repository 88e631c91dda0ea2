"""The way to the other sites of a cluster: the gateway that exists, the routes to it, and who may come."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.plan.aws.model import Join
from clusterwright.providers.aws.tags import named

_TRANSIT = "tgw-"


class Joined(pulumi.ComponentResource):
    """Of one network. What stands at the other end, and its routes back, are of whoever runs that."""

    def __init__(
        self,
        name: str,
        *,
        join: Join,
        vpc_id: pulumi.Input[str],
        subnet: pulumi.Input[str],
        routes: pulumi.Input[str] | None,
        nodes_group: pulumi.Input[str],
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`routes`: the route table of the nodes; None in a network that has its routes already."""
        super().__init__("clusterwright:aws:Joined", name, None, opts)
        self._name, self._join, self._tags = name, join, tags
        self._own = pulumi.ResourceOptions(parent=self)
        self._let_in(nodes_group)
        if routes is not None:
            self._route(routes, self._attached(vpc_id, subnet))
        self.register_outputs({})

    def _attached(self, vpc_id: pulumi.Input[str], subnet: pulumi.Input[str]) -> pulumi.Resource:
        gateway = self._join.gateway
        if gateway.startswith(_TRANSIT):
            return aws.ec2transitgateway.VpcAttachment(
                self._name,
                transit_gateway_id=gateway,
                vpc_id=vpc_id,
                subnet_ids=[subnet],
                tags=named(self._tags, self._name),
                opts=self._own,
            )
        return aws.ec2.VpnGatewayAttachment(self._name, vpn_gateway_id=gateway, vpc_id=vpc_id, opts=self._own)

    def _route(self, table: pulumi.Input[str], attached: pulumi.Resource) -> None:
        """EC2 refuses a route to a gateway that the network is not attached to."""
        behind = pulumi.ResourceOptions.merge(self._own, pulumi.ResourceOptions(depends_on=[attached]))
        gateway = self._join.gateway
        transit = gateway.startswith(_TRANSIT)
        for network in self._join.networks:
            aws.ec2.Route(
                f"{self._name}-to-{network}",
                route_table_id=table,
                destination_cidr_block=network,
                transit_gateway_id=gateway if transit else None,
                gateway_id=None if transit else gateway,
                opts=behind,
            )

    def _let_in(self, group: pulumi.Input[str]) -> None:
        for door in self._join.doors:
            port = f"-{door.ports[0]}" if door.ports[0] > 0 else ""
            part = f"{self._name}-from-{door.network}-{door.protocol}{port}"
            aws.vpc.SecurityGroupIngressRule(
                part,
                security_group_id=group,
                cidr_ipv4=door.network,
                ip_protocol=door.protocol,
                from_port=door.ports[0],
                to_port=door.ports[1],
                description=door.of[:1].upper() + door.of[1:],
                tags=named(self._tags, part),
                opts=self._own,
            )
