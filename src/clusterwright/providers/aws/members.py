"""Who is in an Auto Scaling group, as EC2 vouches for it, and ending one of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from clusterwright.providers.aws.live.account import Account

_LEAVES = ("Terminat", "Detach")
"""LifecycleState of an instance begins so once it is no member any more: Amazon EC2 Auto Scaling User Guide,
instance lifecycle."""


class AutoScaling:
    """Of one region, with the credentials that the AWS tools would use."""

    def __init__(self, region: str) -> None:
        self._region = region

    def members(self, group: str) -> Mapping[str, str]:
        """ID → address, of those that have one. Raises NoAnswer."""
        groups = self._account.list(
            "autoscaling",
            "describe_auto_scaling_groups",
            "AutoScalingGroups",
            AutoScalingGroupNames=[group],
        )
        stay = {
            row["InstanceId"]
            for found in groups
            for row in found["Instances"]
            if not row["LifecycleState"].startswith(_LEAVES)
        }
        filters = [
            {"Name": "tag:aws:autoscaling:groupName", "Values": [group]},
            {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]},
        ]
        rows = self._account.list("ec2", "describe_instances", "Reservations", Filters=filters)
        return {
            one["InstanceId"]: one["PrivateIpAddress"]
            for row in rows
            for one in row["Instances"]
            if one["InstanceId"] in stay and one.get("PrivateIpAddress")
        }

    def end(self, machine: str) -> None:
        """Another takes its place where the group is to have as many. Raises NoAnswer."""
        self._account.ask(
            "autoscaling",
            "terminate_instance_in_auto_scaling_group",
            InstanceId=machine,
            ShouldDecrementDesiredCapacity=False,
        )

    @cached_property
    def _account(self) -> Account:
        return Account(self._region)
