"""Machines of a pool as a managed instance group: one template, and members that are called by name.

The group is made empty and has no size of its own here: whoever publishes has each member made under the name
and with the address of its node, and ends those that are planned no more. A changed template is another
template, for machines that come; none that runs is made anew for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pulumi
import pulumi_gcp as gcp

from clusterwright.plan.gcp.model import LABEL, Machine
from clusterwright.providers.gcp.capacity import RESERVATION, terms
from clusterwright.providers.gcp.fabric import Subnets
from clusterwright.providers.gcp.nodes import SCOPE, metadata, stack_type

_LIVES = pulumi.ResourceOptions(
    # Accelerated machines take their time to end.
    custom_timeouts=pulumi.CustomTimeouts(delete="60m"),
)


class NodeGroup(pulumi.ComponentResource):
    """Machines that are alike but for their names and addresses."""

    group: pulumi.Output[str]
    """Path of the group, from `projects/` on."""

    def __init__(
        self,
        name: str,
        *,
        project: str,
        cluster: str,
        zone: str,
        members: Sequence[Machine],
        subnets: Subnets,
        policy: pulumi.Input[str] | None,
        of_group: bool,
        account: pulumi.Input[str],
        user_data: pulumi.Input[str],
        os_login: bool,
        labels: Mapping[str, str],
        kms_key: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`of_group`: whether the policy is the group's, and not each machine's."""
        super().__init__("clusterwright:gcp:NodeGroup", name, None, opts)
        own, like = pulumi.ResourceOptions(parent=self), members[0]
        template = gcp.compute.InstanceTemplate(
            name,
            # A template never changes: another one is made, and the group told, before this one goes.
            name_prefix=f"{name}-"[:_PREFIX],
            machine_type=like.kind,
            disks=[_boot_disk(like, labels, kms_key)],
            network_interfaces=list(_interfaces(like, subnets)),
            scheduling=_scheduling(like),
            reservation_affinity=_reservation(like),
            resource_policies=policy if policy is not None and not of_group else None,
            service_account=gcp.compute.InstanceTemplateServiceAccountArgs(email=account, scopes=[SCOPE]),
            metadata=metadata(user_data, os_login),
            shielded_instance_config=_shielded(like),
            tags=[cluster],
            labels={LABEL: cluster, "clusterwright-pool": like.pool},
            opts=own,
        )
        made = gcp.compute.InstanceGroupManager(
            name,
            name=name,
            zone=zone,
            base_instance_name=cluster,
            versions=[
                gcp.compute.InstanceGroupManagerVersionArgs(instance_template=template.self_link_unique)
            ],
            update_policy=gcp.compute.InstanceGroupManagerUpdatePolicyArgs(
                type="OPPORTUNISTIC",
                minimal_action="REPLACE",
                replacement_method="RECREATE",
                max_surge_fixed=0,
                max_unavailable_fixed=1,
            ),
            resource_policies=gcp.compute.InstanceGroupManagerResourcePoliciesArgs(workload_policy=policy)
            if policy is not None and of_group
            else None,
            # Members are waited for by their names, later.
            wait_for_instances=False,
            opts=pulumi.ResourceOptions.merge(own, _LIVES),
        )
        folder = f"projects/{project}/zones/{zone}/instanceGroupManagers"
        self.group = pulumi.Output.concat(folder, "/", made.name)
        self.register_outputs({"group": self.group})


_PREFIX = 37
"""Longest prefix of a name that the provider makes unique with 26 characters of its own."""


def _boot_disk(
    like: Machine, labels: Mapping[str, str], kms_key: str | None
) -> gcp.compute.InstanceTemplateDiskArgs:
    return gcp.compute.InstanceTemplateDiskArgs(
        boot=True,
        auto_delete=True,
        source_image=like.image,
        disk_size_gb=like.disk_gib,
        disk_type=like.disk,
        disk_encryption_key=gcp.compute.InstanceTemplateDiskDiskEncryptionKeyArgs(kms_key_self_link=kms_key)
        if kms_key
        else None,
        labels={**labels, "clusterwright-pool": like.pool},
    )


def _interfaces(
    like: Machine, subnets: Subnets
) -> Iterator[gcp.compute.InstanceTemplateNetworkInterfaceArgs]:
    """Without an address: each member has its own."""
    for one in like.interfaces:
        yield gcp.compute.InstanceTemplateNetworkInterfaceArgs(
            subnetwork=subnets[one.network, one.subnet],
            nic_type=one.kind.upper(),
            stack_type=stack_type(one),
        )


def _scheduling(like: Machine) -> gcp.compute.InstanceTemplateSchedulingArgs:
    """As of a machine alone."""
    limit = like.scheduling.most_seconds
    return gcp.compute.InstanceTemplateSchedulingArgs(
        **terms(like),
        max_run_duration=gcp.compute.InstanceTemplateSchedulingMaxRunDurationArgs(seconds=limit)
        if limit
        else None,
    )


def _reservation(like: Machine) -> gcp.compute.InstanceTemplateReservationAffinityArgs:
    """What is not reserved takes nothing from reservations that others count on."""
    name = like.scheduling.reservation
    if name is None:
        return gcp.compute.InstanceTemplateReservationAffinityArgs(type="NO_RESERVATION")
    return gcp.compute.InstanceTemplateReservationAffinityArgs(
        type="SPECIFIC_RESERVATION",
        specific_reservation=gcp.compute.InstanceTemplateReservationAffinitySpecificReservationArgs(
            key=RESERVATION, values=[name]
        ),
    )


def _shielded(like: Machine) -> gcp.compute.InstanceTemplateShieldedInstanceConfigArgs | None:
    """Secure boot would refuse modules that the vendors' packages build on the node."""
    if not like.shielded:
        return None
    return gcp.compute.InstanceTemplateShieldedInstanceConfigArgs(
        enable_secure_boot=False, enable_vtpm=True, enable_integrity_monitoring=True
    )
