"""What AWS adds to each type of resource, as far as programs read it; every type that they use has a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_ACCOUNT = "123456789012"
Inputs = Mapping[str, Any]


def _arn(service: str, kind: str) -> Callable[[str, Inputs], Inputs]:
    return lambda name, _: {"arn": f"arn:aws:{service}:us-east-2:{_ACCOUNT}:{kind}/{name}"}


def _nothing(_: str, __: Inputs) -> Inputs:
    return {}


def _bucket(name: str, _: Inputs) -> Inputs:
    physical = f"{name}-0123456"
    return {
        "id": physical,
        "bucket": physical,
        "arn": f"arn:aws:s3:::{physical}",
        "bucketRegionalDomainName": f"{physical}.s3.us-east-2.amazonaws.com",
    }


def _balancer(name: str, _: Inputs) -> Inputs:
    arn = f"arn:aws:elasticloadbalancing:us-east-2:{_ACCOUNT}:loadbalancer/net/{name}/0123456789abcdef"
    return {"id": arn, "arn": arn, "dnsName": f"{name}-0123456789abcdef.elb.us-east-2.amazonaws.com"}


MADE: Mapping[str, Callable[[str, Inputs], Inputs]] = {
    "pulumi:providers:aws": _nothing,
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _nothing,
    "aws:ec2/eip:Eip": _nothing,
    "aws:ec2/instance:Instance": _nothing,
    "aws:ec2/internetGateway:InternetGateway": _nothing,
    "aws:ec2/launchTemplate:LaunchTemplate": lambda name, _: {"id": f"lt-{name}", "latestVersion": 1},
    "aws:ec2/natGateway:NatGateway": _nothing,
    "aws:ec2/placementGroup:PlacementGroup": lambda name, _: {"name": f"{name}-0123456"},
    "aws:ec2/route:Route": _nothing,
    "aws:ec2/routeTable:RouteTable": _nothing,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _nothing,
    "aws:ec2/securityGroup:SecurityGroup": _nothing,
    "aws:ec2/subnet:Subnet": _nothing,
    "aws:ec2/subnetCidrReservation:SubnetCidrReservation": _nothing,
    "aws:ec2/vpc:Vpc": _nothing,
    "aws:ec2/vpcEndpoint:VpcEndpoint": _nothing,
    "aws:ec2transitgateway/instanceConnectEndpoint:InstanceConnectEndpoint": _nothing,
    "aws:lb/listener:Listener": _nothing,
    "aws:lb/loadBalancer:LoadBalancer": _balancer,
    "aws:lb/targetGroup:TargetGroup": _arn("elasticloadbalancing", "targetgroup"),
    "aws:lb/targetGroupAttachment:TargetGroupAttachment": _nothing,
    "aws:s3/bucket:Bucket": _bucket,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _nothing,
    "aws:s3/bucketPolicy:BucketPolicy": _nothing,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _nothing,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _nothing,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _nothing,
}
