"""Who is in an Auto Scaling group, as EC2 vouches for it, and ending some of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from clusterwright.catalog.machines import catalog
from clusterwright.plan.domains import machines_of_a_domain
from clusterwright.providers.aws.live.account import Account
from clusterwright.providers.member import Member

_LEAVES = ("Terminat", "Detach")
"""LifecycleState of an instance begins so once it is no member any more: Amazon EC2 Auto Scaling User Guide,
instance lifecycle."""
_MOST_ASKED = 100
"""Amazon EC2 API Reference, DescribeInstanceTopology: instance IDs of one request."""


class AutoScaling:
    """Of one region, with the credentials that the AWS tools would use."""

    def __init__(self, region: str) -> None:
        self._region = region

    def members(self, group: str) -> Mapping[str, Member]:
        """By ID, of those that have an address. Raises NoAnswer."""
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
        there = [
            one
            for row in rows
            for one in row["Instances"]
            if one["InstanceId"] in stay and one.get("PrivateIpAddress")
        ]
        domains = dict(self._domains([one for one in there if _shares_nvlink(one)]))
        return {
            one["InstanceId"]: Member(one["PrivateIpAddress"], domain=domains.get(one["InstanceId"]))
            for one in there
        }

    def call(self, _: str, __: Mapping[str, str], /) -> Mapping[str, str]:
        """Nothing: the group itself makes as many as it is to have."""
        return {}

    def end(self, _: str, machines: Iterable[str], /) -> None:
        """Others take their places where the group is to have as many. Raises NoAnswer."""
        for machine in machines:
            self._account.ask(
                "autoscaling",
                "terminate_instance_in_auto_scaling_group",
                InstanceId=machine,
                ShouldDecrementDesiredCapacity=False,
            )

    def _domains(self, instances: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
        """By ID: the UltraServer, which EC2 tells of machines that run, and empty before."""
        names = [one["InstanceId"] for one in instances]
        yield from ((name, "") for name in names)
        for first in range(0, len(names), _MOST_ASKED):
            asked = names[first : first + _MOST_ASKED]
            rows = self._account.list("ec2", "describe_instance_topology", "Instances", InstanceIds=asked)
            yield from ((row["InstanceId"], row.get("CapacityBlockId") or "") for row in rows)

    @cached_property
    def _account(self) -> Account:
        return Account(self._region)


def _shares_nvlink(instance: Mapping[str, Any]) -> bool:
    kind = catalog().types.get(instance["InstanceType"])
    return kind is not None and machines_of_a_domain(kind.hardware) > 0
