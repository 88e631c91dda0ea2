"""Images that were built in a region, found by their tag, with the parameter that names each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from clusterwright.finding import Where, refuse
from clusterwright.plan.images import PARAMETER, TAG
from clusterwright.providers.built import BuiltImage, in_order

_GONE = {"InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "ParameterNotFound"}
_THERE = ["pending", "running", "shutting-down", "stopping", "stopped"]


@dataclass(frozen=True)
class Stock:
    """With the credentials that the AWS tools would use."""

    region: str
    endpoint: str | None = None

    def known(self) -> list[BuiltImage]:
        with self._asked("ec2:DescribeImages"):
            pages = self._ec2.get_paginator("describe_images").paginate(
                Owners=["self"], Filters=[{"Name": "tag-key", "Values": [TAG]}]
            )
            rows = [row for page in pages for row in page["Images"]]
        return in_order(self._image(row) for row in rows)

    def remove(self, image: BuiltImage) -> None:
        """The parameter first, so that no machine is asked for from half an image."""
        with self._asked("ssm:DeleteParameter"):
            self._ssm.delete_parameter(Name=f"{PARAMETER}{image.digest}")
        with self._asked("ec2:DeregisterImage and ec2:DeleteSnapshot"):
            self._ec2.deregister_image(ImageId=image.name, DeleteAssociatedSnapshots=True)

    def _image(self, row: Any) -> BuiltImage:
        with self._asked("ec2:DescribeInstances"):
            pages = self._ec2.get_paginator("describe_instances").paginate(
                Filters=[
                    {"Name": "image-id", "Values": [row["ImageId"]]},
                    {"Name": "instance-state-name", "Values": _THERE},
                ]
            )
            found = [
                one["InstanceId"]
                for page in pages
                for reservation in page["Reservations"]
                for one in reservation["Instances"]
            ]
        return BuiltImage(
            digest=next(tag["Value"] for tag in row["Tags"] if tag["Key"] == TAG),
            name=row["ImageId"],
            made=row["CreationDate"],
            gib=sum(disk["Ebs"].get("VolumeSize", 0) for disk in row["BlockDeviceMappings"] if "Ebs" in disk),
            ready=row["State"] == "available",
            machines=tuple(sorted(found)),
        )

    @contextmanager
    def _asked(self, permission: str) -> Iterator[None]:
        """What is gone already is no mistake."""
        try:
            yield
        except (ClientError, BotoCoreError) as error:
            code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
            if code in _GONE:
                return
            remedy = f"Let these credentials do {permission}, then run the same command again"
            raise refuse("CW7090", Where(path=self.region), str(error), remedy) from error

    @cached_property
    def _session(self) -> Session:
        return Session()

    @cached_property
    def _ec2(self) -> Any:
        return self._session.create_client("ec2", self.region, endpoint_url=self.endpoint)

    @cached_property
    def _ssm(self) -> Any:
        return self._session.create_client("ssm", self.region, endpoint_url=self.endpoint)
