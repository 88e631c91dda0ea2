"""The words in which EC2's RunInstances is asked for a machine: the program's, for a trial without Pulumi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterwright.plan.aws.model import Machine
from clusterwright.plan.interfaces import Interface


def launch(
    machine: Machine, *, zone: str, subnet: str, image: str, root_device: str, address: str | None
) -> Mapping[str, Any]:
    """One machine, in a subnet that exists; without what the program makes with it: placement group, security
    group, instance profile, user data.

    `address`: the planned one, or None in a subnet that only stands in for one that is still to be made."""
    asked: dict[str, Any] = {
        "ImageId": image,
        "InstanceType": machine.kind,
        "MinCount": 1,
        "MaxCount": 1,
        "Placement": {"AvailabilityZone": zone},
        "NetworkInterfaces": [_interface(machine, one, subnet, address) for one in machine.interfaces],
        "MetadataOptions": {
            "HttpEndpoint": "enabled",
            "HttpTokens": "required",
            "HttpPutResponseHopLimit": 1,
        },
        "BlockDeviceMappings": [
            {
                "DeviceName": root_device,
                "Ebs": {"Encrypted": True, "VolumeSize": machine.disk_gib, "VolumeType": "gp3"},
            }
        ],
    }
    if machine.capacity == "spot":
        options = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
        return {**asked, "InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": options}}
    if machine.capacity == "capacity-block":
        asked["InstanceMarketOptions"] = {"MarketType": "capacity-block"}
    if machine.reservation:
        return {**asked, "CapacityReservationSpecification": _reserved(machine.reservation)}
    return {**asked, "CapacityReservationSpecification": {"CapacityReservationPreference": "none"}}


def _reserved(name: str) -> Mapping[str, Any]:
    return {"CapacityReservationTarget": {"CapacityReservationId": name}}


def _interface(machine: Machine, one: Interface, subnet: str, address: str | None) -> Mapping[str, Any]:
    asked: dict[str, Any] = {
        "NetworkCardIndex": one.card,
        "DeviceIndex": one.device,
        "InterfaceType": one.kind,
        "SubnetId": subnet,
        "DeleteOnTermination": True,
    }
    if address and (one.card, one.device) == (0, 0):
        asked["PrivateIpAddress"] = address
    if len(machine.interfaces) == 1:
        asked["AssociatePublicIpAddress"] = False
    return asked
