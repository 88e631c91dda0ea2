"""What Google Cloud adds to each type of resource, as far as programs read it; every type has a row."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

Inputs = Mapping[str, Any]
_ADDRESS = "198.51.100.7"
_COMPUTE = "https://www.googleapis.com/compute/v1/projects/example-hpc"


def _nothing(_: str, __: Inputs) -> Inputs:
    return {}


def _account(_: str, inputs: Inputs) -> Inputs:
    email = f"{inputs['accountId']}@example-hpc.iam.gserviceaccount.com"
    return {"email": email, "member": f"serviceAccount:{email}"}


def _filestore(_: str, inputs: Inputs) -> Inputs:
    return {"networks": [{**network, "ipAddresses": ["10.130.192.2"]} for network in inputs["networks"]]}


def _lustre(_: str, inputs: Inputs) -> Inputs:
    return {"mountPoint": f"10.130.200.2@tcp:/{inputs['filesystem']}"}


def _template(name: str, inputs: Inputs) -> Inputs:
    """Another one has another number."""
    number = zlib.crc32(json.dumps(inputs, sort_keys=True, default=str).encode())
    return {"selfLinkUnique": f"{_COMPUTE}/global/instanceTemplates/{name}?uniqueId={number}"}


MADE: Mapping[str, Callable[[str, Inputs], Inputs]] = {
    "pulumi:providers:gcp": _nothing,
    "gcp:billing/budget:Budget": _nothing,
    "gcp:monitoring/notificationChannel:NotificationChannel": _nothing,
    "gcp:compute/address:Address": lambda _, __: {"address": _ADDRESS},
    "gcp:compute/disk:Disk": _nothing,
    "gcp:compute/diskResourcePolicyAttachment:DiskResourcePolicyAttachment": _nothing,
    "gcp:compute/firewall:Firewall": _nothing,
    "gcp:compute/globalAddress:GlobalAddress": _nothing,
    "gcp:compute/image:Image": lambda name, _: {"selfLink": f"{_COMPUTE}/global/images/{name}"},
    "gcp:compute/instance:Instance": lambda _, __: {"instanceId": "1234567890123456789"},
    "gcp:compute/instanceGroupManager:InstanceGroupManager": _nothing,
    "gcp:compute/instanceTemplate:InstanceTemplate": _template,
    "gcp:compute/network:Network": _nothing,
    "gcp:compute/resourcePolicy:ResourcePolicy": _nothing,
    "gcp:compute/router:Router": _nothing,
    "gcp:compute/routerNat:RouterNat": _nothing,
    "gcp:compute/snapshot:Snapshot": lambda name, _: {"selfLink": f"{_COMPUTE}/global/snapshots/{name}"},
    "gcp:compute/subnetwork:Subnetwork": _nothing,
    "gcp:dns/managedZone:ManagedZone": _nothing,
    "gcp:dns/recordSet:RecordSet": _nothing,
    "gcp:filestore/instance:Instance": _filestore,
    "gcp:lustre/instance:Instance": _lustre,
    "gcp:projects/iAMMember:IAMMember": _nothing,
    "gcp:serviceaccount/account:Account": _account,
    "gcp:servicenetworking/connection:Connection": _nothing,
    "gcp:storage/bucket:Bucket": _nothing,
    "gcp:storage/bucketIAMMember:BucketIAMMember": _nothing,
}
