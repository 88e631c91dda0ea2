"""What machines would stand on: their image, network profiles, and a network that exists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clusterwright.checks.live.gcp_seen import Image, Subnet
from clusterwright.providers.gcp.live.project import Project
from clusterwright.spec.site import GcpVpc


def image(project: Project, permission: str, name: str) -> Image | str:
    """The image behind a name or family; why there is none, where there is none."""
    answer = project.ask("compute", f"compute/v1/{_path(project, name)}", permission)
    if answer is None and not name.startswith("projects/"):
        family = f"compute/v1/projects/{project.name}/global/images/family/{name}"
        answer = project.ask("compute", family, permission)
    return _image(answer) if answer else "Compute Engine does not show it to this project"


def _path(project: Project, name: str) -> str:
    return name if name.startswith("projects/") else f"projects/{project.name}/global/images/{name}"


def _image(row: Mapping[str, Any]) -> Image:
    return Image(
        name=row["name"],
        status=row.get("status", ""),
        architecture=row.get("architecture", "").replace("ARCHITECTURE_UNSPECIFIED", ""),
        disk_gib=int(row.get("diskSizeGb", 0)),
        deprecated=row.get("deprecated", {}).get("state", "").replace("ACTIVE", ""),
    )


def profiles(project: Project, permission: str, names: Iterable[str]) -> Mapping[str, bool]:
    folder = f"compute/v1/projects/{project.name}/global/networkProfiles"
    return {name: bool(project.ask("compute", f"{folder}/{name}", permission)) for name in names}


def mtu(project: Project, permission: str, vpc: GcpVpc) -> int:
    """0 where there is no such network."""
    answer = project.ask("compute", f"compute/v1/{_network(project, vpc)}", permission)
    return int(answer.get("mtu", 0)) if answer else 0


def subnet(project: Project, permission: str, vpc: GcpVpc, region: str) -> Subnet | str:
    own = f"projects/{project.name}/regions/{region}/subnetworks/{vpc.subnet}"
    path = vpc.subnet if vpc.subnet.startswith("projects/") else own
    row = project.ask("compute", f"compute/v1/{path}", permission)
    if row is None:
        return "Compute Engine does not show it to this project"
    return Subnet(
        network=_short(row["network"]),
        region=str(row["region"]).rpartition("/")[2],
        cidr=row["ipCidrRange"],
        private_google_access=bool(row.get("privateIpGoogleAccess")),
    )


def nat(project: Project, permission: str, vpc: GcpVpc, region: str) -> bool:
    """Whether a router of the network translates addresses in the region."""
    network = _network(project, vpc)
    owner = network.split("/")[1]
    rows = project.list("compute", f"compute/v1/projects/{owner}/regions/{region}/routers", permission)
    return any(row.get("nats") and _short(row["network"]) == network for row in rows)


def _network(project: Project, vpc: GcpVpc) -> str:
    own = f"projects/{project.name}/global/networks/{vpc.name}"
    return vpc.name if vpc.name.startswith("projects/") else own


def _short(address: str) -> str:
    """`https://www.googleapis.com/compute/v1/projects/p/…` → `projects/p/…`."""
    return address[address.index("projects/") :]
