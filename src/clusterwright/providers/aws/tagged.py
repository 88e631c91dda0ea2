"""What has the tag of a cluster on AWS, whoever made it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clusterwright.providers.aws.live.account import Account
from clusterwright.providers.leftover import Leftover

_TAG = "clusterwright:cluster"
_ARN = re.compile(r"arn:[^:]*:(?P<service>[^:]*):[^:]*:[^:]*:(?P<resource>.*)")
_GONE = ("shutting-down", "terminated")
_GLOBAL = "us-east-1"
"""AWS General Reference: Resource Groups Tagging API tells of services without a region there."""


def tagged(region: str, cluster: str) -> tuple[Leftover, ...]:
    """Of one region, and of services without one. Raises NoAnswer.

    A machine has its tags for an hour after its end, so EC2 is asked which of them are there."""
    found = [one for place in dict.fromkeys((region, _GLOBAL)) for one in _of(Account(place), cluster)]
    return tuple(sorted(set(found)))


def _of(account: Account, cluster: str) -> Iterator[Leftover]:
    filters = [{"Key": _TAG, "Values": [cluster]}]
    rows = account.list(
        "resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList", TagFilters=filters
    )
    arns = [str(row["ResourceARN"]) for row in rows]
    machines = _machines(account, cluster) if any(":instance/" in arn for arn in arns) else {}
    for arn in arns:
        kind = kind_of(arn)
        if kind != "ec2 instance":
            yield Leftover(kind, arn)
        elif (machine := machines.get(arn.rpartition("/")[2])) is not None:
            yield Leftover(kind, arn, machine)


def kind_of(arn: str) -> str:
    """`ec2 volume`, `s3 bucket`, `elasticfilesystem file-system`."""
    parts = _ARN.fullmatch(arn)
    if parts is None:
        return "resource"
    name = re.split(r"[/:]", parts["resource"])[0]
    return f"{parts['service']} {'bucket' if parts['service'] == 's3' else name}"


def _machines(account: Account, cluster: str) -> Mapping[str, str]:
    """ID → machine type, of those that have not ended."""
    filters = [{"Name": f"tag:{_TAG}", "Values": [cluster]}]
    rows = account.list("ec2", "describe_instances", "Reservations", Filters=filters)
    machines = (machine for row in rows for machine in row["Instances"])
    return {one["InstanceId"]: one["InstanceType"] for one in machines if one["State"]["Name"] not in _GONE}
