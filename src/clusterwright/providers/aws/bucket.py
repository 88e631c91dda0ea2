"""A store's files in an S3 bucket, as the publisher sees it: nodes come through their VPC's endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from clusterwright.finding import Refused, Where, refuse

_NOT_THERE = {"404", "NoSuchKey"}
_REFUSED = {"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"}


@dataclass(frozen=True)
class Bucket:
    """One bucket of one region, with the credentials that the AWS tools would use."""

    name: str
    region: str
    endpoint: str | None = None
    """Of a service that speaks S3 and is not AWS."""
    pause: float = 2.0

    def read(self, name: str) -> bytes | None:
        try:
            with self._asked("s3:GetObject", name):
                body: bytes = self._client.get_object(Bucket=self.name, Key=name)["Body"].read()
                return body
        except _NotThere:
            return None

    def write(self, name: str, content: bytes) -> None:
        with self._asked("s3:PutObject", name):
            self._client.put_object(Bucket=self.name, Key=name, Body=content)

    def take(self, name: str, file: Path) -> None:
        with file.open("rb") as stream, self._asked("s3:PutObject", name):
            self._client.put_object(Bucket=self.name, Key=name, Body=stream)

    def versions(self, folder: str) -> Mapping[str, str]:
        found: dict[str, str] = {}
        with self._asked("s3:ListBucket", folder):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.name, Prefix=f"{folder}/"):
                for row in page.get("Contents", ()):
                    found[row["Key"].partition("/")[2]] = f"{row['ETag']} {row['LastModified'].isoformat()}"
        return found

    def remove(self, name: str) -> None:
        with self._asked("s3:DeleteObject", name):
            self._client.delete_object(Bucket=self.name, Key=name)

    @cached_property
    def _client(self) -> Any:
        config = Config(retries={"mode": "standard", "max_attempts": 6}, connect_timeout=10, read_timeout=60)
        session = Session()
        return session.create_client("s3", self.region, endpoint_url=self.endpoint, config=config)

    @contextmanager
    def _asked(self, permission: str, name: str) -> Iterator[None]:
        """Raises _NotThere for a name that is not there, Refused for everything else that goes wrong."""
        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in _NOT_THERE:
                raise _NotThere from None
            raise self._refused(str(error), permission if code in _REFUSED else None, name) from error
        except BotoCoreError as error:
            raise self._refused(str(error), None, name) from error

    def _refused(self, words: str, permission: str | None, name: str) -> Refused:
        remedy = "Mend the cause and run the same command again: it goes on where it stopped"
        if permission:
            remedy = f"Let these credentials do {permission} on the bucket, then run the same command again"
        return refuse("CW7080", Where(path=f"s3://{self.name}/{name}"), words, remedy)


def policy(name: str, endpoint: str) -> Mapping[str, Any]:
    """What nodes may do without credentials: read, and leave reports, through their VPC's endpoint only.

    S3 does not call a policy public that is bound to a fixed `aws:SourceVpce`: docs.aws.amazon.com,
    Blocking public access to your Amazon S3 storage (2026-11)."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            _through(endpoint, "Read", "s3:GetObject", f"arn:aws:s3:::{name}/*"),
            _through(endpoint, "Report", "s3:PutObject", f"arn:aws:s3:::{name}/reports/*"),
            {
                "Sid": "EncryptedInTransit",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }


def _through(endpoint: str, sid: str, action: str, resource: str) -> Mapping[str, Any]:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": "*",
        "Action": action,
        "Resource": resource,
        "Condition": {"StringEquals": {"aws:SourceVpce": endpoint}},
    }


class _NotThere(Exception):
    """No object has this name."""
