"""Machines: an instance and a launch template of its own for each node.

Interfaces of a kind (EFA, EFA-only) on a card of their own can be asked for in a launch template only, and
the planned address stands on one of them; so the template is the node's. An instance is replaced when the
version of its template changes: so it holds nothing but what means another machine anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.plan.aws import Machine
from clusterwright.plan.interfaces import Interface
from clusterwright.providers.aws.capacity import market, target
from clusterwright.providers.aws.tags import named

_LIVES = pulumi.ResourceOptions(
    # The address is the node's: another machine has it when the one before has gone.
    delete_before_replace=True,
    # Read at the first boot only: machines that run have nothing of a later text but a restart.
    ignore_changes=["userData"],
)

_KEEPS_IMAGE = pulumi.ResourceOptions(
    # Other software has another image, and machines that run take software up without one.
    ignore_changes=["imageId"],
)


class NodePool(pulumi.ComponentResource):
    """The machines of one pool."""

    ids: Mapping[str, pulumi.Output[str]]
    """IDs of instances by node."""

    def __init__(
        self,
        name: str,
        *,
        machines: Iterable[Machine],
        subnet: pulumi.Input[str],
        group: pulumi.Input[str],
        placement: Mapping[str, pulumi.Output[str]],
        profiles: Mapping[str, pulumi.Output[str]],
        user_data: Mapping[str, pulumi.Input[str]],
        kms_key: str | None = None,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:NodePool", name, None, opts)
        self._own = pulumi.ResourceOptions(parent=self)
        self._subnet, self._group = subnet, group
        self._placement, self._profiles, self._key = placement, profiles, kms_key
        self.ids = {
            machine.name: self._instance(machine, user_data[machine.name], tags).id for machine in machines
        }
        self.register_outputs({"ids": dict(self.ids)})

    def _instance(
        self, machine: Machine, user_data: pulumi.Input[str], tags: Mapping[str, str]
    ) -> aws.ec2.Instance:
        mine = named({**tags, "clusterwright:pool": machine.pool}, machine.name)
        template = aws.ec2.LaunchTemplate(
            machine.name,
            image_id=machine.image,
            network_interfaces=[self._interface(machine, one) for one in machine.interfaces],
            tags=mine,
            opts=self._own if not machine.built else pulumi.ResourceOptions.merge(self._own, _KEEPS_IMAGE),
        )
        return aws.ec2.Instance(
            machine.name,
            launch_template=aws.ec2.InstanceLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            instance_type=machine.kind,
            placement_group=self._placement[machine.placement] if machine.placement else None,
            iam_instance_profile=self._profiles[machine.identity] if machine.identity else None,
            instance_market_options=market(machine),
            capacity_reservation_specification=target(machine),
            user_data=user_data,
            metadata_options=aws.ec2.InstanceMetadataOptionsArgs(
                http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
            ),
            root_block_device=aws.ec2.InstanceRootBlockDeviceArgs(
                encrypted=True,
                kms_key_id=self._key,
                volume_size=machine.disk_gib,
                volume_type="gp3",
                tags=mine,
            ),
            tags=mine,
            opts=pulumi.ResourceOptions.merge(self._own, _LIVES),
        )

    def _interface(self, machine: Machine, one: Interface) -> aws.ec2.LaunchTemplateNetworkInterfaceArgs:
        primary = (one.card, one.device) == (0, 0)
        return aws.ec2.LaunchTemplateNetworkInterfaceArgs(
            network_card_index=one.card,
            device_index=one.device,
            interface_type=one.kind,
            subnet_id=self._subnet,
            security_groups=[self._group],
            private_ip_address=machine.address if primary else None,
            # Amazon refuses the field for a machine with more than one interface.
            associate_public_ip_address="false" if len(machine.interfaces) == 1 else None,
            delete_on_termination="true",
        )
