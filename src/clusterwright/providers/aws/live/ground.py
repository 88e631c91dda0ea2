"""What machines would stand on: their image, a network that exists, and a trial of their launch."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from clusterwright.checks.live.aws_seen import Dns, Image, Launch, Subnet
from clusterwright.plan.aws import AwsPlan, Machine
from clusterwright.plan.aws.launch import launch
from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.aws.live.account import FAILED, Account
from clusterwright.spec.site import AwsVpc

_PARAMETER = "resolve:ssm:"
_MISSING_IMAGE = {"InvalidAMIID.NotFound", "InvalidAMIID.Malformed", "InvalidAMIID.Unavailable"}


def image(account: Account, name: str) -> Image | str:
    """The image behind an ID or a parameter; why there is none, where there is none."""
    ami = _resolved(account, name)
    if ami is None:
        return "Systems Manager has no parameter of this name here"
    try:
        rows = account.ask("ec2", "describe_images", ImageIds=[ami])["Images"]
    except NoAnswer as error:
        if account.code(error) in _MISSING_IMAGE:
            return f"EC2 does not show {ami} to this account"
        raise
    return _image(rows[0]) if rows else f"EC2 does not show {ami} to this account"


def _resolved(account: Account, name: str) -> str | None:
    if not name.startswith(_PARAMETER):
        return name
    try:
        answer = account.ask("ssm", "get_parameter", Name=name.removeprefix(_PARAMETER))
    except NoAnswer as error:
        if account.code(error) == "ParameterNotFound":
            return None
        raise
    return str(answer["Parameter"]["Value"])


def _image(row: Mapping[str, Any]) -> Image:
    root = row.get("RootDeviceName", "/dev/sda1")
    disks = {one.get("DeviceName"): one.get("Ebs", {}) for one in row.get("BlockDeviceMappings", ())}
    until = row.get("DeprecationTime")
    return Image(
        ami=row["ImageId"],
        state=row["State"],
        architecture=row["Architecture"],
        windows=row.get("Platform") == "windows",
        root_device=root,
        root_gib=int(disks.get(root, {}).get("VolumeSize", 0)),
        deprecated=datetime.fromisoformat(until) if until else None,
    )


def dns(account: Account, vpc: str) -> Dns:
    def is_on(attribute: str) -> bool:
        asked = {"VpcId": vpc, "Attribute": attribute}
        answer = account.ask("ec2", "describe_vpc_attribute", **asked)
        return bool(answer[attribute[0].upper() + attribute[1:]]["Value"])

    return Dns(is_on("enableDnsSupport"), is_on("enableDnsHostnames"))


def subnets(account: Account, vpc: AwsVpc) -> Mapping[str, Subnet]:
    """Those of the description that there are, with what the route table of each says."""
    wanted = sorted({name for name in (vpc.nodes, vpc.services, vpc.public) if name})
    chosen = [{"Name": "subnet-id", "Values": wanted}]
    rows = account.list("ec2", "describe_subnets", "Subnets", Filters=chosen)
    tables = account.list(
        "ec2", "describe_route_tables", "RouteTables", Filters=[{"Name": "vpc-id", "Values": [vpc.id]}]
    )
    return {row["SubnetId"]: _subnet(row, tables) for row in rows}


def _subnet(row: Mapping[str, Any], tables: list[Mapping[str, Any]]) -> Subnet:
    routes = _routes(row["SubnetId"], tables)
    default = next((one for one in routes if one.get("DestinationCidrBlock") == "0.0.0.0/0"), {})
    ways = ("NatGatewayId", "TransitGatewayId", "GatewayId", "NetworkInterfaceId", "InstanceId")
    gateways = (one.get("GatewayId", "") for one in routes)
    return Subnet(
        vpc=row["VpcId"],
        zone=row["AvailabilityZone"],
        cidr=row["CidrBlock"],
        free=row["AvailableIpAddressCount"],
        default_route=next((str(default[way]) for way in ways if default.get(way)), ""),
        endpoints=tuple(sorted(one for one in gateways if one.startswith("vpce-"))),
    )


def _routes(subnet: str, tables: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of the table that is the subnet's own, else of the main one."""
    main: list[Mapping[str, Any]] = []
    for table in tables:
        for link in table.get("Associations", ()):
            if link.get("SubnetId") == subnet:
                return list(table["Routes"])
            if link.get("Main"):
                main = list(table["Routes"])
    return main


def taken(account: Account, subnet: str, wanted: frozenset[str]) -> Mapping[str, str]:
    """Planned addresses that an interface of the subnet has."""
    chosen = [{"Name": "subnet-id", "Values": [subnet]}]
    rows = account.list("ec2", "describe_network_interfaces", "NetworkInterfaces", Filters=chosen)
    found: dict[str, str] = {}
    for row in rows:
        for one in row.get("PrivateIpAddresses", ()):
            if one["PrivateIpAddress"] in wanted:
                found[one["PrivateIpAddress"]] = row["NetworkInterfaceId"]
    return found


def place(account: Account, plan: AwsPlan) -> str | None:
    """A subnet to try launches in: the nodes' own, or any of the zone where theirs is still to be made."""
    if plan.vpc:
        return plan.vpc.nodes
    chosen = [{"Name": "availability-zone", "Values": [plan.zone]}]
    rows = account.list("ec2", "describe_subnets", "Subnets", Filters=chosen)
    rooms = sorted((not row.get("DefaultForAz"), row["SubnetId"]) for row in rows)
    return rooms[0][1] if rooms else None


def tried(account: Account, plan: AwsPlan, machine: Machine, found: Image, subnet: str) -> Launch:
    """What EC2 says to a machine without making it."""
    asked = launch(
        machine,
        zone=plan.zone,
        subnet=subnet,
        image=found.ami,
        root_device=found.root_device,
        address=machine.address if plan.vpc else None,
    )
    try:
        account.client("ec2").run_instances(DryRun=True, **asked)
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code == "DryRunOperation":
            return Launch(True)
        why = account.why(error, "ec2", "run_instances")
        if why.reason == "refused":
            return Launch(False, code, str(error.response["Error"].get("Message", "")))
        raise NoAnswer(why) from error
    except FAILED as error:
        raise NoAnswer(account.why(error, "ec2", "run_instances")) from error
    return Launch(True)
