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
    "aws:autoscaling/group:Group": lambda name, _: {"name": f"{name}-0123456"},
    "aws:budgets/budget:Budget": _nothing,
    "aws:cloudwatch/logGroup:LogGroup": _arn("logs", "log-group"),
    "aws:dlm/lifecyclePolicy:LifecyclePolicy": _arn("dlm", "policy"),
    "aws:ebs/volume:Volume": lambda name, _: {"id": f"vol-0{name.encode().hex()[:16]}"},
    "aws:ec2/amiFromInstance:AmiFromInstance": lambda name, _: {"id": f"ami-0{name.encode().hex()[:16]}"},
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _nothing,
    "aws:ec2/eip:Eip": _nothing,
    "aws:ec2/flowLog:FlowLog": _nothing,
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
    "aws:ec2/volumeAttachment:VolumeAttachment": _nothing,
    "aws:ec2/vpc:Vpc": _nothing,
    "aws:ec2/vpcEndpoint:VpcEndpoint": _nothing,
    "aws:ec2/vpnGatewayAttachment:VpnGatewayAttachment": _nothing,
    "aws:ec2transitgateway/instanceConnectEndpoint:InstanceConnectEndpoint": _nothing,
    "aws:ec2transitgateway/vpcAttachment:VpcAttachment": _nothing,
    "aws:efs/fileSystem:FileSystem": _nothing,
    "aws:efs/backupPolicy:BackupPolicy": _nothing,
    "aws:efs/mountTarget:MountTarget": lambda _, __: {"ipAddress": "10.40.128.17"},
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": _nothing,
    "aws:fsx/lustreFileSystem:LustreFileSystem": lambda name, _: {
        "dnsName": f"fs-{name}.fsx.us-east-2.amazonaws.com",
        "mountName": "a1b2c3d4",
    },
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": lambda name, _: {
        "dnsName": f"fs-{name}.fsx.us-east-2.amazonaws.com"
    },
    "aws:iam/instanceProfile:InstanceProfile": lambda name, _: {"name": f"{name}-0123456"},
    "aws:iam/role:Role": lambda name, _: {
        **_arn("iam", "role")(name, {}),
        "name": f"{name}-0123456",
    },
    "aws:iam/rolePolicy:RolePolicy": _nothing,
    "aws:lb/listener:Listener": _nothing,
    "aws:lb/loadBalancer:LoadBalancer": _balancer,
    "aws:lb/targetGroup:TargetGroup": _arn("elasticloadbalancing", "targetgroup"),
    "aws:lb/targetGroupAttachment:TargetGroupAttachment": _nothing,
    "aws:route53/record:Record": _nothing,
    "aws:route53/zone:Zone": lambda name, _: {"zoneId": f"Z{name}"},
    "aws:s3/bucket:Bucket": _bucket,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _nothing,
    "aws:s3/bucketPolicy:BucketPolicy": _nothing,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _nothing,
    "aws:ssm/parameter:Parameter": _nothing,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _nothing,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _nothing,
}
