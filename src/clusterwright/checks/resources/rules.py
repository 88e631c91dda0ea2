"""Rules that hold for every cluster on a cloud."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clusterwright.checks.resources.fabric import FABRIC
from clusterwright.checks.resources.rule import Resource, ResourceRule, rule
from clusterwright.checks.resources.trust import TRUST

AWS_INSTANCE = "aws:ec2/instance:Instance"
AWS_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
BUCKET = "aws:s3/bucket:Bucket"
BLOCK = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
GCP_INSTANCE = "gcp:compute/instance:Instance"
GCP_TEMPLATE = "gcp:compute/instanceTemplate:InstanceTemplate"
GCP_BUCKET = "gcp:storage/bucket:Bucket"
KEPT: Mapping[str, str] = {
    "aws:ebs/volume:Volume": "",
    "aws:efs/fileSystem:FileSystem": "",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": "",
    "aws:fsx/lustreFileSystem:LustreFileSystem": "SCRATCH",
    "gcp:compute/disk:Disk": "",
    "gcp:filestore/instance:Instance": "",
    "gcp:lustre/instance:Instance": "",
}
"""What people keep their work on; a deployment type that begins so is scratch, and may go."""
_ENCRYPTED = {"aws:ebs/volume:Volume", "aws:efs/fileSystem:FileSystem"}


def _of(resources: Sequence[Resource], *types: str) -> Iterator[Resource]:
    return (one for one in resources if one.type in types)


def _whole(resources: Sequence[Resource]) -> Iterator[Resource]:
    """Templates that say all of a machine: those of groups."""
    return (one for one in _of(resources, AWS_TEMPLATE) if one.get("instanceType"))


@rule(
    "no-public-address",
    remedy="Reach nodes through the stack's way in: a login node, a tunnel or a load balancer",
    source="Amazon EC2 and Google Cloud: instances with several interfaces, and exposure, 2026-11",
)
def no_public_address(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """No machine but a login node of Google Cloud has a public address: jobs and file systems are inside."""
    for one in _of(resources, AWS_INSTANCE):
        if one.get("associatePublicIpAddress"):
            yield one, "asks for a public address"
    for one in _of(resources, AWS_TEMPLATE):
        if any(str(row.get("associatePublicIpAddress")) == "true" for row in _rows(one)):
            yield one, "an interface asks for a public address"
    for one in _of(resources, GCP_INSTANCE, GCP_TEMPLATE):
        login = any(str(tag).endswith("-login") for tag in one.get("tags") or ())
        if not login and any(row.get("accessConfigs") for row in _rows(one)):
            yield one, "an interface asks for a public address"


@rule(
    "session-metadata",
    remedy='Set `metadataOptions.httpTokens` to "required"',
    source="Amazon EC2 user guide, Use the Instance Metadata Service, 2026-11",
)
def session_metadata(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """A job that can be made to fetch an address must not read the machine's credentials with it."""
    for one in _of(resources, AWS_INSTANCE):
        if one.get("metadataOptions.httpTokens") != "required":
            yield one, "its metadata service answers without a session (IMDSv1)"
    for one in _whole(resources):
        if one.get("metadataOptions.httpTokens") != "required":
            yield one, "metadata services of its machines answer without a session (IMDSv1)"


@rule(
    "encrypted",
    remedy="Set `encrypted` to true",
    source="Amazon EBS and EFS user guides, Encryption, 2026-11",
)
def encrypted(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """Disks hold keys of the cluster and the work of people. Google Cloud encrypts all of them by itself."""
    for one in _of(resources, *_ENCRYPTED):
        if one.get("encrypted") is not True:
            yield one, "is not encrypted"
    for one in _of(resources, AWS_INSTANCE):
        if one.get("rootBlockDevice.encrypted") is not True:
            yield one, "its root disk is not encrypted"
    for one in _whole(resources):
        disks = [row.get("ebs") or {} for row in one.get("blockDeviceMappings") or ()]
        if not disks or any(str(disk.get("encrypted")) != "true" for disk in disks):
            yield one, "root disks of its machines are not encrypted"


@rule(
    "kept-is-protected",
    remedy="Set `protect=True`; what may go is scratch, or is not in this stack",
    source="Pulumi, Resource option: protect, 2026-11",
)
def kept_is_protected(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """What outlives machines (Slurm's state, homes, data) is not lost to a `destroy` or to a slip."""
    for one in _of(resources, *KEPT):
        scratch = KEPT[one.type]
        kind = str(one.get("deploymentType") or one.get("tier") or "")
        if not one.protect and not (scratch and kind.startswith(scratch)):
            yield one, "holds what people keep, and can be destroyed"


@rule(
    "closed-bucket",
    remedy="Give it a public access block with all four settings; on Google Cloud, `enforced`",
    source="Amazon S3 user guide, Blocking public access; Google Cloud, Public access prevention, 2026-11",
)
def closed_bucket(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """A bundle is signed and its secrets are encrypted, and still it is nobody's outside."""
    closed = {key for one in _of(resources, BLOCK) if _blocks(one) for key in one.links.get("bucket", ())}
    for one in _of(resources, BUCKET):
        if one.key not in closed:
            yield one, "can be opened to the public"
    for one in _of(resources, GCP_BUCKET):
        if one.get("publicAccessPrevention") != "enforced":
            yield one, "can be opened to the public"


@rule(
    "own-account",
    remedy="Give it a service account of its own, with what nodes need",
    source="Google Cloud, Best practices for using service accounts, 2026-11",
)
def own_account(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """The default account of a Google Cloud project may edit everything in it."""
    for one in _of(resources, GCP_INSTANCE, GCP_TEMPLATE):
        if "serviceAccount" not in one.properties or "-compute@" in str(one.get("serviceAccount.email")):
            yield one, "runs as the project's default account"


def _rows(one: Resource) -> list[Mapping[str, Any]]:
    return [row for row in one.get("networkInterfaces") or () if isinstance(row, Mapping)]


def _blocks(one: Resource) -> bool:
    names = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
    return all(one.get(name) is True for name in names)


RULES: tuple[ResourceRule, ...] = (
    *FABRIC,
    no_public_address,
    session_metadata,
    encrypted,
    kept_is_protected,
    closed_bucket,
    own_account,
    *TRUST,
)
