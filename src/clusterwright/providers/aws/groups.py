"""A pool as one Auto Scaling group: its members are alike, and are told their names once they are there.

A changed template starts no machine anew: it is for those that come, and nobody refreshes the others. When
the group shrinks, AWS would choose who goes; so members are protected, and whoever names them ends those
whose names are not planned any more.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from clusterwright.plan.aws import Machine
from clusterwright.plan.interfaces import Interface
from clusterwright.providers.aws.tags import named

_LATEST = "$Latest"
_LIVES = pulumi.ResourceOptions(
    # Accelerated machines take their time to end.
    custom_timeouts=pulumi.CustomTimeouts(delete="60m"),
)


class NodeGroup(pulumi.ComponentResource):
    """The machines of one pool."""

    group: pulumi.Output[str]
    """Name of the Auto Scaling group."""

    def __init__(
        self,
        name: str,
        *,
        members: Sequence[Machine],
        root_device: str,
        subnet: pulumi.Input[str],
        security_group: pulumi.Input[str],
        placement: Mapping[str, pulumi.Output[str]],
        profiles: Mapping[str, pulumi.Output[str]],
        user_data: pulumi.Input[str],
        after: Sequence[pulumi.Resource],
        kms_key: str | None = None,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`after`: what keeps others' addresses from these machines, before the first of them comes."""
        super().__init__("clusterwright:aws:NodeGroup", name, None, opts)
        own, like = pulumi.ResourceOptions(parent=self), members[0]
        called = f"{tags['clusterwright:cluster']}-{like.pool}"
        mine = named({**tags, "clusterwright:pool": like.pool}, called)
        template = aws.ec2.LaunchTemplate(
            name,
            image_id=like.image,
            instance_type=like.kind,
            network_interfaces=[_interface(like, one, security_group) for one in like.interfaces],
            iam_instance_profile=_profile(like, profiles),
            instance_market_options=_market(like),
            capacity_reservation_specification=_target(like),
            user_data=pulumi.Output.from_input(user_data).apply(_encoded),
            metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
                http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
            ),
            block_device_mappings=[_root_disk(like, root_device, kms_key)],
            tag_specifications=[
                aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=mine)
                for kind in ("instance", "volume")
            ],
            tags=mine,
            opts=own,
        )
        made = aws.autoscaling.Group(
            name,
            launch_template=aws.autoscaling.GroupLaunchTemplateArgs(id=template.id, version=_LATEST),
            min_size=len(members),
            max_size=len(members),
            vpc_zone_identifiers=[subnet],
            placement_group=placement[like.placement] if like.placement else None,
            protect_from_scale_in=True,
            # Members are waited for by their names; and those too many are ended by theirs, which is later.
            wait_for_capacity_timeout="0",
            tags=[
                aws.autoscaling.GroupTagArgs(key=key, value=value, propagate_at_launch=False)
                for key, value in sorted(mine.items())
            ],
            opts=pulumi.ResourceOptions.merge(
                pulumi.ResourceOptions.merge(own, _LIVES), pulumi.ResourceOptions(depends_on=list(after))
            ),
        )
        self.group = made.name
        self.register_outputs({"group": self.group})


def _encoded(text: str) -> str:
    """As a template takes it. cloud-init unpacks it, and EC2's limit is for what is packed."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _interface(
    like: Machine, one: Interface, security_group: pulumi.Input[str]
) -> aws.ec2.LaunchTemplateNetworkInterfaceArgs:
    """Its subnet is the group's to say: Amazon EC2 Auto Scaling API, CreateAutoScalingGroup."""
    return aws.ec2.LaunchTemplateNetworkInterfaceArgs(
        network_card_index=one.card,
        device_index=one.device,
        interface_type=one.kind,
        security_groups=[security_group],
        # Amazon refuses the field for a machine with more than one interface.
        associate_public_ip_address="false" if len(like.interfaces) == 1 else None,
        delete_on_termination="true",
    )


def _profile(
    like: Machine, profiles: Mapping[str, pulumi.Output[str]]
) -> aws.ec2.LaunchTemplateIamInstanceProfileArgs | None:
    if like.identity is None:
        return None
    return aws.ec2.LaunchTemplateIamInstanceProfileArgs(name=profiles[like.identity])


def _market(like: Machine) -> aws.ec2.LaunchTemplateInstanceMarketOptionsArgs | None:
    """Spot requests are one-time ones that end with their machine, which is what EC2 does unasked."""
    if like.capacity not in ("spot", "capacity-block"):
        return None
    return aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type=like.capacity)


def _target(like: Machine) -> aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs | None:
    """As of a machine alone: what is not reserved takes nothing from reservations that others count on."""
    if like.capacity == "spot":
        return None
    if like.reservation is None:
        return aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
            capacity_reservation_preference="none"
        )
    reserved = aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
        capacity_reservation_id=like.reservation
    )
    return aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(capacity_reservation_target=reserved)


def _root_disk(
    like: Machine, device: str, kms_key: str | None
) -> aws.ec2.LaunchTemplateBlockDeviceMappingArgs:
    return aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
        device_name=device,
        ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
            encrypted="true",
            kms_key_id=kms_key,
            volume_size=like.disk_gib,
            volume_type="gp3",
            delete_on_termination="true",
        ),
    )
