"""The network of a cluster: made here, or one that exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from clusterwright.plan.subnets import Subnets
from clusterwright.providers.aws.tags import named
from clusterwright.spec.site import AwsVpc

_HTTPS = 443


class Network(pulumi.ComponentResource):
    """A VPC in one zone: nodes without public addresses, a way out, and short ones to Amazon's services."""

    vpc_id: pulumi.Output[str]
    nodes: pulumi.Output[str]
    """ID of the subnet of the nodes, which nothing else takes an address of."""
    services: pulumi.Output[str]
    """ID of the subnet of file systems and endpoints."""
    public: pulumi.Output[str]
    """ID of the subnet that the internet reaches."""
    s3_endpoint: pulumi.Output[str]
    """ID of the gateway endpoint for Amazon S3."""
    routes: pulumi.Output[str] | None
    """ID of the route table of the nodes; None in a network of somebody else's."""
    set_aside: Sequence[pulumi.Resource]
    """What keeps planned addresses from machines that AWS gives one."""

    def __init__(
        self,
        name: str,
        *,
        region: str,
        zone: str,
        cidr: str,
        subnets: Subnets,
        nat: bool = True,
        internet: bool = True,
        endpoints: Sequence[str] = (),
        set_aside: Sequence[str] = (),
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`internet`: whether the public subnet is; without it there is no way in or out of this network.
        `set_aside`: ranges of the nodes' subnet whose addresses are planned, and not AWS's to give."""
        super().__init__("clusterwright:aws:Network", name, None, opts)
        self._name, self._tags = name, tags
        self._own = pulumi.ResourceOptions(parent=self)
        vpc = aws.ec2.Vpc(
            name,
            cidr_block=cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags=named(tags, name),
            opts=self._own,
        )
        self._vpc = vpc
        # Without rules: what is made in this network and names no group of its own is reached by nobody.
        aws.ec2.DefaultSecurityGroup(name, vpc_id=vpc.id, tags=named(tags, f"{name}-unused"), opts=self._own)
        made = {
            part: aws.ec2.Subnet(
                f"{name}-{part}",
                vpc_id=vpc.id,
                availability_zone=zone,
                cidr_block=str(getattr(subnets, part)),
                map_public_ip_on_launch=False,
                tags=named(tags, f"{name}-{part}"),
                opts=self._own,
            )
            for part in ("nodes", "services", "public")
        }
        self.set_aside = tuple(
            aws.ec2.SubnetCidrReservation(
                f"{name}-{cidr.partition('/')[0]}",
                subnet_id=made["nodes"].id,
                cidr_block=cidr,
                reservation_type="explicit",
                description=f"Planned addresses of {name}",
                opts=self._own,
            )
            for cidr in set_aside
        )
        private = self._routes("private", made["nodes"], made["services"])
        public = self._routes("public", made["public"])
        if internet:
            gateway = self._internet(public)
            if nat:
                self._way_out(private, made["public"], gateway)
        endpoint = aws.ec2.VpcEndpoint(
            f"{name}-s3",
            vpc_id=vpc.id,
            service_name=f"com.amazonaws.{region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[private.id],
            tags=named(tags, f"{name}-s3"),
            opts=self._own,
        )
        self._interface_endpoints(region, cidr, made["services"], endpoints)
        self.vpc_id, self.s3_endpoint, self.routes = vpc.id, endpoint.id, private.id
        self.nodes, self.services, self.public = (made[part].id for part in ("nodes", "services", "public"))
        self.register_outputs({"vpc_id": self.vpc_id, "nodes": self.nodes})

    def _routes(self, part: str, *subnets: aws.ec2.Subnet) -> aws.ec2.RouteTable:
        table = aws.ec2.RouteTable(
            f"{self._name}-{part}",
            vpc_id=self._vpc.id,
            tags=named(self._tags, f"{self._name}-{part}"),
            opts=self._own,
        )
        for subnet in subnets:
            aws.ec2.RouteTableAssociation(
                subnet._name, route_table_id=table.id, subnet_id=subnet.id, opts=self._own
            )
        return table

    def _internet(self, public: aws.ec2.RouteTable) -> aws.ec2.Route:
        tags = named(self._tags, self._name)
        internet = aws.ec2.InternetGateway(self._name, vpc_id=self._vpc.id, tags=tags, opts=self._own)
        return aws.ec2.Route(
            f"{self._name}-public",
            route_table_id=public.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=self._own,
        )

    def _way_out(self, private: aws.ec2.RouteTable, subnet: aws.ec2.Subnet, gateway: aws.ec2.Route) -> None:
        tags = named(self._tags, self._name)
        behind = pulumi.ResourceOptions.merge(self._own, pulumi.ResourceOptions(depends_on=[gateway]))
        address = aws.ec2.Eip(f"{self._name}-nat", domain="vpc", tags=tags, opts=behind)
        nat = aws.ec2.NatGateway(
            self._name, allocation_id=address.id, subnet_id=subnet.id, tags=tags, opts=behind
        )
        aws.ec2.Route(
            f"{self._name}-private",
            route_table_id=private.id,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=nat.id,
            opts=self._own,
        )

    def _interface_endpoints(
        self, region: str, cidr: str, subnet: aws.ec2.Subnet, services: Sequence[str]
    ) -> None:
        """Under Amazon's own names, so that nothing on a node is told of them."""
        if not services:
            return
        tags = named(self._tags, f"{self._name}-endpoints")
        group = aws.ec2.SecurityGroup(
            f"{self._name}-endpoints",
            description=f"Interface endpoints of {self._name}",
            vpc_id=self._vpc.id,
            tags=tags,
            opts=self._own,
        )
        aws.vpc.SecurityGroupIngressRule(
            f"{self._name}-endpoints",
            security_group_id=group.id,
            cidr_ipv4=cidr,
            ip_protocol="tcp",
            from_port=_HTTPS,
            to_port=_HTTPS,
            tags=tags,
            opts=self._own,
        )
        for service in services:
            aws.ec2.VpcEndpoint(
                f"{self._name}-{service}",
                vpc_id=self._vpc.id,
                service_name=f"com.amazonaws.{region}.{service}",
                vpc_endpoint_type="Interface",
                private_dns_enabled=True,
                subnet_ids=[subnet.id],
                security_group_ids=[group.id],
                tags=named(self._tags, f"{self._name}-{service}"),
                opts=self._own,
            )


class ExistingNetwork(pulumi.ComponentResource):
    """A VPC of somebody else's. In the subnet of its nodes their addresses are set aside."""

    vpc_id: pulumi.Output[str]
    nodes: pulumi.Output[str]
    services: pulumi.Output[str]
    public: pulumi.Output[str]
    s3_endpoint: pulumi.Output[str]
    routes: pulumi.Output[str] | None = None
    set_aside: Sequence[pulumi.Resource]

    def __init__(
        self,
        name: str,
        *,
        vpc: AwsVpc,
        cidr: str,
        set_aside: Sequence[str] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`cidr`: the part of the subnet that is for nodes; `set_aside`: of this, what no group may take."""
        super().__init__("clusterwright:aws:ExistingNetwork", name, None, opts)
        # Otherwise what picks its address by itself could take one that the plan has given to a node.
        self.set_aside = tuple(
            aws.ec2.SubnetCidrReservation(
                name if part == cidr else f"{name}-{part.partition('/')[0]}",
                subnet_id=vpc.nodes,
                cidr_block=part,
                reservation_type="explicit",
                description=f"Nodes of {name}",
                opts=pulumi.ResourceOptions(parent=self),
            )
            for part in set_aside or (cidr,)
        )
        self.vpc_id, self.s3_endpoint = (
            pulumi.Output.from_input(vpc.id),
            pulumi.Output.from_input(vpc.s3_endpoint),
        )
        self.nodes = pulumi.Output.from_input(vpc.nodes)
        self.services = pulumi.Output.from_input(vpc.services or vpc.nodes)
        self.public = pulumi.Output.from_input(vpc.public or "")
        self.register_outputs({"vpc_id": self.vpc_id, "nodes": self.nodes})
